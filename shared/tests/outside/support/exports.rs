//! Exports a trace in every form: snapshots must be read as the same trace, other forms must be well formed.

#[path = "equal.rs"]
mod equal;

use equal::difference;
use serde::de::IgnoredAny;
use shared::analysis::{Axis, Timeline};
use shared::draw::svg::{svg, svg_for_both};
use shared::draw::theme::Theme;
use shared::export::{
    MomentOptions, PictureOptions, Subject, Table, TableFormat, TimelinePicture, flame_picture, perfetto, pickle,
    report, segments_picture, speedscope, table,
};
use shared::import::import;
use shared::pickle::Style;
use shared::trace::Trace;

/// Name that has to be escaped in every form.
const FILE: &str = "=a,\"b\" <c>&'d'\n\u{1b}e.pickle";

/// HTML elements without an end tag.
const VOID: [&str; 3] = ["!doctype", "meta", "br"];

/// Exports a trace in every form.
///
/// # Panics
/// Panics if an export panics, differs from the trace or is malformed.
pub(crate) fn export(trace: &Trace) {
    for style in [Style::Python, Style::Python5, Style::Torch] {
        let bytes = collected(|sink| pickle(trace, style, sink));
        let again = import(&bytes).expect("an export is a snapshot");
        assert_eq!(difference(trace, &again), None, "in style {style:?}");
    }
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    for moment in [None, Some(0), Some(u32::MAX)] {
        let subject = Subject { file: FILE, trace, devices: &devices, moment, capacity_bytes: None };
        for of in Table::ALL {
            is_csv(&collected(|sink| table(&subject, of, TableFormat::Csv, sink)), of.columns().len());
            is_json(&collected(|sink| table(&subject, of, TableFormat::Json, sink)));
        }
        is_json(&collected(|sink| perfetto(&subject, sink)));
        is_json(&collected(|sink| speedscope(&subject, sink)));
        is_markup(&report(&subject));
        pictures(&subject);
    }
}

fn pictures(subject: &Subject<'_>) {
    let (light, dark) = (Theme::light(), Theme::dark());
    for &(device, timeline) in subject.devices {
        for axis in [Axis::Events, Axis::Time] {
            let options = PictureOptions { title: FILE.to_owned(), axis, ..PictureOptions::default() };
            let picture = TimelinePicture::new(subject.trace, device, timeline, &options);
            is_markup(&svg_for_both(FILE, &picture.sketch(&light), &picture.sketch(&dark)));
        }
        let options = MomentOptions { title: FILE.to_owned(), moment: subject.moment, ..MomentOptions::default() };
        is_markup(&svg(FILE, &flame_picture(subject.trace, (device, timeline), &options, &light)));
        is_markup(&svg(FILE, &segments_picture(subject.trace, (device, timeline), &options, &dark)));
    }
}

fn collected(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut |piece: &[u8]| bytes.extend_from_slice(piece));
    bytes
}

fn is_json(bytes: &[u8]) {
    let read = serde_json::from_slice::<IgnoredAny>(bytes);
    assert!(read.is_ok(), "{read:?}: {}", bytes.escape_ascii());
}

/// Checks RFC 4180: each line has as many fields as there are columns, and quotes enclose whole fields only.
fn is_csv(bytes: &[u8], columns: usize) {
    let text = str::from_utf8(bytes).expect("a table is text");
    let (mut fields, mut rest) = (1, text);
    while !rest.is_empty() {
        let field = match rest.strip_prefix('"') {
            Some(quoted) => 1 + quoted_length(quoted),
            None => rest.find([',', '\r', '\n', '"']).expect("a field ends"),
        };
        rest = &rest[field..];
        if let Some(next) = rest.strip_prefix(',') {
            (fields, rest) = (fields + 1, next);
        } else {
            assert_eq!(fields, columns, "fields of a line before {rest:?}");
            (fields, rest) = (1, rest.strip_prefix("\r\n").expect("a line ends"));
        }
    }
}

/// Returns the length of a field up to and including its closing quote.
fn quoted_length(text: &str) -> usize {
    let mut at = 0;
    loop {
        at += text[at..].find('"').expect("a quote ends") + 1;
        match text[at..].starts_with('"') {
            true => at += 1,
            false => return at,
        }
    }
}

/// Checks that elements are nested, entities have names, and all characters are allowed in XML.
fn is_markup(text: &str) {
    let is_letter = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    assert!(text.chars().all(is_letter), "a letter that XML has no form for");
    let mut open = Vec::new();
    let mut parts = text.split('<');
    is_prose(parts.next().unwrap_or_default());
    for part in parts {
        let (tag, prose) = part.split_once('>').expect("a tag ends");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes of <{tag}>");
        let name = tag.split([' ', '\n', '/']).find(|name| !name.is_empty()).expect("a tag has a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "the end of an element");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
        is_prose(if open.last() == Some(&"style") { "" } else { prose });
    }
    assert!(open.is_empty(), "{open:?} don't end");
}

fn is_prose(text: &str) {
    for part in text.split('&').skip(1) {
        let name = part.split(';').next().unwrap_or_default();
        assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "an entity in {text:?}");
    }
}
