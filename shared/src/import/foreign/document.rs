//! Identifies documents, in JSON or as a pickle, by their outermost keys.

use super::super::error::{HINT_WRITE, ImportError};
use super::config;
use super::outline::Outline;
use super::words::{self, Kind};

/// Returns the error of a document that could be read and is no snapshot.
pub(in super::super) fn other_data(outline: &Outline, is_json: bool) -> ImportError {
    let known = if is_json { json_kind(outline) } else { pickle_kind(outline) };
    known.map_or_else(|| unknown(outline, is_json), ImportError::from)
}

fn unknown(outline: &Outline, is_json: bool) -> ImportError {
    let (code, written) = if is_json { ("other-json", "JSON") } else { ("other-pickle", "pickle") };
    let message = format!("This {written} is not a memory snapshot: it contains {}", outline.in_words());
    ImportError::new(code, message, HINT_WRITE)
}

/// Returns the kind of a JSON document, as far as its outline shows it.
pub(super) fn json_kind(outline: &Outline) -> Option<&'static Kind> {
    match outline {
        Outline::Table(_) => of_table(outline),
        Outline::List(..) => of_list(outline),
        Outline::Part => Some(&words::PART),
        _ => None,
    }
}

/// Magic number of torch.save up to torch 1.5, which begins its file with a pickle of this number.
const TORCH_MAGIC: f64 = 0x1950_a86a_20f9_469c_fc6c_u128 as f64;

/// Returns the kind of a pickle; only those that PyTorch writes are known.
fn pickle_kind(outline: &Outline) -> Option<&'static Kind> {
    match outline {
        Outline::Table(_) if is_of_memory_stats(outline) => Some(&words::MEMORY_STATS),
        Outline::List(items, _) if !items.is_empty() && is_part(outline) => Some(&words::PART),
        Outline::Part => Some(&words::PART),
        Outline::Number(number) if *number == TORCH_MAGIC => Some(&words::CHECKPOINT),
        _ => None,
    }
}

/// Kinds of tables by keys, all of which must be present.
const TABLES: &[(&[&str], &Kind)] = &[
    (&["schemaVersion", "traceEvents"], &words::TORCH_TRACE),
    (&["schemaVersion", "deviceProperties"], &words::TORCH_TRACE),
    (&["schemaVersion", "distributedInfo"], &words::TORCH_TRACE),
    (&["traceEvents"], &words::CHROME_TRACE),
    (&["cells", "nbformat"], &words::NOTEBOOK),
    (&["shared", "profiles"], &words::SPEEDSCOPE),
    (&["meta", "libs", "threads"], &words::FIREFOX_PROFILE),
    (&["weight_map"], &words::WEIGHT_INDEX),
    (&["log_history", "global_step"], &words::TRAINER_STATE),
    (&["tokenizer_class"], &words::TOKENIZER),
    (&["added_tokens", "model"], &words::TOKENIZER),
    (&["timesteps", "offsets"], &words::ALLOCATION_TABLE),
    (&["allocations_over_time", "elements"], &words::ALLOCATION_TABLE),
    (&["allocations", "elements"], &words::ALLOCATION_TABLE),
    (&["unique_stacks", "devices"], &words::OWN_REPORT),
    (&["findings", "growth"], &words::OWN_REPORT),
    (&["findings", "runs"], &words::OWN_REPORT),
    (&["ranks", "outliers"], &words::OWN_REPORT),
    (&["message", "documentation_url"], &words::DOWNLOAD_ERROR),
    // Tables from a snapshot without its top level.
    (&["action", "addr"], &words::PART),
    (&["address", "total_size"], &words::PART),
];

fn of_table(outline: &Outline) -> Option<&'static Kind> {
    let known = TABLES.iter().find(|(keys, _)| outline.has(keys)).map(|(_, kind)| *kind);
    known.or_else(|| is_of_memory_stats(outline).then_some(&words::MEMORY_STATS)).or_else(|| {
        let Outline::Table(keys) = outline else { return None };
        match keys.as_slice() {
            [only] if only == "error" => Some(&words::DOWNLOAD_ERROR),
            keys => config::kind(keys.iter().map(String::as_str)),
        }
    })
}

/// Returns true for counters of `torch.cuda.memory_stats`.
///
/// They are flat, as in `allocated_bytes.all.current`, or nested as from `memory_stats_as_nested_dict`.
fn is_of_memory_stats(outline: &Outline) -> bool {
    const NESTED: &[&str] = &["allocated_bytes", "active_bytes", "reserved_bytes", "num_alloc_retries", "num_ooms"];
    const FLAT: &[&str] = &["allocated_bytes.all.current", "allocated_bytes.all.peak", "active_bytes.all.current"];
    outline.count(NESTED) >= 3 || outline.count(FLAT) >= 1
}

fn of_list(outline: &Outline) -> Option<&'static Kind> {
    let first = outline.items().first()?;
    if is_part(outline) {
        Some(&words::PART)
    } else if first.has(&["timesteps", "offsets"]) {
        Some(&words::ALLOCATION_TABLE)
    } else if first.has(&["ph", "name"]) || first.has(&["ph", "ts"]) || first.has(&["ph", "pid"]) {
        Some(&words::CHROME_TRACE)
    } else if is_of_timeline(outline) {
        Some(&words::TIMELINE_DATA)
    } else {
        None
    }
}

/// Returns true for events, blocks or frames, or a list of them per device.
fn is_part(outline: &Outline) -> bool {
    let is_row = |item: &Outline| {
        *item == Outline::Part
            || item.has(&["action", "addr"])
            || item.has(&["size", "state"])
            || item.has(&["filename", "line", "name"])
    };
    let items = outline.items();
    items.iter().any(is_row) || items.iter().any(|item| item.items().first().is_some_and(is_row))
}

/// Returns true for the output of `export_memory_timeline`: rows of time, action, bytes and category, or times and
/// sizes.
///
/// Source: `torch/profiler/_memory_profiler.py`; there are four actions and eight categories.
fn is_of_timeline(outline: &Outline) -> bool {
    const MOST_ACTIONS: f64 = 4.0;
    const MOST_CATEGORIES: f64 = 16.0;
    let is_row = |item: &Outline| match item {
        Outline::List(row, 4) => match row.as_slice() {
            [Outline::Number(_), Outline::Number(action), Outline::Number(bytes), Outline::Number(category)] => {
                (0.0..MOST_ACTIONS).contains(action) && *bytes >= 0.0 && (0.0..MOST_CATEGORIES).contains(category)
            }
            _ => false,
        },
        _ => false,
    };
    let Outline::List(items, len) = outline else { return false };
    let (last, rows) = items.split_last().map_or((None, items.as_slice()), |(last, rows)| (Some(last), rows));
    // The last row may be truncated.
    if last.is_some() && rows.iter().all(is_row) && (!rows.is_empty() || items.iter().all(is_row)) {
        return true;
    }
    match (items.as_slice(), len) {
        ([Outline::List(times, count), Outline::List(sizes, _)], 2) => {
            *count > 0
                && times.iter().all(|time| matches!(time, Outline::Number(_)))
                && sizes.first().is_some_and(|row| matches!(row.items(), [Outline::Number(_), ..]))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, code: &str) {
        let error = other_data(&Outline::of_json(text.as_bytes()), true);
        assert_eq!(error.code, code, "{text}: {}", error.message);
    }

    #[test]
    fn tables_are_known_by_their_keys() {
        check(r#"{"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": ["#, "profiler-trace");
        check(r#"{"displayTimeUnit": "ms", "traceEvents": []}"#, "profiler-trace");
        check(r#"{"cells": [], "metadata": {}, "nbformat": 4}"#, "notebook");
        check(r#"{"$schema": "x", "shared": {"frames": []}, "profiles": []}"#, "other-profile");
        check(r#"{"metadata": {}, "weight_map": {}}"#, "checkpoint");
        check(r#"{"model_type": "llama", "hidden_size": 4096}"#, "training-config");
        check(r#"{"allocated_bytes.all.current": 1, "num_ooms": 0}"#, "memory-stats");
        check(r#"{"message": "Not Found", "documentation_url": "x"}"#, "download-error");
        check(r#"{"error": "Repository not found"}"#, "download-error");
        check(r#"{"name": "x", "version": "1.0", "scripts": {}}"#, "other-json");
    }

    #[test]
    fn lists_are_known_by_their_first_items() {
        check(r#"[{"ph": "X", "name": "a", "ts": 1}]"#, "profiler-trace");
        check(r#"[{"elem": 0, "timesteps": [0, 9], "offsets": [0, 0], "size": 1}]"#, "allocation-table");
        check(r#"[[{"action": "alloc", "addr": 1, "frames": []}]]"#, "part-of-a-snapshot");
        check(r#"[[], [{"action": "alloc", "addr": 1}]]"#, "part-of-a-snapshot");
        check("[[-1, 1, 37632, 0], [-1, 1, 602112, 2], [12, 3, 256", "memory-timeline");
        check("[[-1, 1, 37632, 0]]", "memory-timeline");
        check("[[0, 5, 9], [[0, 1, 2], [0, 3, 4], [0, 0, 0]]]", "memory-timeline");
        check("[1, 2, 3]", "other-json");
        check("[[0.5, 12.5, 100, 90]]", "other-json");
        check("[[1, 2]]", "other-json");
        check("[]", "other-json");
    }

    #[test]
    fn what_is_unknown_is_described() {
        let error = other_data(&Outline::of_json(br#"{"a": 1, "b": 2}"#), false);
        assert_eq!(
            error.message,
            "This pickle is not a memory snapshot: it contains a dictionary with the keys \"a\", \"b\""
        );
    }
}
