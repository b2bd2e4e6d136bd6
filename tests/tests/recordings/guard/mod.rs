//! Tests the pytest plugin with the system's Python, a small `torch` that needs no wheel, and a pytest of the tests' own.

mod judged;
mod marks;
mod places;

use std::process::Command;

use testkit::server::{root, snapscope};

use super::run::Ran;
use super::scene::Scene;

/// A folder with the file `test_memory.py`, and a virtual GPU that the small `torch` does not need.
struct Stage {
    scene: Scene,
}

impl Stage {
    #[track_caller]
    fn new(tests: &str) -> Self {
        let stage = Self { scene: Scene::new() };
        stage.scene.write("test_memory.py", &format!("import pytest\n{tests}"));
        stage.scene.write("virtual-gpu/libsnapscope_virtual_gpu.so", "");
        stage
    }

    fn pytest(&self, options: &[&str]) -> Command {
        let pytest = root().join("target/pytest/site-packages");
        assert!(pytest.join("pytest").exists(), "there is no pytest in {}: run ./dev test", pytest.display());
        let packages = [root().join("server/python"), root().join("tests/data/run/site-packages"), pytest];
        let mut command = Command::new("python3");
        command
            .current_dir(self.scene.top())
            .args(["-m", "pytest", "-p", "snapscope.guard.plugin", "-p", "no:cacheprovider", "--color=no"])
            .args(options)
            .env("PYTHONPATH", std::env::join_paths(packages).expect("paths without colons"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("SNAPSCOPE_PROGRAM", snapscope())
            .env("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", self.scene.path("virtual-gpu"));
        for name in ["SNAPSCOPE_RECORD", "SNAPSCOPE_RUN", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"] {
            command.env_remove(name);
        }
        command
    }

    #[track_caller]
    fn run(&self, options: &[&str]) -> Ran {
        Ran::of(&self.pytest(options).output().expect("python3"))
    }

    fn snapshots(&self) -> Vec<String> {
        self.scene.names("gpu-memory", ".pickle")
    }
}
