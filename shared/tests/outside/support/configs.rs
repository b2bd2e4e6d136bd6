//! Reads training configs from any source: checks their memory, and that a job survives being written.

use shared::job::{Format, Import, RawJob, Source};

/// Maximum memory per byte of a config and of the arguments next to it, in bytes.
///
/// A value of two characters, such as `1,` in a list, takes 32 bytes. A list that grows holds three times as many, and
/// the position of each value is stored under its path.
const MOST_MEMORY_PER_BYTE: u64 = 800;

/// Maximum memory in addition to that, in bytes.
const MOST_MEMORY_APART: u64 = 1 << 20;

/// Returns the maximum memory held at any time while a config of `bytes` bytes is read and resolved.
pub(crate) fn most_memory_bytes(bytes: usize) -> u64 {
    MOST_MEMORY_APART + MOST_MEMORY_PER_BYTE * bytes as u64
}

/// Reads a config in every way, and checks that an accepted one survives being written.
///
/// The first line is the file name, whose extension tells the format.
/// After a line `---args` follow the training arguments that Hugging Face keeps next to a config.
///
/// # Panics
/// Panics if the reader panics, or if a written config is read as something else.
pub(crate) fn hold(input: &str) {
    let (name, rest) = input.split_once('\n').unwrap_or(("", input));
    let (text, arguments) = match rest.split_once("\n---args\n") {
        Some((text, arguments)) => (text, Some(Source { name: "", text: arguments })),
        None => (rest, None),
    };
    let format = Format::of(name, text);
    RawJob::readable(text, format);
    if let Ok(raw) = RawJob::parse(text, format) {
        survives(raw);
    }
    match Import::read(Source { name, text }, arguments) {
        Ok(Import { job, places, .. }) => {
            if let Err(problems) = job.clone().resolve() {
                assert!(!places.locate(problems).is_empty());
            }
            survives(job);
        }
        Err(problems) => problems.iter().for_each(|problem| assert!(!problem.to_string().is_empty())),
    }
}

/// Maximum length of a text that is read, in bytes.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// Checks that a config and its job are read as they were written.
fn survives(raw: RawJob) {
    let json = raw.to_json();
    if json.len() <= MOST_BYTES {
        assert_eq!(RawJob::from_json(&json).as_ref(), Ok(&raw), "a config in JSON");
    }
    if let Ok(sweep) = raw.clone().into_sweep() {
        assert!(!sweep.combinations.is_empty());
    }
    let Ok(job) = raw.resolve() else { return };
    let again = RawJob::from_json(&job.to_json()).and_then(RawJob::resolve);
    assert_eq!(again.as_ref(), Ok(&job), "a job in JSON");
}
