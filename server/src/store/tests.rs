//! What a store keeps, lists and removes.

use super::*;

#[track_caller]
fn check_address(text: &str, expected: &str) {
    let said = StoreAddress::parse(text).map_or_else(|failure| failure.to_string(), |address| format!("{address:?}"));
    assert!(said.contains(expected), "{said}");
}

#[test]
fn addresses_are_folders_or_buckets() {
    check_address("data/store", r#"Folder("data/store")"#);
    check_address("s3://snapshots", r#"Bucket { bucket: "snapshots", prefix: "","#);
    check_address("s3://snapshots/team/a/", r#"Bucket { bucket: "snapshots", prefix: "team/a","#);
    check_address("s3:///a", "no name of a bucket");
    check_address("gs://a", "`gs://…`");
}

#[test]
fn secrets_are_not_shown() {
    let variables = [("AWS_SECRET_ACCESS_KEY", "hush"), ("HOME", "/home")];
    let variables = BucketVariables::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let address = StoreAddress::parse("s3://snapshots").unwrap().with_variables(variables);
    let shown = format!("{address:?} {address}");
    assert!(shown.contains("AWS_SECRET_ACCESS_KEY") && !shown.contains("hush") && !shown.contains("HOME"), "{shown}");
}

async fn content(store: &Store, object: &str) -> Vec<u8> {
    let (length, stream) = store.read(object).await.unwrap();
    let content = stream.try_collect::<Vec<_>>().await.unwrap().concat();
    assert_eq!(length, content.len() as u64);
    content
}

#[tokio::test]
async fn objects_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreAddress::Folder(folder.path().join("store"))).unwrap();
    store.ping().await.unwrap();
    let source = folder.path().join("source");
    // More than a part, so that it is put in several.
    let bytes: Vec<u8> = (0..PART_BYTES + 12_345).map(|index| (index % 251) as u8).collect();
    std::fs::write(&source, &bytes).unwrap();
    let name = Store::name("abcdef", "1");
    assert_eq!(name, "ab/abcdef-1.pickle.gz");
    assert_eq!(store.put(&name, &source).await.unwrap(), bytes.len() as u64);
    assert_eq!(content(&store, &name).await, bytes);
    let listed = store.list().try_collect::<Vec<_>>().await.unwrap();
    assert_eq!(listed.iter().map(|listed| listed.object.as_str()).collect::<Vec<_>>(), [name.as_str()]);
    store.remove(&name).await.unwrap();
    store.remove(&name).await.unwrap();
    assert_eq!(store.read(&name).await.err().unwrap().kind(), StoreErrorKind::NotFound);
}

#[tokio::test]
async fn a_name_stays_in_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreAddress::Folder(folder.path().join("store"))).unwrap();
    let source = folder.path().join("source");
    std::fs::write(&source, b"x").unwrap();
    let _ = store.put("../../outside", &source).await;
    assert!(!folder.path().join("outside").exists());
}
