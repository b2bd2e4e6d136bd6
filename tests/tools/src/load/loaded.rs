//! The server that is measured.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use testkit::http::Reply;
use testkit::serving::{Launch, ServeProcess};

use super::proxy::{self, Proxy};

/// Timeout of any wait.
const PATIENCE: Duration = Duration::from_secs(600);

const TOKEN: &str = "a-token-that-is-not-short";

/// Server as `./dev build` leaves it, behind a proxy, with an empty page.
pub(super) struct Loaded {
    pub(super) proxy: Proxy,
    pub(super) server: ServeProcess,
    _page: TempDir,
}

impl Loaded {
    pub(super) fn start(jobs: usize) -> Self {
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

    pub(super) fn post(&self, client: u32, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        post(self.proxy.address, client, path, headers, body)
    }

    pub(super) fn submit(&self, config: &str) -> String {
        let reply = self.post(0, "/api/v1/jobs", &[], config.as_bytes());
        assert_eq!(reply.status, 202, "{}", reply.text());
        format!("/api/v1/jobs/{}", reply.json()["id"].as_str().expect("an id"))
    }

    pub(super) fn wait_until_running(&self, path: &str) {
        let start = Instant::now();
        while self.job(path)["progress"].is_null() {
            assert!(start.elapsed() < PATIENCE, "the job does not run: {}", self.job(path));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(super) fn job(&self, path: &str) -> Value {
        testkit::http::send(self.proxy.address, "GET", path, &[AUTHORIZED]).json()
    }
}

pub(super) const AUTHORIZED: (&str, &str) = ("Authorization", "Bearer a-token-that-is-not-short");

pub(super) fn post(proxy: SocketAddr, client: u32, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = runtime.block_on(async { proxy::connect(client, proxy).await?.into_std() });
    let stream = stream.and_then(|stream| stream.set_nonblocking(false).map(|()| stream)).expect("the proxy to listen");
    testkit::http::send_body_over(stream, proxy, "POST", path, &[headers, &[AUTHORIZED]].concat(), body)
}

fn program() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program").with_file_name("snapscope");
    assert!(program.is_file(), "{} is not built: run ./dev load", program.display());
    program
}
