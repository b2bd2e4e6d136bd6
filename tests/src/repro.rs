//! Recordings under test: with a recorder that plays a script.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use server::config::RecorderConfig;
use server::repro::{Limits, Recording, RecordingFailure, Watcher, run};
use shared::api::RecorderLine;
use shared::job::{Job, RawJob};
use tempfile::TempDir;

use crate::server::{built, root, snapscope};

/// A recorder that plays a script of the shell, and the folder that it writes to.
///
/// The script sees the output file as `$output`, the job as `$job`, and a small snapshot as `$sample`.
pub struct Played {
    folder: TempDir,
    /// What [`run`] is given; tests may change it.
    pub config: RecorderConfig,
    /// What [`run`] is given; tests may change it.
    pub limits: Limits,
    /// What was said, and when to stop.
    pub audience: Audience,
}

impl Played {
    /// A recorder that does what `script` says.
    ///
    /// # Panics
    ///
    /// The temporary folder cannot be written.
    pub fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("room");
            std::fs::write(&path, text).expect("room");
        };
        write("script", &format!("sample='{}'\n{script}", sample().display()));
        write("virtual-gpu/libcudart.so.13", "");
        write("torch/lib/libtorch_cuda.so", "");
        let config = RecorderConfig {
            program: root().join("tests/data/recorder/play"),
            reader: snapscope().to_owned(),
            virtual_gpu: folder.path().join("virtual-gpu"),
            named_libtorch: None,
            built_libtorch: folder.path().join("torch"),
            passed_on: vec![("PATH".into(), search_path()), ("HOME".into(), folder.path().into())],
            real_gpu: Vec::new(),
            library_path: None,
        };
        let limits = Limits { time: Duration::from_secs(20), grace: Duration::from_millis(300), ..Limits::default() };
        Self { folder, config, limits, audience: Audience::default() }
    }

    /// The command `snapscope` in the folder, with this recorder for its own.
    pub fn command(&self) -> Command {
        let mut command = Command::new(snapscope());
        command.current_dir(self.folder.path()).envs(self.variables());
        command
    }

    /// What a process needs in its environment so that its recorder is this one.
    pub fn variables(&self) -> [(String, OsString); 4] {
        let variable = |name: &str, path: &Path| (name.to_owned(), path.into());
        [
            variable("HOME", self.folder.path()),
            variable("SNAPSCOPE_RECORDER", &self.config.program),
            variable("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", &self.config.virtual_gpu),
            variable("SNAPSCOPE_LIBTORCH", &self.config.built_libtorch),
        ]
    }

    /// A file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where the snapshot is to go.
    pub fn output(&self) -> PathBuf {
        self.path("out.pickle")
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// As the script has it.
    pub fn run(&mut self, job: &Job) -> Result<Recording, Box<RecordingFailure>> {
        let output = self.output();
        run(&self.config, job, &self.limits, &output, &mut self.audience)
    }

    /// What lies where the snapshot is to go, hidden files included.
    ///
    /// # Panics
    ///
    /// The folder cannot be read.
    pub fn files(&self) -> Vec<OsString> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder to be there");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    }
}

/// Who follows a recording: writes down its lines, and may stop it.
#[derive(Default)]
pub struct Audience {
    /// The lines, each as it was said.
    pub lines: Vec<RecorderLine>,
    /// When to stop the recording.
    pub until: Option<Instant>,
}

impl Watcher for Audience {
    fn line(&mut self, line: &RecorderLine) {
        self.lines.push(line.clone());
    }

    fn is_cancelled(&mut self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }
}

/// A small job on virtual cards.
///
/// # Panics
///
/// The card has no such name.
#[track_caller]
pub fn job(card: &str) -> Job {
    config(&format!("name = \"a small job\"\nmodel = \"mlp\"\nsteps = 2\ncard = \"{card}\"\n"))
}

/// A job from a config in TOML.
///
/// # Panics
///
/// It is no valid config.
#[track_caller]
pub fn config(text: &str) -> Job {
    let raw = RawJob::from_toml(text).expect("a config");
    raw.resolve().expect("a valid config")
}

/// A small snapshot.
fn sample() -> PathBuf {
    root().join("tests/data/snapshots/made-protocol2.pickle")
}

/// Where this machine's programs are.
fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into())
}

/// The recorder, built from the sources as they are, with the libraries that `./dev` laid down.
///
/// # Panics
///
/// The build fails, or the libraries are not there.
#[track_caller]
pub fn built_recorder() -> &'static RecorderConfig {
    static CONFIG: OnceLock<RecorderConfig> = OnceLock::new();
    CONFIG.get_or_init(|| {
        let target = root().join("target");
        let libraries = ["virtual-gpu/libcudart.so.13", "libtorch/lib/libtorch_cuda.so"];
        let are_there = libraries.iter().all(|library| target.join(library).exists());
        assert!(are_there, "the virtual GPU and libtorch are not there: run the tests by `./dev test`");
        RecorderConfig {
            program: built("snapscope-recorder"),
            reader: snapscope().to_owned(),
            virtual_gpu: target.join("virtual-gpu"),
            named_libtorch: None,
            built_libtorch: target.join("libtorch"),
            passed_on: vec![("PATH".into(), search_path())],
            real_gpu: Vec::new(),
            library_path: None,
        }
    })
}
