//! Tests the Python package and `snapscope record` with the system's Python and a small `torch` that needs no wheel.

mod command;
mod failures;
mod moments;
mod options;
mod processes;
mod sidecars;

use std::process::Command;

use serde_json::Value;
use testkit::server::{root, snapscope};

use super::run::Ran;
use super::scene::Scene;

/// A folder with the script `train.py`, which can import the package.
struct Stage {
    scene: Scene,
}

impl Stage {
    #[track_caller]
    fn new(script: &str) -> Self {
        let stage = Self { scene: Scene::new() };
        stage.scene.write("train.py", script);
        stage
    }

    /// Returns the command `python3 train.py`, with the package and the small `torch`.
    fn python(&self) -> Command {
        let mut command = Command::new("python3");
        command.arg("train.py");
        self.prepare(&mut command, &["server/python", "tests/data/run/site-packages"]);
        command
    }

    /// Returns the command `snapscope record`, whose Python has only the small `torch`.
    fn record(&self, options: &[&str]) -> Command {
        let mut command = Command::new(snapscope());
        command.arg("record").args(options).args(["--", "python3", "train.py"]);
        self.prepare(&mut command, &["tests/data/run/site-packages"]);
        command
    }

    fn prepare(&self, command: &mut Command, packages: &[&str]) {
        let packages = packages.iter().map(|package| root().join(package));
        command
            .current_dir(self.scene.top())
            .env("PYTHONPATH", std::env::join_paths(packages).expect("paths without colons"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        for name in ["SNAPSCOPE_RECORD", "SNAPSCOPE_RUN", "RANK", "WORLD_SIZE", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"] {
            command.env_remove(name);
        }
    }

    #[track_caller]
    fn run(&self) -> Ran {
        Ran::of(&self.python().output().expect("python3"))
    }

    /// Returns the names in the folder `out`, hidden ones too.
    fn names(&self) -> Vec<String> {
        self.scene.names("out", "")
    }

    /// Returns the numbers of events of a snapshot, and of annotations.
    #[track_caller]
    fn events(&self, name: &str) -> (u64, u64) {
        let output =
            Command::new(snapscope()).arg("inspect").arg(self.scene.path("out").join(name)).arg("--json").output();
        let document: Value = serde_json::from_slice(&output.expect("the command").stdout).expect("a document");
        (document["devices"][0]["events"].as_u64().expect("a number"), document["annotations"].as_u64().unwrap_or(0))
    }

    #[track_caller]
    fn sidecar(&self, name: &str) -> Value {
        let text = std::fs::read(self.scene.path("out").join(name)).expect("a sidecar");
        serde_json::from_slice(&text).expect("a document")
    }
}

/// Runs a script that has to succeed without any warning, and returns the names in `out`.
#[track_caller]
fn names(script: &str) -> Vec<String> {
    let stage = Stage::new(script);
    let ran = stage.run();
    assert_eq!((ran.status, ran.text.as_str()), (Some(0), ""));
    stage.names()
}

/// Runs a script that has to succeed with one warning, and returns the stage.
#[track_caller]
fn warns(script: &str, warning: &str) -> Stage {
    let stage = Stage::new(script);
    check_warning(&stage.run(), warning);
    stage
}

#[track_caller]
fn check_warning(ran: &Ran, warning: &str) {
    ran.check(0, &[warning]);
    assert_eq!(ran.text.matches("SnapscopeWarning").count(), 1, "{}", ran.text);
}
