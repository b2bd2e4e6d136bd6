//! Tests `snapscope run` with the system's Python and a small `torch` that needs no wheel.

mod children;
mod ends;
mod engines;
mod faults;
mod fit;
mod fix;
mod ranks;
mod verdicts;
mod weights;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use testkit::server::{root, snapscope};

use super::scene::Scene;

/// A folder with a script, and a virtual GPU that the small `torch` does not need.
struct Stage {
    scene: Scene,
}

impl Stage {
    #[track_caller]
    fn new(script: &str) -> Self {
        let stage = Self { scene: Scene::new() };
        stage.scene.write("train.py", script);
        stage.scene.write("virtual-gpu/libsnapscope_virtual_gpu.so", "");
        stage
    }

    fn command(&self, options: &[&str]) -> Command {
        self.named("run", options)
    }

    fn named(&self, name: &str, options: &[&str]) -> Command {
        let mut command = Command::new(snapscope());
        command
            .current_dir(self.scene.top())
            .env("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", self.scene.path("virtual-gpu"))
            .env("PYTHONPATH", root().join("tests/data/run/site-packages"))
            .env_remove("SNAPSCOPE_VIRTUAL_GPU_VALUES")
            .arg(name)
            .args(options);
        command
    }

    #[track_caller]
    fn run(&self, options: &[&str]) -> Ran {
        Ran::of(&self.command(options).args(["--", "python3", "train.py"]).output().expect("the command to start"))
    }

    /// Runs the script and returns the entries of the document.
    #[track_caller]
    fn document(&self, options: &[&str], status: i32) -> Vec<Value> {
        let ran = self.run(&[options, &["--json"]].concat());
        assert_eq!(ran.status, Some(status), "{}", ran.text);
        let document: Value = serde_json::from_str(&ran.stdout).expect("one document");
        document["runs"].as_array().expect("a list").clone()
    }

    fn snapshots(&self) -> Vec<String> {
        self.scene.names("", "pickle")
    }
}

pub(super) struct Ran {
    pub(super) status: Option<i32>,
    pub(super) stdout: String,
    pub(super) text: String,
}

impl Ran {
    pub(super) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let stdout = text(&output.stdout);
        Self { status: output.status.code(), text: stdout.clone() + &text(&output.stderr), stdout }
    }

    #[track_caller]
    pub(super) fn check(&self, status: i32, parts: &[&str]) {
        assert_eq!(self.status, Some(status), "{}", self.text);
        // Sentences are broken into lines.
        let words = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(words.contains(part), "{part:?} in {}", self.text);
        }
    }
}

fn lives(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}
