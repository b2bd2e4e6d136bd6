//! What `./dev load` measures: a server in a process of its own on this machine, its clients in this one.

mod client;
mod figures;
mod idle;
mod reads;
mod uploads;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::serving::{Launch, ServeProcess};

/// How long anything may take before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(600);

/// Measures everything, and prints a table each.
///
/// # Panics
///
/// The server is not built, or does not do what it is asked to.
pub fn run() {
    idle::print();
    reads::print();
    uploads::print();
}

/// A server as `./dev build` leaves it, with as many requests of one address as there are, and a page that is none.
struct Loaded {
    server: ServeProcess,
    _page: TempDir,
}

impl Loaded {
    fn start(jobs: usize) -> Self {
        let page = tempfile::tempdir().expect("a folder");
        std::fs::write(page.path().join("index.html"), "<!doctype html>").expect("room");
        let launch = Launch { program: Some(program()), dist: Some(page.path().to_owned()), ..Launch::default() };
        let launch = launch.with("--jobs", format!("virtual={jobs}"));
        let launch = launch.with("--requests", "0").with("--submissions", "0").with("--grace", "0s");
        Self { server: ServeProcess::launch(&launch), _page: page }
    }

    /// Submits a config, and returns where its job is.
    fn submit(&self, config: &str) -> String {
        let reply = self.server.post("/api/v1/jobs", &[], config.as_bytes());
        assert_eq!(reply.status, 202, "{}", reply.text());
        format!("/api/v1/jobs/{}", reply.json()["id"].as_str().expect("an id"))
    }

    fn wait_until_running(&self, path: &str) {
        let start = Instant::now();
        while self.job(path)["progress"].is_null() {
            assert!(start.elapsed() < PATIENCE, "the job does not run: {}", self.job(path));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn job(&self, path: &str) -> Value {
        self.server.get(path).json()
    }
}

/// `snapscope`, beside this program.
fn program() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program").with_file_name("snapscope");
    assert!(program.is_file(), "{} is not built: run ./dev load", program.display());
    program
}
