//! Reads, overrides and resolves the config of a recording.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use shared::job::{Import, ImportNote, KeyPlaces, Overrides, Problem, RawJob, Source};

use crate::Failure;
use crate::commands::text;
use crate::recording::sweep::SearchError;

/// Maximum number of bytes that are read of a config.
///
/// This is more than the parser accepts, so that the parser refuses a larger config with its own message.
const MOST_BYTES: u64 = 4 << 20;

/// Config as it was read, not yet resolved.
pub(in crate::commands) struct Written {
    /// Config of which only the types are checked.
    pub(in crate::commands) raw: RawJob,
    pub(in crate::commands) notes: Notes,
    /// Positions of the keys in the file.
    pub(in crate::commands) places: KeyPlaces,
}

/// Notes on the understood and the ignored keys of a Hugging Face config; empty for Snapscope's own format.
#[derive(Default)]
pub(in crate::commands) struct Notes {
    understood: Vec<ImportNote>,
    ignored: Vec<ImportNote>,
}

impl Written {
    /// Reads a config with its training arguments and overrides, without resolving it.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, or one that lists all keys that are unknown or of the wrong type.
    pub(in crate::commands) fn read(
        path: &Path,
        arguments: Option<&Path>,
        overrides: Overrides,
    ) -> Result<Self, Failure> {
        let named = |path: &Path| Ok((path.display().to_string(), read_text(path)?));
        let (name, text) = named(path)?;
        let arguments = arguments.map(named).transpose()?;
        let arguments = arguments.as_ref().map(|(name, text)| Source { name, text });
        let import =
            Import::read(Source { name: &name, text: &text }, arguments).map_err(|problems| refuse(path, &problems))?;
        let Import { job: mut raw, understood, ignored, places } = import.with(overrides);
        raw.name = raw.name.or_else(|| Some(path.file_stem()?.to_string_lossy().into_owned()));
        Ok(Self { raw, notes: Notes { understood, ignored }, places })
    }
}

impl Notes {
    /// Formats the understood and the ignored keys as two lists.
    pub(in crate::commands) fn text(&self) -> String {
        let lists = [("understood", &self.understood), ("ignored", &self.ignored)];
        let list = |(title, notes): (&str, &Vec<ImportNote>)| {
            let rows: Vec<_> = notes.iter().map(|note| vec![note.key.clone(), note.note.clone()]).collect();
            if rows.is_empty() { String::new() } else { format!("{title}\n{}\n", text::section(&rows, &[])) }
        };
        lists.map(list).concat()
    }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let unreadable = |error: io::Error| Failure::reading(path, &error, "file");
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(
            format!("{} is not a text file", path.display()),
            "a config is TOML, YAML or JSON in UTF-8; `snapscope inspect` reads snapshots",
        )
    })
}

/// Says why a search on a config failed; `number` formats a batch.
pub(in crate::commands) fn stopped(
    error: SearchError,
    config: &Path,
    places: &KeyPlaces,
    number: fn(u64) -> String,
) -> Failure {
    match error {
        SearchError::Config(problems) => refuse(config, &places.locate(problems)),
        SearchError::Stopped(failure) => failure,
        SearchError::Recording(batch, failure) => {
            let of_batch = batch.map_or_else(String::new, |batch| format!("batch {}: ", number(batch)));
            Failure::new(of_batch + &failure.message, failure.hint)
        }
    }
}

/// Builds one failure from all problems of a file, one line each.
pub(in crate::commands) fn refuse(path: &Path, problems: &[Problem]) -> Failure {
    let lines: Vec<String> = problems.iter().map(|problem| format!("{}: {problem}", path.display())).collect();
    Failure::new(
        lines.join("\n       "),
        "correct the config; `snapscope repro --keys` lists its keys and their defaults",
    )
}
