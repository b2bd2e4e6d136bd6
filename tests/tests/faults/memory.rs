//! Many large uploads at once: they go through the server, and do not stay in its memory.

use testkit::bench::peak_memory_bytes;
use testkit::form::Form;
use testkit::http;
use testkit::padded::padded;
use testkit::serving::{Launch, ServeProcess};

/// A hundred uploads of 5 MB are 500 MB; the server may have this much in memory at any time.
const MOST_BYTES: u64 = 300_000_000;

#[test]
fn a_hundred_uploads_at_once_stay_out_of_memory() {
    let launch = Launch::default().with("--requests", "0").with("--submissions", "0");
    let server = ServeProcess::launch(&launch);
    let address = server.address;
    let upload = |seed| {
        let headers = [("Content-Type", &*Form::content_type())];
        let reply = http::send_body(
            address,
            "POST",
            "/api/v1/shares",
            &headers,
            &Form::share(&padded(5_000_000, seed)).finish(),
        );
        assert_eq!(reply.status, 201, "{}", reply.text());
    };
    std::thread::scope(|scope| (0..100).for_each(|seed| drop(scope.spawn(move || upload(seed)))));
    let peak_bytes = peak_memory_bytes(server.pid()).expect("Linux");
    assert!(peak_bytes < MOST_BYTES, "{peak_bytes} bytes");
    assert_eq!(crate::place::files(&server.data().join("store")).len(), 100);
    crate::place::check_no_files(&server.data().join("scratch"));
}
