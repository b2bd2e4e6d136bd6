//! Tests concurrent uploads: none blocks the others, and together they stay within the limits.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::Compression;
use server::config::SettingsArgs;
use shared::api::ErrorCode;
use testkit::http::{Form, check_refusal};
use testkit::padded::{gzip, padded};
use testkit::patience::wait_until;

use crate::injected::place::{Place, check_no_files, files, snapshot};

/// Returns a huge HTML page of `members` concatenated gzip members with 16 MiB each, compressed to a thousandth.
fn bomb(members: usize) -> Vec<u8> {
    let zeros = gzip(&vec![0; 16 << 20], Compression::best());
    [gzip(b"<", Compression::best()), zeros.repeat(members)].concat()
}

#[test]
fn bombs_hold_up_nobody() {
    let place = Place::new();
    let bomb = bomb(600);
    assert!(bomb.len() > 8 << 20, "as large as what may take a minute");
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| {
                let reply = place.share(Form::share(&bomb));
                answered.fetch_add(1, Ordering::Relaxed);
                check_refusal(&reply, ErrorCode::InvalidSnapshot, "unpacks to more than");
            });
        }
        wait_until("an upload begins", || !files(&place.data().join("scratch")).is_empty());
        assert_eq!(place.share(Form::share(&snapshot())).status, 201);
        assert!(answered.load(Ordering::Relaxed) < 5, "it had to wait for all of them");
    });
    check_no_files(&place.data().join("scratch"));
}

#[test]
fn a_snapshot_that_the_store_has_lost_is_gone() {
    let place = Place::new();
    let made = place.share(Form::share(&snapshot())).json();
    let link = format!("/api/v1/shares/{}", made["token"].as_str().expect("a token"));
    let stored = files(&place.data().join("store"));
    assert_eq!(stored.len(), 1);
    std::fs::remove_file(&stored[0]).expect("a snapshot");
    let reply = place.server.get(&format!("{link}/snapshot"), &[]);
    check_refusal(&reply, ErrorCode::Gone, "has lost");
    assert!(reply.text().contains("share it again"), "{}", reply.text());
    assert_eq!(place.server.get(&link, &[]).status, 200);
    // Another upload of the same bytes restores all links to it.
    assert_eq!(place.share(Form::share(&snapshot())).status, 201);
    assert_eq!(place.server.get(&format!("{link}/snapshot"), &[]).body, snapshot());
    assert_eq!(files(&place.data().join("store")).len(), 1);
}

/// Upload whose last bytes do not arrive until it is dropped.
struct Begun(TcpStream);

impl Begun {
    /// Begins to share a snapshot and waits until it arrives in the scratch folder.
    #[track_caller]
    fn new(place: &Place, snapshot: &[u8]) -> Self {
        let scratch = place.data().join("scratch");
        let before = files(&scratch).len();
        let body = Form::share(snapshot).finish();
        let mut stream = TcpStream::connect(place.server.address()).expect("the server to listen");
        let (address, content_type, length) = (place.server.address(), Form::content_type(), body.len());
        let head = format!("Host: {address}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n");
        let request = [b"POST /api/v1/shares HTTP/1.1\r\n", head.as_bytes(), &body[..length / 2]].concat();
        stream.write_all(&request).expect("the request to go out");
        wait_until("the upload begins", || files(&scratch).len() > before);
        Self(stream)
    }

    /// Closes the connection and waits until the upload is removed.
    fn end(self, place: &Place) {
        drop(self.0);
        check_no_files(&place.data().join("scratch"));
    }
}

#[test]
fn uploads_under_way_count_in_the_quota() {
    let place = Place::with(SettingsArgs { quota: Some("1MiB".to_owned()), ..SettingsArgs::default() });
    let (first, second) = (padded(700 << 10, 1), padded(600 << 10, 2));
    let begun = Begun::new(&place, &first);
    // It is refused before its body is read, so nothing of it is written.
    check_refusal(&place.share(Form::share(&second)), ErrorCode::NoRoom, "uploads in progress");
    assert_eq!(files(&place.data().join("scratch")).len(), 1);
    assert_eq!(place.share(Form::share(&padded(100 << 10, 3))).status, 201);
    begun.end(&place);
    assert_eq!(place.share(Form::share(&second)).status, 201);
    check_refusal(&place.share(Form::share(&first)), ErrorCode::NoRoom, "quota of the store");
}

#[test]
fn one_address_has_half_of_the_quota_at_once() {
    let settings = SettingsArgs { quota: Some("1MiB".to_owned()), submissions: Some(1000), ..SettingsArgs::default() };
    let place = Place::with(settings);
    let begun = Begun::new(&place, &padded(400 << 10, 1));
    let refused = place.share(Form::share(&padded(200 << 10, 2)));
    check_refusal(&refused, ErrorCode::TooManyRequests, "half of the store's quota");
    assert_eq!(place.share(Form::share(&padded(50 << 10, 3))).status, 201);
    begun.end(&place);
    assert_eq!(place.share(Form::share(&padded(600 << 10, 4))).status, 201, "one alone may be larger");
}

#[test]
fn one_address_has_some_uploads_at_once() {
    let place = Place::with(SettingsArgs { submissions: Some(1000), ..SettingsArgs::default() });
    let mut begun: Vec<Begun> = (0..4).map(|seed| Begun::new(&place, &padded(10_000, seed))).collect();
    let reply = place.share(Form::share(&padded(10_000, 9)));
    check_refusal(&reply, ErrorCode::TooManyRequests, "limit of simultaneous uploads");
    assert!(reply.header("retry-after").is_some());
    drop(begun.pop());
    let again = || place.share(Form::share(&padded(10_000, 9))).status;
    wait_until("what broke off no longer counts", || again() != 429);
    begun.into_iter().for_each(|begun| drop(begun.0));
    check_no_files(&place.data().join("scratch"));
    assert_eq!(place.share(Form::share(&padded(10_000, 10))).status, 201);
}
