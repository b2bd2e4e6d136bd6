//! Tells what a file is that is no snapshot, and what the user can do with it.
//!
//! These rules refuse no file: they are asked only after the importer failed to read one. They go by content, never by a
//! file's name, and inspect only its first 64 KiB. Logs are not among them, since the opener reads logs.

mod config;
mod head;
mod kinds;
mod outline;
mod text;

pub(super) use head::Head;
pub(super) use outline::{MOST_ITEMS, MOST_KEYS, MOST_LEVELS, Outline};

use super::error::{HINT_WRITE, ImportError};
use super::html::HINT_PAGE;
use crate::pickle;
use kinds::{Kind, Mark, by_mark};

/// Returns the error of a file without content.
pub(super) fn empty() -> ImportError {
    kinds::EMPTY.into()
}

/// Form in which a file was read until its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Pickle,
    Json,
    /// HTML page.
    Page,
    /// None of these.
    Unknown,
}

/// Returns the error that tells what an unreadable file is, or `error` if nothing better is known.
pub(super) fn explained(head: &Head, form: Form, error: ImportError) -> ImportError {
    if let Some(kind) = by_bytes(head.bytes()) {
        return kind.into();
    }
    match form {
        Form::Pickle => of_pickle(head, error),
        Form::Json => of_json(head, error),
        Form::Page => of_page(&String::from_utf8_lossy(head.bytes())),
        Form::Unknown => of_anything(head),
    }
}

/// Returns what the file is if its first bytes leave no doubt, for files whose container is damaged.
pub(super) fn known(head: &Head, form: Form) -> Option<ImportError> {
    let of_json = || if form == Form::Json { by_keys(&Outline::of_json(head.bytes())) } else { None };
    by_bytes(head.bytes()).or_else(of_json).map(ImportError::from)
}

/// Returns the error of a document that could be read and is no snapshot.
pub(super) fn other_data(outline: &Outline, is_json: bool) -> ImportError {
    let known = by_keys(outline).or_else(|| if is_json { config_of(outline) } else { None });
    known.map_or_else(|| unknown_data(outline, is_json), ImportError::from)
}

/// Returns the error of a file of torch.save up to torch 1.5, which begins with a pickle of a number and not of its content.
pub(super) fn old_checkpoint(head: &Head) -> Option<ImportError> {
    const MAGIC: [u8; 10] = 0x1950_a86a_20f9_469c_fc6c_u128.to_le_bytes().first_chunk().copied().unwrap();
    let bytes = head.bytes();
    has(&bytes[..bytes.len().min(32)], &MAGIC).then(|| of_torch_save(bytes).into())
}

fn unknown_data(outline: &Outline, is_json: bool) -> ImportError {
    let (code, written) = if is_json { ("other-json", "JSON") } else { ("other-pickle", "pickle") };
    let message = format!("This {written} is not a memory snapshot: it contains {}", outline.in_words());
    if outline.items().iter().any(|item| item.has(&["segments", "device_traces"])) {
        let hint = "Write one of them: pickle.dump(snapshots[0], open(\"snapshot.pickle\", \"wb\")).";
        return ImportError::new(code, message, hint);
    }
    ImportError::new(code, message, HINT_WRITE)
}

/// Explains a file that begins like a pickle.
///
/// Pickles of protocols 0 and 1 begin with a bracket, and so may a text.
fn of_pickle(head: &Head, error: ImportError) -> ImportError {
    if head.bytes().starts_with(b"\x80") {
        return error;
    }
    match head.text() {
        Some(text) if text.lines().next().is_some_and(|line| line.trim().contains(' ')) => of_text(&text),
        _ => error,
    }
}

fn of_json(head: &Head, error: ImportError) -> ImportError {
    let outline = Outline::of_json(head.bytes());
    if let Some(kind) = by_keys(&outline).or_else(|| config_of(&outline)) {
        return kind.into();
    }
    let Some(text) = head.text() else { return error };
    // `[model]` and `[rank0]: …` begin as JSON does.
    let is_json = match &outline {
        Outline::Table(keys) => !keys.is_empty(),
        outline => matches!(outline.items(), [Outline::Table(_) | Outline::List(..) | Outline::Text(_), ..]),
    };
    match text::kind(&text) {
        Some(kind) if !is_json || kind == kinds::LOG => kind.into(),
        _ if is_json => error,
        _ => kinds::TEXT.into(),
    }
}

/// Returns the error of a page without a snapshot.
fn of_page(page: &str) -> ImportError {
    let lower = page.to_ascii_lowercase();
    let has = |mark: &Mark| matches!(mark, Mark::Page(words) if words.iter().all(|word| lower.contains(word)));
    by_mark(has).map_or_else(|| unknown_page(page, &lower), ImportError::from)
}

fn unknown_page(page: &str, lower: &str) -> ImportError {
    const LONGEST: usize = 60;
    let title = title(page, lower).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = title.chars().take(LONGEST).collect();
    let message = match shown.as_str() {
        "" => "This page contains no memory snapshot".to_owned(),
        shown => format!("This page contains no memory snapshot; its title is “{shown}”"),
    };
    ImportError::new("page-without-a-snapshot", message, HINT_PAGE)
}

/// Returns the text between the title's tags; `lower` is the page in lower case, byte for byte.
fn title<'a>(page: &'a str, lower: &str) -> Option<&'a str> {
    let tag = lower.find("<title")?;
    let start = tag + lower[tag..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    Some(&page[start..end])
}

fn of_anything(head: &Head) -> ImportError {
    if let Some(error) = of_old_pickle(head.bytes()) {
        return error;
    }
    let holds = |mark: &Mark| matches!(mark, Mark::Holds(bytes) if has(head.bytes(), bytes));
    match head.text() {
        Some(text) => of_text(&text),
        None => by_mark(holds).map_or_else(|| unknown(head.bytes()), ImportError::from),
    }
}

fn of_text(text: &str) -> ImportError {
    text::kind(text).unwrap_or(kinds::TEXT).into()
}

fn unknown(bytes: &[u8]) -> ImportError {
    const SHOWN: usize = 4;
    let shown: Vec<String> = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
    let message = format!("The type of this file is unknown: its first bytes are {}", shown.join(" "));
    ImportError::new("unknown-file", message, HINT_WRITE)
}

/// Explains a pickle of protocol 0 that begins with the requested object: `cos\nsystem\n`.
fn of_old_pickle(bytes: &[u8]) -> Option<ImportError> {
    let mut lines = bytes.strip_prefix(b"c")?.splitn(3, |&byte| byte == b'\n');
    let (module, name, rest) = (lines.next()?, lines.next()?, lines.next()?);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let is_name = |name: &[u8]| !name.is_empty() && name.len() < 100 && name.iter().all(is_part);
    if !is_name(module) || !is_name(name) || rest.is_empty() {
        return None;
    }
    let target = format!("{}.{}", String::from_utf8_lossy(module), String::from_utf8_lossy(name));
    Some(pickle::Error { offset: 0, kind: pickle::ErrorKind::Refused { opcode: "GLOBAL", target } }.into())
}

/// Returns the kind of a file by its first bytes.
fn by_bytes(head: &[u8]) -> Option<&'static Kind> {
    let starts = |mark: &Mark| match mark {
        Mark::Starts(bytes) => head.starts_with(bytes),
        Mark::At(offset, bytes) => head.get(*offset..).is_some_and(|rest| rest.starts_with(bytes)),
        _ => false,
    };
    if is_safetensors(head) {
        return Some(kinds::CHECKPOINT);
    }
    by_mark(starts).map(|kind| if kind == kinds::ARCHIVE { of_archive(head) } else { kind })
}

/// Returns the kind of an archive; torch.save stores its pickle uncompressed and first, so that a snapshot is visible.
fn of_archive(head: &[u8]) -> &'static Kind {
    if has(&head[..head.len().min(256)], b"/data.pkl") { of_torch_save(head) } else { kinds::ARCHIVE }
}

fn of_torch_save(head: &[u8]) -> &'static Kind {
    if has(head, b"device_traces") || (has(head, b"segments") && has(head, b"total_size")) {
        kinds::TORCH_SAVE
    } else {
        kinds::CHECKPOINT
    }
}

/// Returns true for the length of a JSON header, followed by the header.
fn is_safetensors(head: &[u8]) -> bool {
    const MOST_BYTES: u64 = 100 << 20;
    let Some((len, rest)) = head.split_first_chunk() else { return false };
    (2..=MOST_BYTES).contains(&u64::from_le_bytes(*len))
        && rest.starts_with(b"{\"")
        && (has(rest, b"\"dtype\"") || has(rest, b"\"__metadata__\""))
}

/// Returns true if `bytes` contains `wanted`.
fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Returns the kind of a document by the keys of its outermost tables.
fn by_keys(outline: &Outline) -> Option<&'static Kind> {
    let inner = outline.items().iter().flat_map(|item| [Some(item), item.items().first()]).flatten();
    let tables: Vec<&Outline> = std::iter::once(outline).chain(inner).collect();
    if tables.contains(&&Outline::Part) {
        return Some(kinds::PART);
    }
    by_mark(|mark| matches!(mark, Mark::Keys(keys) if tables.iter().any(|table| table.has(keys))))
}

fn config_of(outline: &Outline) -> Option<&'static Kind> {
    let Outline::Table(keys) = outline else { return None };
    config::kind(keys.iter().map(String::as_str))
}

#[cfg(test)]
mod tests;
