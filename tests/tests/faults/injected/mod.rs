//! Tests faults around the server: each gets a clear answer, nothing is lost, and nothing is left over.

mod bodies;
mod clock;
mod configs;
mod disk;
mod forms;
mod jobs;
mod memory;
mod place;
mod quota;
mod requests;
mod snapshots;
mod store;
mod uploads;

use testkit::http::Reply;

/// Checks that a refusal has this status and code, sentences as message and hint, and is not cached.
#[track_caller]
fn check_refusal(reply: &Reply, status: u16, code: &str, part: &str) {
    assert_eq!(reply.status, status, "{}", reply.text());
    let body = reply.json();
    assert_eq!(body["code"], code, "{body}");
    let message = body["message"].as_str().expect("a message");
    assert!(message.contains(part), "{part:?} in {message:?}");
    for sentence in [message, body["hint"].as_str().expect("a hint")] {
        let ends = sentence.ends_with(['.', '?']) && !sentence.ends_with("?.") && !sentence.ends_with("..");
        assert!(ends, "{sentence}");
    }
    assert_eq!(reply.header("cache-control"), Some("no-store"));
}
