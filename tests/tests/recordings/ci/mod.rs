//! Tests `snapscope ci run` with a small `torch` that needs no wheel, in repositories of the tests' own.

mod action;
mod commits;
mod pythons;

use std::process::Command;

use testkit::server::{root, snapscope};

use super::run::Ran;
use super::scene::Scene;

/// A script that keeps a number of blocks of a mebibyte.
const KEEPS: &str = "import torch\nkept = [torch.Block(1 << 20) for _ in range(COUNT)]\n";

/// A repository with the script `train.py`, and a virtual GPU that the small `torch` does not need.
struct Stage {
    scene: Scene,
}

impl Stage {
    /// Makes a repository whose commits have these scripts.
    #[track_caller]
    fn new(scripts: &[&str]) -> Self {
        let stage = Self { scene: Scene::new() };
        stage.scene.write("repository/.gitignore", "__pycache__\n");
        stage.scene.write("virtual-gpu/libsnapscope_virtual_gpu.so", "");
        stage.git(&["init", "--quiet"]);
        scripts.iter().for_each(|script| stage.commit(script));
        stage
    }

    #[track_caller]
    fn commit(&self, script: &str) {
        self.scene.write("repository/train.py", script);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "a commit"]);
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.scene.path(name)).expect("a file")
    }

    /// Runs git in the repository and returns what it prints.
    #[track_caller]
    fn git(&self, words: &[&str]) -> String {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let mut command = Command::new("git");
        let output =
            command.current_dir(self.scene.path("repository")).args(identity).args(words).output().expect("git");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Gives a command the folder and the variables of the tests.
    fn prepare<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .current_dir(self.scene.path("repository"))
            .env("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", self.scene.path("virtual-gpu"))
            .env("PYTHONPATH", root().join("tests/data/run/site-packages"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("TMPDIR", self.scene.top())
    }

    fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(snapscope());
        self.prepare(&mut command).args(["ci", "run"]).args(options);
        command
    }

    #[track_caller]
    fn run(&self, options: &[&str]) -> Ran {
        let mut command = self.command(options);
        Ran::of(&command.args(["--", "python3", "train.py"]).output().expect("the command"))
    }
}

fn keeps(count: u64) -> String {
    KEEPS.replace("COUNT", &count.to_string())
}
