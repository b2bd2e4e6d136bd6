//! A server whose database, store and folders can be looked at.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use server::config::SettingsArgs;
use server::database::{Database, Page};
use tempfile::TempDir;
use testkit::form::Form;
use testkit::http::Reply;
use testkit::server::{Server, root};

/// How long something may take to be tidied up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server in this process, over a folder that the test can read.
pub(crate) struct Place {
    pub(crate) server: Server,
    data: TempDir,
}

impl Place {
    /// A server that takes jobs of one kind; they wait, since nothing records them.
    pub(crate) fn new() -> Self {
        Self::with(SettingsArgs::default())
    }

    pub(crate) fn with(settings: SettingsArgs) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let page = data.path().join("page");
        std::fs::create_dir(&page).expect("a folder");
        std::fs::write(page.join("index.html"), "<!doctype html>").expect("a page");
        let server = Server::with(SettingsArgs {
            dist: Some(page),
            data: Some(data.path().to_owned()),
            jobs: settings.jobs.clone().or(Some(String::new())),
            requests: Some(0),
            submissions: settings.submissions.or(Some(0)),
            ..settings
        });
        Self { server, data }
    }

    /// The folder of its data.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        self.server.send_body("POST", path, headers, body)
    }

    /// Sends a form as a share.
    pub(crate) fn share(&self, form: Form) -> Reply {
        self.post("/api/v1/shares", &[("Content-Type", &Form::content_type())], &form.finish())
    }

    /// The server goes on, with nothing of what was refused in its database, its store and its folders.
    #[track_caller]
    pub(crate) fn check_untouched(&self) {
        check_no_files(&self.data.path().join("scratch"));
        check_no_files(&self.data.path().join("store"));
        assert_eq!(rows(self.data.path()), (0, 0, 0), "links, stored bytes, jobs");
        assert_eq!(self.server.get("/readyz", &[]).text(), "ok\n");
    }
}

/// Waits until no file is below a folder: what a request wrote goes a moment after its answer.
#[track_caller]
pub(crate) fn check_no_files(folder: &Path) {
    let start = Instant::now();
    while let Some(file) = files(folder).pop() {
        assert!(start.elapsed() < PATIENCE, "{} is left over", file.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The files below a folder, without those that processes hold to show that they live, and the name of the store.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // A folder may go while it is looked at.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path if path.file_name().is_some_and(|name| name == "lock" || name == "installation") => {}
            path => found.push(path),
        }
    }
    found
}

/// How many links, stored bytes and jobs the database of a folder has.
#[track_caller]
pub(crate) fn rows(data: &Path) -> (u64, u64, usize) {
    let address = format!("sqlite:{}", data.join("snapscope.sqlite").display());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let database = Database::open(&address).await.expect("the database");
        let jobs = database.jobs(&Page { limit: 1000, ..Page::default() }).await.expect("jobs");
        let rows = (database.share_count().await.expect("links"), database.stored_bytes().await.expect("bytes"));
        database.close().await;
        (rows.0, rows.1, jobs.len())
    })
}

/// A stored snapshot, compressed.
pub(crate) fn snapshot() -> Vec<u8> {
    std::fs::read(root().join("tests/data/snapshots/torch2.15-basic-py311.pickle.gz")).expect("a snapshot")
}
