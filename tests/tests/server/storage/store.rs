//! Tests storing, listing and removing objects.

use std::io::Write as _;

use futures_util::TryStreamExt as _;
use server::store::{BucketVariables, Store, StoreAddress, StoreErrorKind};
use tempfile::NamedTempFile;
use testkit::both;
use testkit::s3::S3;
use testkit::storage::Backend;

use crate::storage::with_store;

/// Larger than one part, so that it is uploaded in several.
const LARGE: usize = 9 << 20;

async fn content(store: &Store, object: &str) -> Vec<u8> {
    let (length, stream) = store.read(object).await.unwrap();
    let content = stream.try_collect::<Vec<_>>().await.unwrap().concat();
    assert_eq!(length, content.len() as u64);
    content
}

fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("room");
    file
}

fn objects_come_and_go(backend: Backend) {
    with_store(backend, async |store| {
        store.ping().await.unwrap();
        let bytes: Vec<u8> = (0..LARGE).map(|index| (index % 251) as u8).collect();
        let name = Store::name("abcdef", "1");
        assert_eq!(name, "ab/abcdef-1.pickle.gz");
        assert_eq!(store.put(&name, file(&bytes).path()).await.unwrap(), bytes.len() as u64);
        assert_eq!(content(&store, &name).await, bytes);
        let listed = store.list().try_collect::<Vec<_>>().await.unwrap();
        assert_eq!(listed.iter().map(|listed| listed.object.as_str()).collect::<Vec<_>>(), [name.as_str()]);
        store.remove(&name).await.unwrap();
        store.remove(&name).await.unwrap();
        assert_eq!(store.read(&name).await.err().unwrap().kind(), StoreErrorKind::NotFound);
    });
}

fn lists_are_whole(backend: Backend) {
    with_store(backend, async |store| {
        let source = file(b"x");
        // More than a bucket lists at once.
        const MANY: usize = 1100;
        for number in 0..MANY {
            store.put(&Store::name(&format!("{number:04x}"), "1"), source.path()).await.unwrap();
        }
        assert_eq!(store.list().try_collect::<Vec<_>>().await.unwrap().len(), MANY);
    });
}

fn what_is_discarded_stays_in_the_trash_for_a_while(backend: Backend) {
    with_store(backend, async |store| {
        assert_eq!(store.installation().await.unwrap(), None);
        store.set_installation("here").await.unwrap();
        assert_eq!(store.installation().await.unwrap().as_deref(), Some("here"));
        let name = Store::name("abcdef", "1");
        store.put(&name, file(b"x").path()).await.unwrap();
        assert_eq!(store.size(&name).await.unwrap(), Some(1));
        store.discard(&name, 1000).await.unwrap();
        assert_eq!(store.size(&name).await.unwrap(), None);
        assert!(store.list().try_collect::<Vec<_>>().await.unwrap().is_empty());
        assert_eq!(store.empty_trash(1000).await.unwrap(), 0);
        assert_eq!(store.empty_trash(1001).await.unwrap(), 1);
        assert_eq!(store.installation().await.unwrap().as_deref(), Some("here"), "nothing else goes");
    });
}

both!(objects_come_and_go, lists_are_whole, what_is_discarded_stays_in_the_trash_for_a_while);

#[test]
fn a_store_that_takes_nothing_is_told_at_the_start() {
    let bucket = S3::start();
    let others = bucket.variables().into_iter().map(|(name, value)| match &*name {
        "AWS_SECRET_ACCESS_KEY" => (name, "another".to_owned()),
        _ => (name, value),
    });
    let address = StoreAddress::parse(&bucket.store()).expect("an address");
    let closed = address.with_variables(BucketVariables::new(others));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    assert!(runtime.block_on(Store::connect(&bucket.address())).is_ok());
    let failure = runtime.block_on(Store::connect(&closed)).expect_err("the key is wrong");
    assert!(failure.message.contains("s3://snapshots"), "{}", failure.message);
    assert!(failure.hint.contains("`store`"), "{}", failure.hint);
}
