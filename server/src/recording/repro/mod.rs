//! Makes recordings: passes a training config to the recorder process and returns a snapshot.
//!
//! libtorch can abort, exhaust memory or hang. Whatever the recorder does, the outcome is a [`Recording`], or a
//! [`RecordingFailure`] that says what happened, where, and what to do.
//!
//! Invariant: no byte of the recorder is trusted, its snapshot is not parsed in this process, it cannot block its
//! keeper, and none of its processes is left once [`run`] has returned.
//!
//! ```text
//! config ─ shared::job ─→ Job ─ this module ─→ JSON ─→ snapscope-recorder ─ libtorch ─ virtual or real GPU
//!                                   ↑                         │
//!                                   └───── lines of JSON ─────┘──→ the snapshot file ─→ shared::import ─→ the figures
//! ```
//!
//! Which libraries are loaded determines the device: `LD_LIBRARY_PATH` names either the folder of the virtual GPU and
//! our libtorch, or the user's own PyTorch. The recorder has a process group and an environment of its own, and every
//! outcome is one sentence.
//! Only lines of limited length are read from it, and a trace that was written is kept.

mod failure;
mod figures;
mod keeper;
mod libraries;
mod process;
mod script;

pub use failure::RecordingFailure;
pub use figures::{Recording, print_figures};
pub use keeper::Watcher;
pub use process::Limits;
pub use script::{Script, check_scripts, run_script};

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use shared::api::RecorderLine;
use shared::job::{Device, Format, Job, RawJob};
use tempfile::TempDir;

use crate::Failure;
use crate::config::RecorderConfig;
use crate::folder::make_temporary;
use figures::{Figures, Unread};
use keeper::keep;
use process::Launch;

/// Records a job with the recorder, within limits, and leaves its snapshot in `output`.
///
/// An out-of-memory error counts as a result. After a failure `output` holds the trace up to that point, if there is
/// one. `output` is replaced by a rename at the end, so that it never holds a partial file.
///
/// # Errors
///
/// Returns an error if the recorder or its libraries are missing, or if it failed, crashed, hung, was cancelled, or
/// left no readable snapshot.
pub fn run(
    config: &RecorderConfig,
    job: &Job,
    limits: &Limits,
    output: &Path,
    watcher: &mut dyn Watcher,
) -> Result<Recording, Box<RecordingFailure>> {
    let launch = |folder: &Path, snapshot: &Path| {
        Ok(Launch {
            program: config.program.clone(),
            arguments: vec!["--output".into(), snapshot.into()],
            environment: libraries::environment(config, job, folder)?,
            input: job.to_json(),
        })
    };
    let recording = recorded(config, &launch, limits, output, watcher)?;
    let card = match &job.device {
        Device::Virtual(cards) => cards.to_string(),
        Device::Cuda(_) => recording.card.clone(),
    };
    Ok(Recording { card, ..recording })
}

/// Returns the command that records, given the folder in which it may write and the file of its snapshot.
type Launcher<'a> = dyn Fn(&Path, &Path) -> Result<Launch, Failure> + 'a;

/// Keeps a process that speaks as the recorder does, and leaves its snapshot in `output`.
fn recorded(
    config: &RecorderConfig,
    launch: &Launcher<'_>,
    limits: &Limits,
    output: &Path,
    watcher: &mut dyn Watcher,
) -> Result<Recording, Box<RecordingFailure>> {
    let scratch = Scratch::beside(output)?;
    let snapshot = scratch.snapshot();
    let launch = launch(scratch.0.path(), &snapshot)?;
    let (end, mut transcript) = keep(&launch, limits, watcher).map_err(|error| not_started(&launch.program, &error))?;
    let is_from_outside = end.is_from_outside();
    let warnings = scratch.warnings();
    transcript.log.extend(warnings.iter().cloned());
    let figures = snapshot.exists().then(|| Figures::read(config, limits, &snapshot));
    let is_kept =
        figures.as_ref().is_some_and(|read| read.as_ref().map_or_else(|unread| unread.is_perhaps_one, |_| true));
    let finished = failure::finished(end, &transcript, limits);
    let recording = finished.and_then(|finished| {
        let figures = figures.ok_or_else(|| {
            Failure::new(
                "the recorder finished without a snapshot",
                "check that the disk is not full and that the recorder was built with this program",
            )
        })?;
        let figures = figures.map_err(|Unread { failure, .. }| failure)?;
        scratch.keep(output)?;
        let recording = Recording::of(finished, transcript.started.clone(), figures);
        let messages = transcript.messages.clone();
        Ok(Recording { seconds: transcript.seconds, messages, warnings, ..recording })
    });
    recording.map_err(|failure| {
        let partial = (is_kept && scratch.keep(output).is_ok()).then(|| output.to_owned());
        Box::new(RecordingFailure { partial, is_from_outside, ..RecordingFailure::after(transcript, failure) })
    })
}

/// Optimizer steps of the recording that [`check`] makes.
pub const CHECK_STEPS: u64 = 2;

/// Records a small model on a device such as `cuda:0` in a temporary folder, to learn whether jobs can run there.
///
/// # Errors
///
/// Returns what an ordinary job would fail with.
pub fn check(
    config: &RecorderConfig,
    device: &str,
    scratch: Option<&Path>,
) -> Result<Recording, Box<RecordingFailure>> {
    let text = serde_json::json!({"name": "check", "model": "mlp", "steps": CHECK_STEPS, "device": device}).to_string();
    let job = RawJob::parse(&text, Format::Json).and_then(RawJob::resolve).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Failure::new(problems.join("; "), "name a real GPU, such as cuda:0")
    })?;
    let folder = make_temporary("check-", scratch).map_err(|error| Failure::temporary(&error))?;
    run(config, &job, &Limits::default(), &folder.path().join("check.pickle"), &mut Unwatched)
}

/// Watches nothing.
struct Unwatched;

impl Watcher for Unwatched {
    fn line(&mut self, _line: &RecorderLine) {}

    fn is_cancelled(&mut self) -> bool {
        false
    }
}

fn not_started(program: &Path, error: &io::Error) -> Failure {
    let hint = "run `./dev build` in a clone of Snapscope, or set SNAPSCOPE_RECORDER to the path of the recorder";
    match error.kind() {
        io::ErrorKind::NotFound => Failure::new(format!("there is no recorder at {}", program.display()), hint),
        _ => Failure::new(format!("the recorder {} cannot be run: {error}", program.display()), hint),
    }
}

/// A hidden folder next to the output, from which files can be moved there by a rename; deleted on drop.
struct Scratch(TempDir);

impl Scratch {
    fn beside(output: &Path) -> Result<Self, Failure> {
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        make_temporary(".snapscope-", Some(folder)).map(Self).map_err(|error| {
            Failure::new(
                format!("the folder {} cannot be written: {error}", folder.display()),
                "choose an existing folder with write permission",
            )
        })
    }

    fn snapshot(&self) -> PathBuf {
        self.0.path().join("snapshot.pickle")
    }

    /// Returns the warnings of the virtual GPU, one for each function that it does not implement.
    fn warnings(&self) -> Vec<String> {
        const MOST_BYTES: u64 = 64 << 10;
        let mut bytes = Vec::new();
        // On a real GPU this file does not exist.
        let _ =
            File::open(libraries::log_of(self.0.path())).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
    }

    /// Moves the snapshot to the requested path.
    fn keep(&self, output: &Path) -> Result<(), Failure> {
        std::fs::rename(self.snapshot(), output).map_err(|error| {
            Failure::new(format!("{} cannot be written: {error}", output.display()), "choose another path")
        })
    }
}
