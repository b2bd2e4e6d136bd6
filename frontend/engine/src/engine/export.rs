//! Exports the file in other formats, and makes clean copies, which can be shared.

use flate2::Compression;
use flate2::write::GzEncoder;
use frontend::ask::{CopyOptions, ExportForm, ExportOrder};
use shared::analysis::Timeline;
use shared::draw::span::Span;
use shared::draw::svg::svg;
use shared::draw::theme::Theme;
use shared::export;
use shared::export::{PictureOptions, SanitizeOptions, SanitizeReport, Sanitized, Subject, TimelinePicture};
use shared::import::Importer;
use shared::pickle::Style;
use shared::trace::{Device, Trace};
use std::io::Write as _;

/// Name of the file in an export that must not reveal names.
const NAMELESS: &str = "Snapshot";

/// Returns an export made from a clean copy, so that it cannot contain more than the copy does.
pub(super) fn clean_export(order: &ExportOrder, trace: &Trace, capacity_bytes: Option<u64>) -> Option<Vec<u8>> {
    if order.form == ExportForm::Pickle {
        return Some(copy(trace, &CopyOptions::default(), |_| ()));
    }
    let mut importer = Importer::new();
    let sanitized = sanitized(trace, &CopyOptions::default());
    sanitized.pickle(Style::Python, |piece| importer.push(piece).expect("an export can be read"), |_| ());
    let clean = importer.finish().expect("an export can be read");
    let timelines: Vec<_> = devices_of(&clean).map(|device| Timeline::new(&clean, device)).collect();
    export(order, (NAMELESS, capacity_bytes), &clean, &timelines.iter().collect::<Vec<_>>())
}

/// Iterates over the devices in the order of the page, in which host memory is last.
fn devices_of(trace: &Trace) -> impl Iterator<Item = &Device> {
    trace.devices.iter().chain(&trace.host)
}

/// Returns an export with all information; `None` if the device or table does not exist.
pub(super) fn export(
    order: &ExportOrder,
    (file, capacity_bytes): (&str, Option<u64>),
    trace: &Trace,
    timelines: &[&Timeline],
) -> Option<Vec<u8>> {
    let all: Vec<_> = devices_of(trace).zip(timelines.iter().copied()).collect();
    let shown = *all.get(order.device as usize)?;
    let subject = Subject { file, trace, devices: &[shown], moment: order.moment, capacity_bytes };
    let every = Subject { devices: &all[..trace.devices.len()], moment: None, ..subject };
    let mut bytes = Vec::new();
    let mut sink = |piece: &[u8]| bytes.extend_from_slice(piece);
    match order.form {
        ExportForm::Picture => sink(picture(order, file, trace, shown).as_bytes()),
        ExportForm::Table(table, format) => export::table(&subject, table, format, sink),
        ExportForm::Speedscope => export::speedscope(&subject, sink),
        ExportForm::Perfetto => export::perfetto(&every, sink),
        ExportForm::Report => sink(export::report(&every).as_bytes()),
        ExportForm::Pickle => sink(&compressed(|gzip| export::pickle(trace, Style::Python, gzip))),
    }
    Some(bytes)
}

fn picture(order: &ExportOrder, file: &str, trace: &Trace, (device, timeline): (&Device, &Timeline)) -> String {
    let of = if device.index < 0 { "pinned host memory".to_owned() } else { format!("GPU {}", device.index) };
    let options = PictureOptions {
        title: format!("{file} · {of}"),
        axis: order.axis,
        x: order.range.map(|(start, end)| Span::new(start, end)),
        ..PictureOptions::default()
    };
    let theme = if order.is_dark { Theme::dark() } else { Theme::light() };
    svg(&options.title, &TimelinePicture::new(trace, device, timeline, &options).sketch(&theme))
}

/// Takes 1/2 of the time of gzip's usual level, for 1/10 more bytes.
const LEVEL: Compression = Compression::new(4);

/// Returns a summary of what a copy would leave out.
pub(super) fn preview(trace: &Trace, options: &CopyOptions) -> SanitizeReport {
    sanitized(trace, options).report().clone()
}

/// Returns the copy, compressed; `progress` receives the completed fraction from time to time.
pub(super) fn copy(trace: &Trace, options: &CopyOptions, mut progress: impl FnMut(f64)) -> Vec<u8> {
    let sanitized = sanitized(trace, options);
    let events: usize = devices_of(trace).map(|device| device.events.len()).sum();
    compressed(|sink| sanitized.pickle(Style::Python, sink, |written| progress(written as f64 / events as f64)))
}

/// Compresses with gzip what `write` passes on piece by piece.
pub(super) fn compressed(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), LEVEL);
    write(&mut |piece| gzip.write_all(piece).expect("memory takes all bytes"));
    gzip.finish().expect("memory takes all bytes")
}

/// Cleans a trace; packages are dropped by name, so that those the page did not know of remain.
fn sanitized<'a>(trace: &'a Trace, options: &CopyOptions) -> Sanitized<'a> {
    let CopyOptions { cut_paths, remove_names, names, dropped_packages, drop_metadata, drop_annotations } =
        options.clone();
    let mut sanitize =
        SanitizeOptions { cut_paths, remove_names, names, packages: None, drop_metadata, drop_annotations };
    if !dropped_packages.is_empty() {
        let all = Sanitized::new(trace, &sanitize).report().packages.clone();
        let kept = all.into_iter().map(|package| package.name).filter(|name| !dropped_packages.contains(name));
        sanitize.packages = Some(kept.collect());
    }
    Sanitized::new(trace, &sanitize)
}
