//! Runs this program again, for commands that consist of others.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::host::wait_until;
use crate::Failure;
use crate::config::ScriptConfig;

/// Interval between calls of `tick`.
const TICK: Duration = Duration::from_millis(100);

/// A command of this program whose answer is one JSON document.
pub(super) struct Itself {
    pub(super) program: PathBuf,
    /// Arguments, without `--json`.
    pub(super) arguments: Vec<OsString>,
    pub(super) folder: PathBuf,
    /// Variables that it has besides those of this process.
    pub(super) variables: Vec<(OsString, OsString)>,
    /// True if what it prints besides the document is kept for an error, and not shown.
    pub(super) is_quiet: bool,
}

impl Itself {
    pub(super) fn new(config: &ScriptConfig, folder: &Path) -> Self {
        let (program, folder) = (config.program.clone(), folder.to_owned());
        Self { program, arguments: Vec::new(), folder, variables: Vec::new(), is_quiet: false }
    }

    /// Runs the command to its end and returns its document; `tick` is called from time to time, to pass signals on.
    pub(super) fn document<T: DeserializeOwned>(&self, tick: impl Fn(&Child)) -> Result<T, Failure> {
        self.told(tick).map(|(document, _)| document)
    }

    /// Runs the command to its end and returns its document, with the last line of what it has printed besides.
    ///
    /// # Errors
    ///
    /// Returns what the command said if it has no document.
    pub(super) fn told<T: DeserializeOwned>(&self, tick: impl Fn(&Child)) -> Result<(T, String), Failure> {
        let unusable = |error: &dyn std::fmt::Display| {
            Failure::new(format!("{} cannot be run: {error}", self.program.display()), "install Snapscope again")
        };
        // Files and not pipes, because nobody empties a pipe while this process waits.
        let file = || {
            tempfile::tempfile().map_err(|error| {
                Failure::new(format!("a temporary file cannot be made: {error}"), "set TMPDIR to a folder with room")
            })
        };
        let (mut answer, mut said) = (file()?, file()?);
        let piped = |file: &File| file.try_clone().map(Stdio::from).map_err(|error| unusable(&error));
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .current_dir(&self.folder)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(piped(&answer)?)
            .stderr(if self.is_quiet { piped(&said)? } else { Stdio::inherit() })
            .spawn()
            .map_err(|error| unusable(&error))?;
        while wait_until(&mut child, Instant::now() + TICK).is_none() {
            tick(&child);
        }
        let said = content(&mut said);
        let said = String::from_utf8_lossy(&said);
        let document = serde_json::from_slice(&content(&mut answer)).map_err(|_| self.failure(&said))?;
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        Ok((document, last.unwrap_or_default().to_owned()))
    }

    fn failure(&self, said: &str) -> Failure {
        let after = |mark: &str| said.rsplit_once(mark).map(|(_, rest)| rest.trim().to_owned());
        let message = after("error: ").map(|text| text.lines().next().unwrap_or_default().to_owned());
        let hint = after("hint: ").unwrap_or_else(|| "the reason is above".to_owned());
        let name = self.arguments.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Failure::new(message.unwrap_or_else(|| format!("`snapscope {name}` has no answer")), hint)
    }
}

/// Returns what a process has written to a file; nothing if it cannot be read back.
pub(super) fn content(file: &mut File) -> Vec<u8> {
    use std::io::{Read as _, Seek as _};
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    bytes
}
