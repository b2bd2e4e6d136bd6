//! Runs recordings with a simulated recorder that plays a script.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use server::config::RecorderConfig;
use server::recording::repro::{Limits, Recording, RecordingFailure, Watcher, run};
use shared::api::RecorderLine;
use shared::job::{Job, RawJob};
use tempfile::TempDir;

use crate::built::{built, root, snapscope};

/// Recorder that plays a shell script, and the folder that it writes to.
///
/// The script sees the output file as `$output`, the job as `$job`, and a small snapshot as `$sample`.
pub struct Played {
    folder: TempDir,
    /// Recorder configuration passed to [`run`]; tests may change it.
    pub config: RecorderConfig,
    /// Limits passed to [`run`]; tests may change them.
    pub limits: Limits,
    pub audience: Audience,
}

impl Played {
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
            installed_for: None,
            passed_on: vec![("PATH".into(), search_path()), ("HOME".into(), folder.path().into())],
            real_gpu: Vec::new(),
            library_path: None,
        };
        let limits = Limits { time: Duration::from_secs(20), grace: Duration::from_millis(300), ..Limits::default() };
        Self { folder, config, limits, audience: Audience::default() }
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(snapscope());
        command.current_dir(self.folder.path()).envs(self.variables());
        command
    }

    /// Returns the environment variables that make a process use this recorder.
    pub fn variables(&self) -> [(String, OsString); 4] {
        let variable = |name: &str, path: &Path| (name.to_owned(), path.into());
        [
            variable("HOME", self.folder.path()),
            variable("SNAPSCOPE_RECORDER", &self.config.program),
            variable("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", &self.config.virtual_gpu),
            variable("SNAPSCOPE_LIBTORCH", &self.config.built_libtorch),
        ]
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn output(&self) -> PathBuf {
        self.path("out.pickle")
    }

    /// Runs the recording to its end.
    ///
    /// # Errors
    ///
    /// Returns the failure that the script causes.
    pub fn run(&mut self, job: &Job) -> Result<Recording, Box<RecordingFailure>> {
        let output = self.output();
        run(&self.config, job, &self.limits, &output, &mut self.audience)
    }

    /// Lists the output folder, including hidden files.
    pub fn files(&self) -> Vec<OsString> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder to be there");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    }
}

/// Watcher that collects the lines of a recording and may stop it.
#[derive(Default)]
pub struct Audience {
    pub lines: Vec<RecorderLine>,
    /// Time at which the recording is stopped.
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

#[track_caller]
pub fn job(card: &str) -> Job {
    config(&format!("name = \"a small job\"\nmodel = \"mlp\"\nsteps = 2\ncard = \"{card}\"\n"))
}

#[track_caller]
pub fn config(text: &str) -> Job {
    let raw = RawJob::from_toml(text).expect("a config");
    raw.resolve().expect("a valid config")
}

fn sample() -> PathBuf {
    root().join("tests/data/snapshots/made-protocol2.pickle")
}

fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into())
}

/// Returns the configuration of the recorder, built from the current sources, with the libraries set up by `./dev`.
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
            installed_for: None,
            passed_on: vec![("PATH".into(), search_path())],
            real_gpu: Vec::new(),
            library_path: None,
        }
    })
}

/// Checks the status of a finished program, and that its two outputs have these parts.
#[track_caller]
pub fn check_output(output: &Output, status: i32, stdout: &[&str], stderr: &[&str]) {
    let texts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(status), "{texts:?}");
    for (parts, text) in [stdout, stderr].into_iter().zip(&texts) {
        for part in parts {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }
}
