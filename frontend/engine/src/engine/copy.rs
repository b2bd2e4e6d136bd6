//! Makes clean copies of a file, which can be shared.

use flate2::Compression;
use flate2::write::GzEncoder;
use frontend::ask::{CopyOptions, CopyPreview, PackageRow, TextChange, TextGroup};
use shared::export::{Change, Remaining, SanitizeOptions, Sanitized};
use shared::pickle::Style;
use shared::trace::{Device, Trace};
use std::io::Write as _;

/// Takes 1/2 of the time of gzip's usual level, for 1/10 more bytes.
const LEVEL: Compression = Compression::new(4);

/// Returns a summary of what a copy would leave out.
pub(super) fn preview(trace: &Trace, options: &CopyOptions) -> CopyPreview {
    let sanitized = Sanitized::new(trace, &sanitize_options(trace, options));
    let report = sanitized.report();
    CopyPreview {
        paths: change(&report.paths),
        texts: change(&report.texts),
        names: report.names.clone(),
        packages: report
            .packages
            .iter()
            .map(|package| PackageRow { name: package.name.clone(), frames: package.frames })
            .collect(),
        metadata: change(&report.metadata),
        annotations: report.annotations,
        unknown_keys: report.unknown_keys,
        remaining: report.remaining.chunk_by(|a, b| a.kind == b.kind).map(group).collect(),
    }
}

/// Returns the copy, compressed; `progress` receives the completed fraction from time to time.
pub(super) fn copy(trace: &Trace, options: &CopyOptions, mut progress: impl FnMut(f64)) -> Vec<u8> {
    let sanitized = Sanitized::new(trace, &sanitize_options(trace, options));
    let events: usize = trace.devices.iter().chain(&trace.host).map(|device: &Device| device.events.len()).sum();
    compressed(|sink| sanitized.pickle(Style::Python, sink, |written| progress(written as f64 / events as f64)))
}

/// Compresses with gzip what `write` passes on piece by piece.
pub(super) fn compressed(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), LEVEL);
    write(&mut |piece| gzip.write_all(piece).expect("memory takes all bytes"));
    gzip.finish().expect("memory takes all bytes")
}

/// Converts the options; packages are dropped by name, so that those the page did not know of remain.
pub(super) fn sanitize_options(trace: &Trace, options: &CopyOptions) -> SanitizeOptions {
    let CopyOptions { cut_paths, remove_names, names, dropped_packages, drop_metadata, drop_annotations } = options;
    let mut sanitize = SanitizeOptions {
        cut_paths: *cut_paths,
        remove_names: *remove_names,
        names: names.clone(),
        packages: None,
        drop_metadata: *drop_metadata,
        drop_annotations: *drop_annotations,
    };
    if !dropped_packages.is_empty() {
        let all = Sanitized::new(trace, &sanitize).report().packages.clone();
        let kept = all.into_iter().map(|package| package.name).filter(|name| !dropped_packages.contains(name));
        sanitize.packages = Some(kept.collect());
    }
    sanitize
}

/// Converts texts of one kind; there must be at least one.
fn group(texts: &[Remaining]) -> TextGroup {
    TextGroup {
        kind: texts[0].kind.name().to_owned(),
        texts: texts.iter().map(|remaining| remaining.text.clone()).collect(),
    }
}

fn change(change: &Change) -> TextChange {
    TextChange { count: change.count, examples: change.examples.clone() }
}
