//! Tells what a file is that is no snapshot, and what the user can do with it.
//!
//! These rules refuse no file: they are asked only after the importer failed to read one.
//! They go by content, never by a file's name, and inspect only its first 64 KiB. The one exception is the words of an
//! out-of-memory error, which are searched for in later bytes, too.

mod binary;
mod config;
mod document;
mod head;
mod outline;
mod page;
mod text;
mod words;

pub(super) use document::other_data;
pub(super) use head::Head;
pub(super) use outline::{MOST_ITEMS, MOST_KEYS, MOST_LEVELS, Outline};

use super::error::{HINT_WRITE, ImportError};
use crate::pickle;

/// Returns the error of a file without content.
pub(super) fn empty() -> ImportError {
    (&words::EMPTY).into()
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
///
/// `mentions_oom` says whether the file contains the words of an out-of-memory error.
pub(super) fn explained(head: &Head, form: Form, mentions_oom: bool, error: ImportError) -> ImportError {
    if let Some(kind) = binary::kind(head.bytes()) {
        return kind.into();
    }
    match form {
        Form::Pickle => of_pickle(head, mentions_oom, error),
        Form::Json => of_json(head, mentions_oom, error),
        Form::Page => page::explained(&String::from_utf8_lossy(head.bytes())),
        Form::Unknown => of_anything(head, mentions_oom),
    }
}

/// Returns what the file is if its first bytes leave no doubt, for files whose container is damaged.
pub(super) fn known(head: &Head, form: Form) -> Option<ImportError> {
    let kind = binary::kind(head.bytes());
    let of_json = || document::json_kind(&Outline::of_json(head.bytes()));
    kind.or_else(|| if form == Form::Json { of_json() } else { None }).map(ImportError::from)
}

/// Returns true if JSON with this beginning is a trace of torch.profiler and can't become a snapshot.
///
/// The rest is not read then, because such traces may have gigabytes.
pub(super) fn is_trace(head: &Head) -> bool {
    document::json_kind(&Outline::of_json(head.bytes())).is_some_and(|kind| kind.code == words::TORCH_TRACE.code)
}

/// Returns true if the bytes contain the words of an out-of-memory error.
pub(super) fn mentions_oom(bytes: &[u8]) -> bool {
    text::OOM_WORDS.iter().any(|words| binary::has(bytes, words.as_bytes()))
}

/// Number of bytes to keep from a chunk, because the words of the error may continue in the next one.
pub(super) const OOM_OVERLAP: usize = 24;

/// Explains a file that begins like a pickle.
///
/// Pickles of protocols 0 and 1 begin with a bracket, and so may a text.
fn of_pickle(head: &Head, mentions_oom: bool, error: ImportError) -> ImportError {
    if head.bytes().starts_with(b"\x80") {
        return error;
    }
    match head.text() {
        Some(text) if text.lines().next().is_some_and(|line| line.trim().contains(' ')) => of_text(&text, mentions_oom),
        _ => error,
    }
}

fn of_json(head: &Head, mentions_oom: bool, error: ImportError) -> ImportError {
    let outline = Outline::of_json(head.bytes());
    if let Some(kind) = document::json_kind(&outline) {
        return kind.into();
    }
    let Some(text) = head.text() else { return error };
    // `[model]` and `[rank0]: …` begin as JSON does.
    let is_json = match &outline {
        Outline::Table(keys) => !keys.is_empty(),
        outline => matches!(outline.items(), [Outline::Table(_) | Outline::List(..) | Outline::Text(_), ..]),
    };
    match text::kind(&text, mentions_oom) {
        Some(kind) if !is_json || *kind == words::OOM_LOG || *kind == words::LOG => kind.into(),
        _ if is_json => error,
        _ => (&words::TEXT).into(),
    }
}

fn of_anything(head: &Head, mentions_oom: bool) -> ImportError {
    if let Some(error) = of_old_pickle(head.bytes()) {
        return error;
    }
    match head.text() {
        Some(text) => of_text(&text, mentions_oom),
        None => binary::by_names(head.bytes()).map_or_else(|| unknown(head.bytes()), ImportError::from),
    }
}

fn of_text(text: &str, mentions_oom: bool) -> ImportError {
    text::kind(text, mentions_oom).unwrap_or(&words::TEXT).into()
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

#[cfg(test)]
mod tests;
