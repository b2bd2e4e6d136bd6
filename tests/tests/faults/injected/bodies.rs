//! Tests bodies that contradict their headers, stop early, or arrive very slowly.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};

use shared::api::ErrorCode;
use testkit::http::{self, Form, Reply, check_refusal};

use crate::injected::place::{Place, snapshot};

/// Returns the head of a request with a body; `length` is the line about its length.
fn head(place: &Place, path: &str, content_type: &str, length: &str) -> Vec<u8> {
    let host = place.server.address();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: {content_type}\r\n{length}\r\n\r\n"
    )
    .into_bytes()
}

/// Sends an upload with this length line and these bytes.
fn share(place: &Place, length: &str, body: &[u8]) -> Option<Reply> {
    let head = head(place, "/api/v1/shares", &Form::content_type(), length);
    http::raw(place.server.address(), &[head.as_slice(), body].concat())
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

#[test]
fn a_body_of_another_length_than_it_says_leaves_nothing() {
    let place = Place::new();
    let body = Form::share(&snapshot()).finish();
    for length in [body.len() + 1, body.len() + 1_000_000, usize::MAX / 4] {
        let reply = share(&place, &format!("Content-Length: {length}"), &body[..body.len() - 10]);
        check_refusal(&reply.expect("an answer"), ErrorCode::BadRequest, "interrupted");
    }
    let reply = share(&place, &format!("Content-Length: {}", body.len() / 2), &body);
    check_refusal(&reply.expect("an answer"), ErrorCode::BadRequest, "");
    let halves = body.split_at(body.len() / 2);
    let whole = [chunk(halves.0), chunk(halves.1), b"0\r\n\r\n".to_vec()].concat();
    let without_end = &whole[..whole.len() - 5];
    let cut = &chunk(halves.0)[..1000];
    let nonsense = [chunk(halves.0), b"a gross\r\n".to_vec()].concat();
    for body in [cut, &nonsense, without_end] {
        let reply = share(&place, "Transfer-Encoding: chunked", body);
        let reply = reply.unwrap_or_else(|| panic!("an answer to {} bytes", body.len()));
        check_refusal(&reply, ErrorCode::BadRequest, "interrupted");
    }
    place.check_untouched();
    assert_eq!(share(&place, "Transfer-Encoding: chunked", &whole).map(|reply| reply.status), Some(201));
}

#[test]
fn lengths_that_contradict_each_other_are_no_requests() {
    let place = Place::new();
    for length in [
        "Content-Length: -1",
        "Content-Length: 1e3",
        "Content-Length: 99999999999999999999999999",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, identity",
    ] {
        let reply = share(&place, length, b"hello");
        assert_eq!(reply.map(|reply| reply.status), Some(400), "{length}");
    }
    place.check_untouched();
}

#[test]
fn whoever_goes_leaves_nothing_and_whoever_crawls_is_sent_away() {
    let place = Place::new();
    let body = Form::share(&snapshot()).finish();
    for how in [Shutdown::Both, Shutdown::Write] {
        let mut stream = TcpStream::connect(place.server.address()).unwrap();
        let length = format!("Content-Length: {}", body.len());
        stream.write_all(&head(&place, "/api/v1/shares", &Form::content_type(), &length)).unwrap();
        stream.write_all(&body[..body.len() / 2]).unwrap();
        stream.shutdown(how).unwrap();
    }
    let length = format!("Content-Length: {}", body.len());
    let open = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(place.server.address()).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    };
    // All at once: each waits for its answer, and the server is blocked by none of them.
    let upload = open(&[&head(&place, "/api/v1/shares", &Form::content_type(), &length), &body[..100]].concat());
    let job = open(&[head(&place, "/api/v1/jobs", "text/plain", "Content-Length: 100"), b"model".to_vec()].concat());
    let form = open(&head(&place, "/api/v1/jobs", &Form::content_type(), "Content-Length: 100"));
    let headers = open(b"GET / HTTP/1.1\r\nX-Slow: ");
    let nothing = open(b"");
    assert_eq!(place.server.get("/healthz", &[]).status, 200);
    for stream in [upload, job, form] {
        check_refusal(&http::answer(stream).expect("an answer"), ErrorCode::TooSlow, "too slowly");
    }
    assert_eq!(http::answer(headers).map(|reply| reply.status), Some(408));
    assert_eq!(http::answer(nothing).map(|reply| reply.status), Some(408));
    place.check_untouched();
}
