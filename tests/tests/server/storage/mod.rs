//! Tests database and store alone, on each backend.

mod database;
mod store;

use server::database::Database;
use server::store::{Store, StoreAddress};
use testkit::storage::{Backend, Storage};

#[track_caller]
fn with_database(backend: Backend, test: impl AsyncFnOnce(Database)) {
    let storage = Storage::new(backend);
    let folder = tempfile::tempdir().expect("a folder");
    let in_file = || format!("sqlite:{}", folder.path().join("snapscope.sqlite").display());
    block_on(async {
        let database = Database::open(&storage.database.clone().unwrap_or_else(in_file)).await.expect("a database");
        test(database.clone()).await;
        database.close().await;
    });
}

#[track_caller]
fn with_store(backend: Backend, test: impl AsyncFnOnce(Store)) {
    let storage = Storage::new(backend);
    let folder = tempfile::tempdir().expect("a folder");
    let in_folder = || StoreAddress::Folder(folder.path().join("store"));
    let store = Store::open(&storage.store().unwrap_or_else(in_folder)).expect("a store");
    block_on(test(store));
}

fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test);
}
