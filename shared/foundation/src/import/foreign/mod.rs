//! Tells what a file is that is no snapshot, and what the user can do with it.
//!
//! These rules refuse no file: they are asked only after the importer failed to read one. They go by content, never by a
//! file's name, and inspect only its first 64 KiB. Logs are not among them, since the opener reads logs.

mod kinds;

use super::build::SnapshotBuilder;
use super::error::{HINT_WRITE, ImportError};
use super::html::HINT_PAGE;
use super::keys::POOL;
use crate::base::{StringId, format, is_text};
use crate::pickle::{Heap, Kind as ValKind, Val};
use kinds::{Kind, Mark, by_mark};

/// Number of first bytes that are kept.
const HEAD_BYTES: usize = 64 << 10;
/// Number of keys of a document that are inspected.
const MOST_KEYS: usize = 256;
/// Number of lists around a document's first dictionary that are looked through.
const MOST_LEVELS: usize = 4;

/// Keys of our own configs; a test of the whole project compares them with the real ones.
const OUR_KEYS: &str = "accumulation allocator batch card checkpointing clip_grad_norm data device evaluation grad_scaler \
    keep_outputs lora loss memory_fraction model name offload_activations optimizer parallel precision sequence set_to_none \
    steps sweep";
/// Keys of Hugging Face's `TrainingArguments`, and of tools that use the same keys in their own configs.
const ARGUMENT_KEYS: &str = "per_device_train_batch_size gradient_accumulation_steps gradient_checkpointing num_train_epochs \
    output_dir lr_scheduler_type warmup_ratio warmup_steps max_grad_norm learning_rate weight_decay micro_batch_size bf16 fp16";

/// First bytes of a file or of the content of a container.
#[derive(Debug, Default)]
pub(super) struct Head(Vec<u8>);

impl Head {
    /// Keeps the bytes that still fit.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES - self.0.len();
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.len() == HEAD_BYTES
    }

    /// Decodes the bytes as text; returns `None` for binary data.
    ///
    /// Logs contain escape sequences and a stray byte now and then.
    fn text(&self) -> Option<String> {
        let is_odd = |c: &char| {
            let is_of_terminal = matches!(c, '\0' | '\t' | '\n' | '\r' | '\x07' | '\x08' | '\x0c' | '\x1b');
            *c == char::REPLACEMENT_CHARACTER || (c.is_control() && !is_of_terminal)
        };
        let text = String::from_utf8_lossy(self.0.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.0));
        let odd = text.chars().filter(is_odd).count();
        (!text.trim().is_empty() && odd <= 1 + text.len() / 200 && is_text(&self.0)).then(|| text.into_owned())
    }
}

/// Form in which a file was read until its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Pickle,
    Json,
    Page,
    Unknown,
}

pub(super) fn empty() -> ImportError {
    kinds::EMPTY.into()
}

/// Returns the error that tells what an unreadable file is, or `error` if nothing better is known.
pub(super) fn explained(head: &Head, form: Form, error: ImportError) -> ImportError {
    if let Some(known) = known(head, form) {
        return known;
    }
    let text = head.text();
    match (form, text.as_deref()) {
        (Form::Page, _) => {
            ImportError::new("page-without-a-snapshot", "This page contains no memory snapshot", HINT_PAGE)
        }
        // Pickles of protocols 0 and 1 begin with a bracket, as a text may, and so does `[rank0]: …`.
        (Form::Pickle, Some(text)) if text.lines().next().is_some_and(|line| line.trim().contains(' ')) => {
            kind_of_text(text).into()
        }
        (Form::Json, Some(text)) if !is_json(text) => kind_of_text(text).into(),
        (Form::Pickle | Form::Json, _) => error,
        (Form::Unknown, Some(text)) => kind_of_text(text).into(),
        (Form::Unknown, None) => unknown(&head.0),
    }
}

/// Returns what the file is if its first bytes leave no doubt, even if its container is damaged.
pub(super) fn known(head: &Head, form: Form) -> Option<ImportError> {
    let of_page = || {
        let lower = String::from_utf8_lossy(&head.0).to_ascii_lowercase();
        by_mark(|mark| matches!(mark, Mark::Page(words) if words.iter().all(|word| lower.contains(word))))
    };
    let of_form = || match form {
        Form::Json => by_keys(&keys_of_json(&head.0)),
        Form::Page => of_page(),
        Form::Pickle | Form::Unknown => None,
    };
    by_bytes(&head.0).or_else(of_form).map(ImportError::from)
}

/// Returns the error of a file of torch.save up to torch 1.5, which begins with a pickle of a number and not of its content.
pub(super) fn old_checkpoint(head: &Head) -> Option<ImportError> {
    const MAGIC: [u8; 10] = 0x1950_a86a_20f9_469c_fc6c_u128.to_le_bytes().first_chunk().copied().unwrap();
    has(&head.0[..head.0.len().min(32)], &MAGIC).then(|| of_torch_save(&head.0).into())
}

/// Returns the error of a document that could be read and is no snapshot.
pub(super) fn other_data(builder: &SnapshotBuilder, heap: &Heap, root: Val, is_json: bool) -> ImportError {
    let (code, written) = if is_json { ("other-json", "JSON") } else { ("other-pickle", "pickle") };
    let (mut val, mut level) = (heap.current(root), 0);
    while let Some([first, ..]) = heap.items(val).filter(|_| level < MOST_LEVELS) {
        (val, level) = (heap.current(*first), level + 1);
    }
    let name = |key: &Val| beginning(builder.strings.whole(key.as_str().unwrap_or(StringId::EMPTY)), 80);
    let entries = heap.entries(val).unwrap_or_default();
    let keys: Vec<&str> = entries.chunks_exact(2).take(MOST_KEYS).map(|pair| name(&pair[0])).collect();
    let known = match val.kind() {
        ValKind::Handle(form, _) if form != POOL => Some(kinds::PART),
        _ if level == 2 && heap.as_f64(val).is_some() => Some(kinds::TIMELINE),
        _ => by_keys(&keys),
    };
    if let Some(kind) = known {
        return kind.into();
    }
    let all = heap.items(heap.current(root)).map_or(0, <[Val]>::len) as u64;
    let content = match (level, keys.as_slice()) {
        (1.., ["segments", "device_traces", ..] | ["device_traces", "segments", ..]) => {
            let message = format!("This {written} is a list of {} memory snapshots", format::count(all));
            let hint = "Write one of them: pickle.dump(snapshots[0], open(\"snapshot.pickle\", \"wb\")).";
            return ImportError::new(code, message, hint);
        }
        (1.., _) => format!("a list of {} {}", format::count(all), if all == 1 { "value" } else { "values" }),
        (0, []) if heap.entries(val).is_some() => "an empty dictionary".to_owned(),
        (0, []) => "a single value".to_owned(),
        (0, keys) => format!("a dictionary with {}", in_words(keys)),
    };
    ImportError::new(code, format!("This {written} is not a memory snapshot: it contains {content}"), HINT_WRITE)
}

fn in_words(keys: &[&str]) -> String {
    const SHOWN: usize = 5;
    let mut words: Vec<String> = keys.iter().take(SHOWN).map(|key| format!("\"{}\"", beginning(key, 32))).collect();
    if keys.len() > SHOWN {
        words.push(format!("{} more", keys.len() - SHOWN));
    }
    format!("the {} {}", if keys.len() == 1 { "key" } else { "keys" }, words.join(", "))
}

fn beginning(text: &str, most_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(most_bytes)]
}

fn unknown(bytes: &[u8]) -> ImportError {
    const SHOWN: usize = 4;
    let shown: Vec<String> = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
    let message = format!("The type of this file is unknown: its first bytes are {}", shown.join(" "));
    ImportError::new("unknown-file", message, HINT_WRITE)
}

fn by_bytes(head: &[u8]) -> Option<&'static Kind> {
    let starts = |mark: &Mark| match mark {
        Mark::Starts(bytes) => head.starts_with(bytes),
        Mark::At(offset, bytes) => head.get(*offset..).is_some_and(|rest| rest.starts_with(bytes)),
        _ => false,
    };
    // Safetensors: the length of a header, and the header.
    if head.get(8..).is_some_and(|rest| rest.starts_with(b"{\"") && has(rest, b"\"dtype\"")) {
        return Some(kinds::CHECKPOINT);
    }
    // torch.save stores its pickle uncompressed and first in an archive, so that a snapshot is visible.
    let is_torch_save = || has(&head[..head.len().min(256)], b"/data.pkl");
    by_mark(starts).map(|kind| if kind == kinds::ARCHIVE && is_torch_save() { of_torch_save(head) } else { kind })
}

fn of_torch_save(head: &[u8]) -> &'static Kind {
    let is_snapshot = has(head, b"device_traces") || (has(head, b"segments") && has(head, b"total_size"));
    if is_snapshot { kinds::TORCH_SAVE } else { kinds::CHECKPOINT }
}

fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

fn by_keys(keys: &[impl AsRef<str>]) -> Option<&'static Kind> {
    let keys: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
    by_mark(|mark| matches!(mark, Mark::Keys(wanted) if wanted.iter().all(|key| keys.contains(key))))
        .or_else(|| config(&keys))
}

/// Returns the kind of a table with these keys, if it belongs to a training.
///
/// Two known keys may occur in any file, so that a config of our own must have a model or few other keys.
fn config(keys: &[&str]) -> Option<&'static Kind> {
    let count = |known: &str| keys.iter().filter(|key| known.split(' ').any(|one| one == **key)).count();
    let (ours, has) = (count(OUR_KEYS), |name: &str| keys.contains(&name));
    let is_ours = (has("model") && (ours >= 2 || keys.len() == 1)) || (ours >= 2 && ours * 2 >= keys.len());
    match () {
        () if has("model_type") || has("architectures") => Some(kinds::CONFIG),
        () if count(ARGUMENT_KEYS) >= 2 => Some(kinds::TRAINING_ARGUMENTS),
        () => is_ours.then_some(kinds::CONFIG),
    }
}

/// Returns true for a text that begins like a document rather than like a line with brackets, or with a line of JSON.
fn is_json(text: &str) -> bool {
    let mut start = text.chars().filter(|c| !c.is_whitespace());
    let is_record = |line: &str| line.starts_with('{') && line.trim_end().ends_with('}');
    matches!((start.next(), start.next()), (Some('{'), Some('"' | '}')) | (Some('['), Some('{' | '[' | '"' | '/')))
        && text.lines().take(2).filter(|line| is_record(line)).count() < 2
}

/// Returns the keys of the first dictionary of a JSON text, which may be truncated or have comments.
fn keys_of_json(text: &[u8]) -> Vec<String> {
    let (mut keys, mut level, mut first, mut at) = (Vec::new(), 0_usize, None, 0);
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => {
                level += 1;
                first = first.or((byte == b'{').then_some(level));
            }
            b'}' if first == Some(level) => break,
            b'}' | b']' => level = level.saturating_sub(1),
            b'/' => at += text[at..].iter().position(|byte| *byte == b'\n').unwrap_or(0),
            b'"' => {
                let start = at;
                while text.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                let key = text.get(start..at).filter(|_| first == Some(level) && keys.len() < MOST_KEYS);
                at += 1;
                let is_key = text.get(at..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"));
                keys.extend(key.filter(|_| is_key).map(|key| String::from_utf8_lossy(key).into_owned()));
            }
            _ => {}
        }
    }
    keys
}

/// Tells scripts, training configs and what other tools print from other texts.
fn kind_of_text(text: &str) -> &'static Kind {
    let text = text.trim_start();
    let has_line = |words: &[&str]| text.lines().any(|line| words.iter().all(|word| line.contains(word)));
    let is_code = |line: &&str| {
        let is_import = line.starts_with("import ") || (line.starts_with("from ") && line.contains(" import "));
        is_import || line.starts_with("def ") || line.starts_with("class ") || line.starts_with("if __name__ ==")
    };
    // A report may have a script in a block.
    let is_script = || text.lines().filter(is_code).count() >= 2 && !text.contains("\n```");
    by_mark(|mark| matches!(mark, Mark::Line(words) if has_line(words)))
        .or_else(|| is_script().then_some(kinds::SCRIPT))
        .or_else(|| config(&keys_of_text(text)?))
        .unwrap_or(kinds::TEXT)
}

/// Returns the outermost keys of a TOML or YAML text, or `None` for other texts.
fn keys_of_text(text: &str) -> Option<Vec<&str>> {
    const MOST_LINES: usize = 400;
    let is_name = |name: &&str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_part)
    };
    let (mut keys, mut other) = (Vec::new(), 0);
    for line in text.lines().take(MOST_LINES) {
        // Indented lines and brackets continue the line before.
        if line.trim().is_empty() || line.starts_with([' ', '\t', ']', '}', '-', '#', '.']) {
            continue;
        }
        let name = line.trim_start_matches('[').split_once(['=', ':', ']', '.']).map(|(name, _)| name.trim());
        match name.map(|name| name.trim_matches(['"', '\''])).filter(is_name) {
            Some(name) => keys.push(name),
            None => other += 1,
        }
    }
    (other * 4 <= keys.len()).then_some(keys)
}

#[cfg(test)]
mod tests;
