//! Runs the server under test in this process; [`crate::serving`] runs it as the binary.

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
use server::serve::{Mark, Signals, Site};
use tempfile::TempDir;

use crate::http;
pub use crate::http::{Reply, send};
use crate::repro::built_recorder;
pub use crate::serving::ServeProcess;
use crate::storage::{Backend, Storage};

/// Server on a free local port, in a thread of this process, which stops when dropped.
pub struct Server {
    address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    _data: TempDir,
    _storage: Storage,
}

impl Server {
    /// Serves a folder with the layout of `target/dist`.
    ///
    /// # Panics
    ///
    /// Panics if the server does not start.
    #[track_caller]
    pub fn start(dist: &Path) -> Self {
        Self::with(SettingsArgs { dist: Some(dist.to_owned()), jobs: Some(String::new()), ..SettingsArgs::default() })
    }

    /// Starts a server with settings, on a free port and with a temporary data folder if none is named.
    ///
    /// # Panics
    ///
    /// Panics if the server does not start.
    #[track_caller]
    pub fn with(settings: SettingsArgs) -> Self {
        Self::on(Backend::Sqlite, settings)
    }

    /// Starts a server like [`Self::with`], on a new backend.
    ///
    /// # Panics
    ///
    /// Panics if the server does not start.
    #[track_caller]
    pub fn on(backend: Backend, settings: SettingsArgs) -> Self {
        let storage = Storage::new(backend);
        let data = tempfile::tempdir().expect("a folder");
        let settings = SettingsArgs {
            listen: Some("127.0.0.1:0".to_owned()),
            data: settings.data.clone().or_else(|| Some(data.path().to_owned())),
            grace: settings.grace.clone().or_else(|| Some("0s".to_owned())),
            // Other users of the test machine do not matter, so no token is needed.
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
        let site = Data::new(Site::load(&config.pages, Mark::Server).expect("the folder to be readable"));
        let (started, start) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            server::jobs::worker::runtime().expect("threads").block_on(async move {
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
    /// Panics if the page is not built.
    #[track_caller]
    pub fn with_page() -> Self {
        Self::start(&built_page())
    }

    /// Returns the full URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sends a GET request with additional headers and reads the whole answer.
    #[track_caller]
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.send("GET", path, headers)
    }

    /// Sends a request without a body; path and headers are sent exactly as given.
    ///
    /// # Panics
    ///
    /// Panics if the server does not answer.
    #[track_caller]
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        send(self.address, method, path, headers)
    }

    /// Sends a request with a body.
    ///
    /// # Panics
    ///
    /// Panics if the server does not answer.
    #[track_caller]
    pub fn send_body(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        http::send_body(self.address, method, path, headers, body)
    }

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

/// Returns the binary `snapscope`, built from the current sources.
///
/// # Panics
///
/// Panics if the build fails.
#[track_caller]
pub fn snapscope() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| built("snapscope"))
}

/// Builds a binary and returns its path.
///
/// Cargo builds binaries only for the tests of their own package; building here keeps tests from using a stale one.
///
/// # Panics
///
/// Panics if the build fails.
#[track_caller]
pub fn built(binary: &str) -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--workspace", "--bin", binary]).current_dir(root());
    // Cargo sets these variables for this test's package. Build scripts that watch them (ring's) would cause half of
    // the server to be rebuilt, and once more by the next cargo that is not run by a test.
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
        build.env_remove(name);
    }
    let built = build.status();
    assert!(built.expect("cargo").success(), "building the binary `{binary}` failed");
    let program = std::env::current_exe().expect("the path of this program");
    let folder = program.parent().expect("a folder");
    // target/debug/deps/test or target/debug/tool → target/debug/snapscope
    let target = if folder.ends_with("deps") { folder.parent() } else { Some(folder) };
    target.expect("a target folder").join(binary)
}

/// Returns the folder of the page that `./dev` built, or that `SNAPSCOPE_TEST_DIST` names.
///
/// # Panics
///
/// Panics if the page is not built.
#[track_caller]
pub fn built_page() -> PathBuf {
    let named = std::env::var_os("SNAPSCOPE_TEST_DIST").map(PathBuf::from);
    let dist = root().join(named.unwrap_or_else(|| "target/dist".into()));
    assert!(dist.join("index.html").is_file(), "the page is not built: run the tests by `./dev test`");
    dist
}

/// Returns the root folder of the sources.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
