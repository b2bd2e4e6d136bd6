//! Runs the command on one side of the comparison.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use shared::api::{RunReport, RunStatus, RunsReport};

use super::checkout::Checkout;
use super::options::CiRunArgs;
use crate::Failure;
use crate::commands::itself::Itself;
use crate::commands::record::Forwarded;
use crate::commands::run::overall;
use crate::config::ScriptConfig;
use crate::snapshot_file::Opened;

pub(super) struct Side {
    /// Word for it in texts, such as `base 1a2b3c4`.
    pub(super) name: String,
    /// Status of all processes together.
    pub(super) status: RunStatus,
    /// The process that needs the most memory.
    pub(super) run: RunReport,
    /// Number of processes that used CUDA.
    pub(super) processes: usize,
    /// Its snapshot, if it has one.
    pub(super) opened: Option<Opened>,
}

/// How to run a side.
pub(super) struct Task<'a> {
    pub(super) args: &'a CiRunArgs,
    pub(super) config: &'a ScriptConfig,
    pub(super) forwarded: &'a Forwarded,
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// Checkout in which it runs; `None` for the user's own.
    pub(super) checkout: Option<&'a Checkout<'a>>,
    /// Python in place of the command's program.
    pub(super) python: Option<&'a Path>,
    pub(super) snapshot: &'a Path,
}

impl Task<'_> {
    /// Runs the command on the virtual GPU; its output follows a line that names the side.
    pub(super) fn run(&self) -> Result<Side, Failure> {
        eprintln!("snapscope: {}", self.name);
        let mut itself = Itself::new(self.config, &self.folder);
        itself.arguments = self.arguments();
        itself.variables.extend(self.python_path().map(|path| ("PYTHONPATH".into(), path)));
        let report: RunsReport = itself.document(|child| self.forwarded.send_to(child))?;
        let status = overall(&report.runs);
        let processes = report.runs.iter().filter(|run| run.snapshot.is_some()).count();
        let highest = report.runs.into_iter().max_by_key(|run| (run.snapshot.is_some(), run.peak_reserved_bytes));
        let mut run = highest.ok_or_else(|| Failure::new("the run has no result", "run it with `snapscope run`"))?;
        // Paths are those of the folder in which it ran.
        run.snapshot = run.snapshot.map(|path| self.folder.join(path).display().to_string());
        let opened = run.snapshot.as_ref().map(|path| Opened::read(Path::new(path))).transpose()?;
        let opened = opened.map(|opened| Opened { file: self.name.clone(), ..self.args.own.apply(opened) });
        Ok(Side { name: self.name.clone(), status, run, processes, opened })
    }

    fn arguments(&self) -> Vec<OsString> {
        let args = self.args;
        let mut words: Vec<OsString> = vec!["run".into(), "--json".into(), "-o".into(), self.snapshot.into()];
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.map(|value| OsString::from(format!("--{name}={value}"))));
        };
        option("card", args.card.clone());
        option("steps", args.steps.map(|steps| steps.to_string()));
        option("time", args.time.map(|time| format!("{}ms", time.as_millis())));
        words.push("--".into());
        words.extend(self.command());
        words
    }

    /// Returns the command, with paths into the user's checkout replaced by those of this side.
    fn command(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = self.args.command.iter().map(|word| self.moved(word)).collect();
        if let Some(python) = self.python {
            words[0] = python.into();
        } else if self.is_left_behind(&words[0]) {
            // An environment inside of the checkout is in no commit.
            words[0] = std::path::absolute(&words[0]).map_or_else(|_| words[0].clone(), Into::into);
        }
        words
    }

    fn moved(&self, word: &OsStr) -> OsString {
        let counterpart = self.checkout.and_then(|checkout| checkout.counterpart(Path::new(word)));
        counterpart.map_or_else(|| word.to_owned(), Into::into)
    }

    fn is_left_behind(&self, program: &OsStr) -> bool {
        let path = Path::new(program);
        path.components().count() > 1 && path.is_relative() && path.exists() && !self.folder.join(path).exists()
    }

    /// Returns the user's search path with the folders of this side; `None` if it stays as it is.
    fn python_path(&self) -> Option<OsString> {
        let own = self.config.own("PYTHONPATH").filter(|_| self.checkout.is_some())?;
        let paths = std::env::split_paths(own).map(|path| PathBuf::from(self.moved(path.as_os_str())));
        std::env::join_paths(paths).ok()
    }
}
