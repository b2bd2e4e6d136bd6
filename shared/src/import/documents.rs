//! Deserializes the small parts of a snapshot with serde.

use crate::base::StringTable;
use crate::trace::{Annotation, Setting, Settings, Stage};
use serde::Deserialize;
use serde_pickle::{HashableValue, Value};

/// Pickled form of an annotation.
#[derive(Deserialize)]
struct RawAnnotation {
    stage: String,
    name: String,
    #[serde(default)]
    device: i64,
    #[serde(default)]
    time_us: i64,
}

/// Reads an annotation; returns `None` if the document is none.
pub(super) fn annotation(document: Value, strings: &mut StringTable) -> Option<Annotation> {
    let RawAnnotation { stage, name, device, time_us } = serde_pickle::from_value(document).ok()?;
    let stage = match stage.as_str() {
        "START" => Stage::Start,
        "END" => Stage::End,
        _ => return None,
    };
    Some(Annotation { stage, name: strings.intern(&name), device, time_us })
}

/// Reads the allocator's settings; also returns the number of settings of an unknown type.
pub(super) fn settings(document: Value) -> (Settings, u64) {
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
