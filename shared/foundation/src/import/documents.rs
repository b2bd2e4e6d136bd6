//! Reads the small parts of a snapshot: annotations, and with serde the allocator's settings.

use crate::base::{Diagnostic, Severity, StringTable, format};
use crate::pickle::{Heap, Val, ValueMaker};
use crate::trace::{Annotation, Setting, Settings, Stage};
use serde_pickle::{HashableValue, Value};

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
pub(super) fn settings(
    heap: &Heap,
    val: Option<Val>,
    strings: &StringTable,
    bytes: u64,
    diagnostics: &mut Vec<Diagnostic>,
) -> Settings {
    let Some(val) = val else { return Settings::default() };
    let document = ValueMaker::new(heap, bytes).value(val, strings);
    let (settings, odd) = document.map_or((Settings::default(), 1), settings_of);
    note(diagnostics, odd, "unreadable-settings", "allocator setting");
    settings
}

fn note(diagnostics: &mut Vec<Diagnostic>, count: u64, code: &'static str, noun: &str) {
    if count > 0 {
        let message = format!("Skipped {} that could not be read.", format::counted(count, noun));
        diagnostics.push(Diagnostic::new(Severity::Warning, code, count, message));
    }
}

/// Returns the settings; also returns the number of settings of an unknown type.
fn settings_of(document: Value) -> (Settings, u64) {
    let Value::Dict(document) = document else { return (Settings::default(), 1) };
    let mut odd = 0;
    let mut entries = Vec::new();
    for (key, value) in document {
        match (key, setting(value)) {
            (HashableValue::String(name), Some(value)) => entries.push((name, value)),
            _ => odd += 1,
        }
    }
    (Settings { entries }, odd)
}

fn setting(value: Value) -> Option<Setting> {
    Some(match value {
        Value::Bool(value) => Setting::Bool(value),
        Value::I64(value) => Setting::Int(value),
        Value::F64(value) => Setting::Float(value),
        Value::String(value) => Setting::Text(value),
        Value::Dict(_) => Setting::table(serde_pickle::from_value(value).ok()?),
        _ => return None,
    })
}
