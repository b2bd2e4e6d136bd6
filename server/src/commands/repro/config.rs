//! The config of a recording: read, overridden, resolved.

use std::path::Path;

use shared::job::{Format, Job, Overrides, Problem, RawJob};

use crate::Failure;

/// The longest config that is read, in bytes: the reader takes a mebibyte and says so.
const MOST_BYTES: u64 = (1 << 20) + 1;

/// A config that can be recorded.
pub(super) struct Config {
    pub(super) job: Job,
}

impl Config {
    /// Reads a config and what goes with it.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or something in it is wrong: all of it at once.
    pub(super) fn read(path: &Path, training_args: Option<&Path>, overrides: Overrides) -> Result<Self, Failure> {
        let text = read_text(path)?;
        let wrong = |problems: Vec<Problem>| refuse(path, &problems);
        let raw = RawJob::parse(&text, Format::of(&path.to_string_lossy(), &text)).map_err(wrong)?;
        let _ = training_args;
        let mut raw = overrides.apply(raw);
        raw.name = raw.name.or_else(|| Some(path.file_stem()?.to_string_lossy().into_owned()));
        Ok(Self { job: raw.resolve().map_err(wrong)? })
    }

    pub(super) fn notes(&self) -> String {
        String::new()
    }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    use std::io::Read as _;
    let unreadable = |error: std::io::Error| {
        Failure::new(format!("{}: {error}", path.display()), "check the path and that you may read the file")
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(
            format!("{} is no text", path.display()),
            "a config is TOML, YAML or JSON in UTF-8; to read a snapshot, use `snapscope inspect`",
        )
    })
}

/// One failure for all problems of a file, a line each.
fn refuse(path: &Path, problems: &[Problem]) -> Failure {
    let lines: Vec<String> = problems.iter().map(|problem| format!("{}: {problem}", path.display())).collect();
    Failure::new(lines.join("\n       "), "shared/src/job/README.md lists every key with its default")
}
