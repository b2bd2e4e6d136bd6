//! Training configs as anybody may send them: how much memory they take, and that a job survives being written.

use shared::job::{Format, Import, RawJob, Source};

/// The most bytes of memory for each byte of a config and of the arguments beside it.
///
/// A value of two letters, such as `1,` in a list, is 32 bytes, of which a list that grows holds three times as many,
/// and the place of each is kept under its path.
const MOST_MEMORY_PER_BYTE: u64 = 800;

/// The most bytes of memory beyond that.
const MOST_MEMORY_APART: u64 = 1 << 20;

/// The most bytes of memory that are held at a time while a config of so many bytes is read and resolved.
pub(crate) fn most_memory_bytes(bytes: usize) -> u64 {
    MOST_MEMORY_APART + MOST_MEMORY_PER_BYTE * bytes as u64
}

/// Reads a config in every way; what is accepted comes back as it was.
///
/// The first line is the name of its file, whose end tells the format; behind a line with `---args` are the training
/// arguments that Hugging Face has beside a config.
///
/// # Panics
/// If it panics, or what was written is read as something else.
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

/// The longest text that is read, in bytes.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// A config is read as it was written, and its job too.
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
