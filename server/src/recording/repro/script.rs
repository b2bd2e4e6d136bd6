//! Records a script from strangers, by `snapscope run` behind walls.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use shared::job::{Card, Cards};

use super::process::Launch;
use super::{Limits, Recording, RecordingFailure, Unwatched, Watcher, recorded};
use crate::Failure;
use crate::config::RecorderConfig;
use crate::folder::make_temporary;

/// Time that the run has to end its processes and to write the snapshot; longer than it waits for them itself.
const GRACE: Duration = Duration::from_secs(90);

/// A script to record on virtual GPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub name: String,
    pub text: String,
    pub cards: Cards,
    /// Optimizer steps after which it ends.
    pub steps: u64,
}

/// A script that shows whether others can be recorded.
const CHECK: &str = "import torch\n\ntorch.ones(1 << 20, device=\"cuda\")\n";

/// Records a script with a Python, within limits, and leaves its snapshot in `output`; see [`run`](super::run).
///
/// # Errors
///
/// Returns an error if this machine has no sandbox for scripts, and those of [`run`](super::run).
pub fn run_script(
    config: &RecorderConfig,
    python: &Path,
    script: &Script,
    limits: &Limits,
    output: &Path,
    watcher: &mut dyn Watcher,
) -> Result<Recording, Box<RecordingFailure>> {
    let launch = |folder: &Path, snapshot: &Path| launch(config, python, script, limits, folder, snapshot);
    // The run keeps the limits itself, and writes what the script has used until then.
    let limits = Limits { time: limits.time + GRACE, grace: GRACE, ..limits.clone() };
    let recording = recorded(config, &launch, &limits, output, watcher)?;
    Ok(Recording { card: script.cards.to_string(), ..recording })
}

/// Records a script of two lines in a temporary folder, to learn whether others can run here.
///
/// # Errors
///
/// Returns what any other script would fail with.
pub fn check_scripts(
    config: &RecorderConfig,
    python: &Path,
    scratch: &Path,
) -> Result<Recording, Box<RecordingFailure>> {
    let folder = make_temporary("check-", Some(scratch))
        .map_err(|error| Failure::new(format!("a temporary folder cannot be made: {error}"), "free space for it"))?;
    let cards = Cards(vec![Card::default()]);
    let script = Script { name: "check.py".to_owned(), text: CHECK.to_owned(), cards, steps: 1 };
    let output = folder.path().join("check.pickle");
    run_script(config, python, &script, &Limits::default(), &output, &mut Unwatched)
}

fn launch(
    config: &RecorderConfig,
    python: &Path,
    script: &Script,
    limits: &Limits,
    folder: &Path,
    snapshot: &Path,
) -> Result<Launch, Failure> {
    let path = config.passed_on.iter().find_map(|(name, value)| (name == "PATH").then_some(value.as_os_str()));
    let python = found(python, path).ok_or_else(|| {
        Failure::new(format!("there is no Python `{}`", python.display()), "name one that has PyTorch with --scripts")
    })?;
    let [folder, snapshot] =
        [folder, snapshot].map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    // The folder also gets the snapshot and what the run keeps, so that the script's own files lie apart.
    let own = folder.join("script");
    let file = own.join(&script.name);
    std::fs::create_dir(&own).and_then(|()| std::fs::write(&file, &script.text)).map_err(|error| {
        Failure::new(format!("{} cannot be written: {error}", file.display()), "free space on this machine")
    })?;
    let mut arguments: Vec<OsString> = vec!["run".into(), "--sandbox".into(), folder.clone().into()];
    arguments.extend(["--card".into(), script.cards.to_string().into(), "--output".into(), snapshot.into()]);
    let options = [
        format!("--steps={}", script.steps),
        format!("--time={}s", limits.time.as_secs().max(1)),
        format!("--memory-limit={}B", limits.memory_bytes),
        format!("--disk-limit={}B", limits.output_bytes),
    ];
    arguments.extend(options.map(OsString::from));
    arguments.extend(["--".into(), python.into(), file.into()]);
    let mut environment = config.passed_on.clone();
    let fixed: [(&str, OsString); 6] = [
        ("TMPDIR", folder.into()),
        ("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", config.virtual_gpu.clone().into()),
        ("OMP_NUM_THREADS", "2".into()),
        // Packages in the home folder are out of reach, and downloads too.
        ("PYTHONNOUSERSITE", "1".into()),
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
        ("HF_HUB_OFFLINE", "1".into()),
    ];
    environment.extend(fixed.map(|(name, value)| (name.into(), value)));
    Ok(Launch { program: config.reader.clone(), arguments, environment, input: String::new() })
}

/// Finds a program by its name in the folders of `path`, or by its own path.
fn found(program: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return std::path::absolute(program).ok().filter(|program| program.is_file());
    }
    std::env::split_paths(path?).map(|folder| folder.join(program)).find(|program| program.is_file())
}
