//! Reads the small parts of a snapshot: annotations, and the allocator's settings.

use crate::base::{Diagnostic, Severity, StringTable, format};
use crate::pickle::{Heap, Kind, Val};
use crate::trace::{Annotation, Setting, Settings, Stage};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Memory of a setting without its texts, in bytes.
const ENTRY_BYTES: u64 = 128;

/// Reads annotations, and notes how many could not be read.
///
/// No more keys than `bytes` are visited: other keys than those of annotations are visited too, and one dictionary may
/// be written once and be in the list any number of times.
pub(super) fn annotations(
    heap: &Heap,
    val: Option<Val>,
    strings: &StringTable,
    bytes: u64,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Annotation> {
    let items = val.and_then(|val| heap.items(val)).unwrap_or_default();
    let mut keys_left = bytes;
    let mut annotations = Vec::with_capacity(items.len());
    annotations.extend(items.iter().filter_map(|&item| annotation(heap, item, strings, &mut keys_left)));
    let odd = (items.len() - annotations.len()) as u64;
    note(diagnostics, odd, "unreadable-annotations", "annotation");
    annotations
}

fn annotation(heap: &Heap, val: Val, strings: &StringTable, keys_left: &mut u64) -> Option<Annotation> {
    let entries = heap.entries(val)?;
    *keys_left = keys_left.checked_sub(entries.len() as u64 / 2)?;
    let (mut stage, mut name, mut device, mut time_us) = (None, None, 0, 0);
    for pair in entries.chunks_exact(2) {
        let value = pair[1];
        match pair[0].as_str().map_or("", |key| strings.whole(key)) {
            "stage" => stage = value.as_str(),
            "name" => name = value.as_str(),
            "device" => device = heap.as_i64(value)?,
            "time_us" => time_us = heap.as_i64(value)?,
            _ => {}
        }
    }
    let stage = match strings.whole(stage?) {
        "START" => Stage::Start,
        "END" => Stage::End,
        _ => return None,
    };
    Some(Annotation { stage, name: name?, device, time_us })
}

/// Reads the allocator's settings, and notes how many are of an unknown type.
///
/// A text may be written once and be in the settings any number of times, so that these take at most 64 bytes per byte
/// of the file plus 1 MiB.
pub(super) fn settings(
    heap: &Heap,
    val: Option<Val>,
    strings: &StringTable,
    bytes: u64,
    diagnostics: &mut Vec<Diagnostic>,
) -> Settings {
    let Some(val) = val else { return Settings::default() };
    let (settings, odd) = readable_settings(heap, val, strings, bytes);
    note(diagnostics, odd, "unreadable-settings", "allocator setting");
    settings
}

fn note(diagnostics: &mut Vec<Diagnostic>, count: u64, code: &'static str, noun: &str) {
    if count > 0 {
        let message = format!("Skipped {} that could not be read.", format::counted(count, noun));
        diagnostics.push(Diagnostic::new(Severity::Warning, code, count, message));
    }
}

fn readable_settings(heap: &Heap, val: Val, strings: &StringTable, bytes: u64) -> (Settings, u64) {
    let left = Cell::new((1_u64 << 20).saturating_add(bytes.saturating_mul(64)));
    let text = |key: Val| {
        let text = strings.whole(key.as_str()?);
        left.set(left.get().saturating_sub(text.len() as u64 + ENTRY_BYTES));
        (left.get() > 0).then_some(text)
    };
    let Some(entries) = heap.entries(val) else { return (Settings::default(), 1) };
    let (mut settings, mut odd) = (BTreeMap::new(), 0);
    for pair in entries.chunks_exact(2) {
        match text(pair[0]) {
            Some(name) => drop(settings.insert(name, setting(heap, heap.current(pair[1]), text))),
            None => odd += 1,
        }
    }
    if left.get() == 0 {
        return (Settings::default(), 1);
    }
    odd += settings.values().filter(|setting| setting.is_none()).count() as u64;
    let entries = settings.into_iter().filter_map(|(name, setting)| Some((name.to_owned(), setting?))).collect();
    (Settings { entries }, odd)
}

fn setting<'a>(heap: &Heap, val: Val, text: impl Fn(Val) -> Option<&'a str>) -> Option<Setting> {
    Some(match val.kind() {
        Kind::Bool(value) => Setting::Bool(value),
        Kind::Int(value) => Setting::Int(i64::try_from(value).ok()?),
        Kind::Float(number) => Setting::Float(heap.float(number)),
        Kind::Str(_) => Setting::Text(text(val)?.to_owned()),
        _ => {
            let rows = heap.entries(val)?.chunks_exact(2).map(|pair| match pair[1].kind() {
                Kind::Int(value) => Some((text(pair[0])?.to_owned(), i64::try_from(value).ok()?)),
                _ => None,
            });
            Setting::table(rows.collect::<Option<_>>()?)
        }
    })
}
