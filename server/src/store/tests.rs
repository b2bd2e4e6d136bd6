//! Tests the addresses of stores and the names of objects.

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
    check_address("s3:///a", "has no bucket name");
    check_address("gs://a", "`gs://…`");
}

fn bucket(variables: &[(&str, &str)]) -> StoreAddress {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    StoreAddress::parse("s3://snapshots").unwrap().with_variables(BucketVariables::new(variables))
}

#[test]
fn secrets_are_not_shown() {
    let address = bucket(&[("AWS_SECRET_ACCESS_KEY", "hush"), ("HOME", "/home")]);
    let shown = format!("{address:?} {address}");
    assert!(shown.contains("AWS_SECRET_ACCESS_KEY") && !shown.contains("hush") && !shown.contains("HOME"), "{shown}");
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

/// Without a provider of cryptography, building the client would panic.
#[tokio::test]
async fn a_bucket_is_reached_through_tls() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("https://{}", listener.local_addr().unwrap());
    let address = bucket(&[("AWS_ENDPOINT", &endpoint), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")]);
    let store = Store::open(&address).unwrap();
    let first = async {
        let (mut connection, _) = listener.accept().await.unwrap();
        connection.read_u8().await.unwrap()
    };
    let handshake = tokio::select! {
        first = first => first,
        found = store.size("a") => panic!("nobody answers, but {found:?}"),
    };
    assert_eq!(handshake, 0x16, "the type of the record that begins a handshake");
}
