//! The server under test, in this process; [`crate::serving`] has it as the binary.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread::JoinHandle;

use actix_web::dev::ServerHandle;
use actix_web::rt::System;
use actix_web::web::Data;
use server::config::SettingsArgs;
use server::serve::{Signals, Site};
use tempfile::TempDir;

use crate::http;
pub use crate::http::{Reply, send};
use crate::repro::built_recorder;
pub use crate::serving::ServeProcess;
use crate::storage::{Backend, Storage};

/// The app on a free port of this machine, in a thread of this process, until it is dropped.
pub struct Server {
    address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    _data: TempDir,
    _storage: Storage,
}

impl Server {
    /// Serves a folder in the layout of `target/dist`.
    ///
    /// # Panics
    ///
    /// The folder cannot be served.
    #[track_caller]
    pub fn start(dist: &Path) -> Self {
        Self::with(SettingsArgs { dist: Some(dist.to_owned()), jobs: Some(String::new()), ..SettingsArgs::default() })
    }

    /// Serves with settings; the port, and a folder for its data where none is named, are its own.
    ///
    /// # Panics
    ///
    /// It cannot be served.
    #[track_caller]
    pub fn with(settings: SettingsArgs) -> Self {
        Self::on(Backend::Sqlite, settings)
    }

    /// As [`Self::with`], on a backend of its own.
    ///
    /// # Panics
    ///
    /// It cannot be served.
    #[track_caller]
    pub fn on(backend: Backend, settings: SettingsArgs) -> Self {
        let storage = Storage::new(backend);
        let data = tempfile::tempdir().expect("a folder");
        let settings = SettingsArgs {
            listen: Some("127.0.0.1:0".to_owned()),
            data: settings.data.clone().or_else(|| Some(data.path().to_owned())),
            grace: settings.grace.clone().or_else(|| Some("0s".to_owned())),
            // Whoever else uses the machine of the tests has no say in what they see.
            no_token: settings.no_token.or((settings.token.is_none() && settings.private.is_none()).then_some(true)),
            database: settings.database.clone().or_else(|| storage.database()),
            ..settings
        };
        let mut config = settings.resolve().expect("settings");
        config.program = snapscope().to_owned();
        if let Some(store) = storage.store() {
            config.store = store;
        }
        if !config.worker.slots.is_empty() {
            config.recorder = built_recorder().clone();
        }
        let site = Data::new(Site::load(&config.dist).expect("the folder to be readable"));
        let (started, start) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            server::worker::runtime().expect("threads").block_on(async move {
                let server = server::serve::start(config, site, Signals::LeftAlone).await.expect("a server");
                started.send((server.addresses[0], server.handle())).expect("the test to wait");
                server.run().await.expect("the server to run");
            });
        });
        let (address, handle) = start.recv().expect("the server to start");
        Self { address, handle, thread: Some(thread), _data: data, _storage: storage }
    }

    /// Serves the page that `./dev` built.
    ///
    /// # Panics
    ///
    /// The page is not built.
    #[track_caller]
    pub fn with_page() -> Self {
        Self::start(&built_page())
    }

    /// The full address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Asks for a path with further headers, and reads the whole answer.
    #[track_caller]
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.send("GET", path, headers)
    }

    /// Sends a request without a body; path and headers go out exactly as given.
    ///
    /// # Panics
    ///
    /// The server does not answer.
    #[track_caller]
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        send(self.address, method, path, headers)
    }

    /// Sends a request with a body.
    ///
    /// # Panics
    ///
    /// The server does not answer.
    #[track_caller]
    pub fn send_body(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        http::send_body(self.address, method, path, headers, body)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let handle = self.handle.clone();
        System::new().block_on(handle.stop(false));
        if let Some(thread) = self.thread.take() {
            // A panic in it was reported by its own thread.
            let _ = thread.join();
        }
    }
}

/// The binary `snapscope`, built from the sources as they are.
///
/// # Panics
///
/// The build fails.
#[track_caller]
pub fn snapscope() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| built("snapscope"))
}

/// Builds a binary and returns where it is.
///
/// Cargo builds binaries for the tests of their own package only; asking it here keeps every test from a stale one.
///
/// # Panics
///
/// The build fails.
#[track_caller]
pub fn built(binary: &str) -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--workspace", "--bin", binary]).current_dir(root());
    // What cargo tells this test of its package: build scripts that watch it (ring's) would have half of the server
    // built anew, and once more by the next cargo that is not run by a test.
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
        build.env_remove(name);
    }
    let built = build.status();
    assert!(built.expect("cargo").success(), "building the binary `{binary}` failed");
    let test = std::env::current_exe().expect("the path of this test");
    // target/debug/deps/test → target/debug/snapscope
    test.ancestors().nth(2).expect("a target folder").join(binary)
}

/// The page that `./dev` built.
///
/// # Panics
///
/// There is none.
#[track_caller]
pub fn built_page() -> PathBuf {
    let dist = root().join("target/dist");
    assert!(dist.join("index.html").is_file(), "the page is not built: run the tests by `./dev test`");
    dist
}

/// The top folder of the sources.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
