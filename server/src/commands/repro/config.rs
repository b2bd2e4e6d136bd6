//! The config of a recording: read, overridden, resolved.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use shared::job::{Import, ImportNote, Job, KeyPlaces, Overrides, Problem, RawJob, Source};

use crate::Failure;
use crate::commands::text;

/// The most of a config that is read, in bytes: more than the parser takes, which then says how much it does.
const MOST_BYTES: u64 = 4 << 20;

/// A config that can be recorded.
pub(super) struct Config {
    pub(super) job: Job,
    notes: Notes,
}

/// A config as it was read, for more than one recording.
pub(in crate::commands) struct Written {
    /// The config; nothing is checked but types.
    pub(in crate::commands) raw: RawJob,
    pub(in crate::commands) notes: Notes,
    /// Where its keys stand.
    pub(in crate::commands) places: KeyPlaces,
}

/// What became of the keys of a Hugging Face config; nothing for a config in our own words.
#[derive(Default)]
pub(in crate::commands) struct Notes {
    understood: Vec<ImportNote>,
    ignored: Vec<ImportNote>,
}

impl Config {
    /// Reads a config and what goes with it.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or something in it is wrong: all of it at once.
    pub(super) fn read(path: &Path, arguments: Option<&Path>, overrides: Overrides) -> Result<Self, Failure> {
        let Written { raw, notes, places } = Written::read(path, arguments, overrides)?;
        let job = raw.resolve().map_err(|problems| refuse(path, &places.locate(problems)))?;
        Ok(Self { job, notes })
    }

    /// What became of each foreign key; empty for a config in our own words.
    pub(super) fn notes(&self) -> String {
        self.notes.text()
    }
}

impl Written {
    /// Reads a config and what goes with it, and leaves it to the caller to resolve it.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or has unknown keys or keys of the wrong type: all of them at once.
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
    /// The keys and what became of them, for people.
    pub(in crate::commands) fn text(&self) -> String {
        let lists = [("understood", &self.understood), ("ignored", &self.ignored)];
        let list = |(title, notes): (&str, &Vec<ImportNote>)| {
            let rows: Vec<_> = notes.iter().map(|note| vec![note.key.clone(), note.note.clone()]).collect();
            let lines = text::table(&rows, &[]).iter().map(|line| format!("  {line}\n")).collect::<String>();
            if rows.is_empty() { String::new() } else { format!("{title}\n{lines}\n") }
        };
        lists.map(list).concat()
    }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let unreadable = |error: io::Error| {
        Failure::new(format!("{}: {error}", path.display()), "check the path and that you may read the file")
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(
            format!("{} is no text", path.display()),
            "a config is TOML, YAML or JSON in UTF-8; `snapscope inspect` reads snapshots",
        )
    })
}

/// One failure for all problems of a file, a line each.
pub(in crate::commands) fn refuse(path: &Path, problems: &[Problem]) -> Failure {
    let lines: Vec<String> = problems.iter().map(|problem| format!("{}: {problem}", path.display())).collect();
    Failure::new(
        lines.join("\n       "),
        "correct the config; its keys and their defaults are listed in shared/src/job/README.md",
    )
}
