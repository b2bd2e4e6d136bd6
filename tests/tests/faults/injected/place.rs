//! Runs a server whose database, store and folders a test can inspect.

use std::path::{Path, PathBuf};

use server::config::SettingsArgs;
use server::database::{Database, Page};
use tempfile::TempDir;
use testkit::histories::aftermath;
use testkit::http::{Form, Reply};
use testkit::patience::ask_until;
use testkit::server::{Server, root};

/// Server in this process, on a folder that the test can read.
pub(crate) struct Place {
    pub(crate) server: Server,
    data: TempDir,
}

impl Place {
    /// Starts a server that records nothing and therefore refuses jobs.
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
            requests: Some(0),
            submissions: settings.submissions.or(Some(0)),
            ..settings
        });
        Self { server, data }
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        self.server.send_body("POST", path, headers, body)
    }

    pub(crate) fn share(&self, form: Form) -> Reply {
        self.post("/api/v1/shares", &[("Content-Type", &Form::content_type())], &form.finish())
    }

    /// Checks that the server still works and that nothing refused is in its database, store or folders.
    #[track_caller]
    pub(crate) fn check_untouched(&self) {
        check_no_files(&self.data.path().join("scratch"));
        check_no_files(&self.data.path().join("store"));
        assert_eq!(rows(self.data.path()), (0, 0, 0), "links, stored bytes, jobs");
        assert_eq!(self.server.get("/readyz", &[]).text(), "ok\n");
    }
}

/// Waits until there is no file below a folder, because files of a request may outlive its answer for a moment.
#[track_caller]
pub(crate) fn check_no_files(folder: &Path) {
    ask_until(|| files(folder), Vec::is_empty);
}

/// Returns the files below a folder, except lock files and the file with the store's name.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let is_own = |path: &PathBuf| path.file_name().is_some_and(|name| name != "lock" && name != "installation");
    aftermath::files(folder).into_iter().filter(is_own).collect()
}

/// Counts the links, stored bytes and jobs in the database of a folder.
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

pub(crate) fn snapshot() -> Vec<u8> {
    std::fs::read(root().join("tests/data/snapshots/torch2.15-basic-py311.pickle.gz")).expect("a snapshot")
}
