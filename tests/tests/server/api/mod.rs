//! Tests the API under `/api/v1`, with a database and a store of the test's own.

mod guards;
mod jobs;
mod logs;
mod metrics;
mod openapi;
mod pages;
mod shares;

use testkit::server::Reply;

/// Checks the status and code of a refusal, and that its message and hint are sentences.
#[track_caller]
fn check_refusal(reply: &Reply, status: u16, code: &str, part: &str) {
    assert_eq!(reply.status, status, "{}", reply.text());
    let body = reply.json();
    assert_eq!(body["code"], code, "{body}");
    let message = body["message"].as_str().expect("a message");
    assert!(message.contains(part), "{part:?} in {message:?}");
    assert!(message.ends_with('.') && body["hint"].as_str().is_some_and(|hint| hint.ends_with('.')), "{body}");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
}
