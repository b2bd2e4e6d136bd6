//! Measures a server behind a proxy under load, for `./dev load`.
//!
//! Server and proxy run in separate processes on this machine, with the server's default limits. The clients run in
//! this process, each with its own address.

mod client;
mod figures;
mod idle;
mod proxy;
mod reads;
mod uploads;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use proxy::Proxy;
use testkit::http::Reply;
use testkit::serving::{Launch, ServeProcess};

/// Timeout of any wait.
const PATIENCE: Duration = Duration::from_secs(600);

/// Measures everything and prints the tables.
///
/// # Panics
///
/// Panics if the server is not built or does not answer as expected.
pub fn run() {
    idle::print();
    reads::print();
    uploads::print();
}

/// Token of the server.
const TOKEN: &str = "a-token-that-is-not-short";

/// Server as `./dev build` leaves it, behind a proxy, with an empty page.
struct Loaded {
    proxy: Proxy,
    server: ServeProcess,
    _page: TempDir,
}

impl Loaded {
    fn start(jobs: usize) -> Self {
        let page = tempfile::tempdir().expect("a folder");
        std::fs::write(page.path().join("index.html"), "<!doctype html>").expect("room");
        let launch = Launch { program: Some(program()), dist: Some(page.path().to_owned()), ..Launch::default() };
        let launch = launch.with("--jobs", format!("virtual={jobs}"));
        let launch = launch.with("--token", TOKEN).with("--private", "true").with("--grace", "0s");
        let address = proxy::free_address();
        let launch =
            launch.with("--trusted-proxies", "127.0.0.1").with("--public-address", format!("http://{address}"));
        let server = ServeProcess::launch(&launch);
        Self { proxy: Proxy::start(address, server.address), server, _page: page }
    }

    /// Sends a body with the source address of client `client`.
    fn post(&self, client: u32, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        post(self.proxy.address, client, path, headers, body)
    }

    /// Submits a config and returns the path of its job.
    fn submit(&self, config: &str) -> String {
        let reply = self.post(0, "/api/v1/jobs", &[], config.as_bytes());
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
        testkit::http::send(self.proxy.address, "GET", path, &[AUTHORIZED]).json()
    }
}

/// Header with the server's token.
const AUTHORIZED: (&str, &str) = ("Authorization", "Bearer a-token-that-is-not-short");

fn post(proxy: SocketAddr, client: u32, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = runtime.block_on(async { proxy::connect(client, proxy).await?.into_std() });
    let stream = stream.and_then(|stream| stream.set_nonblocking(false).map(|()| stream)).expect("the proxy to listen");
    testkit::http::send_body_over(stream, proxy, "POST", path, &[headers, &[AUTHORIZED]].concat(), body)
}

/// Returns the path of `snapscope`, beside this program.
fn program() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program").with_file_name("snapscope");
    assert!(program.is_file(), "{} is not built: run ./dev load", program.display());
    program
}
