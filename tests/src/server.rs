//! Runs the server under test in this process; [`crate::serving`] runs it as the binary.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;

use actix_web::dev::ServerHandle;
use actix_web::rt::System;
use actix_web::web::Data;
use server::config::SettingsArgs;
use server::serve::{Mark, Signals, Site};
use tempfile::TempDir;

pub use crate::built::{built, built_page, root, snapscope};
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
    #[track_caller]
    pub fn start(dist: &Path) -> Self {
        Self::with(SettingsArgs { dist: Some(dist.to_owned()), ..SettingsArgs::default() })
    }

    /// Starts a server with settings, on a free port; if they name nothing else, it serves the page that `./dev` built from
    /// a temporary data folder and records nothing.
    #[track_caller]
    pub fn with(settings: SettingsArgs) -> Self {
        Self::on(Backend::Sqlite, settings)
    }

    /// Starts a server like [`Self::with`], on a new backend.
    #[track_caller]
    pub fn on(backend: Backend, settings: SettingsArgs) -> Self {
        let storage = Storage::new(backend);
        let data = tempfile::tempdir().expect("a folder");
        let settings = SettingsArgs {
            listen: Some("127.0.0.1:0".to_owned()),
            dist: settings.dist.clone().or_else(|| Some(built_page())),
            jobs: settings.jobs.clone().or_else(|| Some(String::new())),
            data: settings.data.clone().or_else(|| Some(data.path().to_owned())),
            grace: settings.grace.clone().or_else(|| Some("0s".to_owned())),
            // Other users of the test machine do not matter, so no token is needed.
            no_token: settings.no_token.or((settings.token.is_none() && settings.private.is_none()).then_some(true)),
            database: settings.database.clone().or_else(|| storage.database.clone()),
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
    #[track_caller]
    pub fn with_page() -> Self {
        Self::with(SettingsArgs::default())
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sends a GET request with additional headers and reads the whole answer.
    #[track_caller]
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.send("GET", path, headers)
    }

    /// Sends a request without a body; path and headers are sent exactly as given.
    #[track_caller]
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        send(self.address, method, path, headers)
    }

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
