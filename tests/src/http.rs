//! Sends hand-written HTTP requests, which may be invalid, and returns the answers as they came.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use serde_json::json;
use shared::api::ErrorCode;

use crate::patience::PATIENCE;

/// Answer as received, without decompression or redirects.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// Headers in order, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body as it was sent.
    pub body: Vec<u8>,
}

impl Reply {
    /// Returns the value of a header that may occur at most once.
    #[track_caller]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let value = values.next();
        assert_eq!(values.next(), None, "{name} is there twice");
        value
    }

    /// Parses the body as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
    }

    /// Returns the body as text.
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }
}

/// Checks that a refusal has this code with its status, sentences as message and hint, and is not cached.
#[track_caller]
pub fn check_refusal(reply: &Reply, code: ErrorCode, part: &str) {
    assert_eq!(reply.status, code.answer().0, "{}", reply.text());
    let body = reply.json();
    assert_eq!(body["code"], code.name(), "{body}");
    let message = body["message"].as_str().expect("a message");
    assert!(message.contains(part), "{part:?} in {message:?}");
    for sentence in [message, body["hint"].as_str().expect("a hint")] {
        assert!(sentence.ends_with('.') && !sentence.ends_with("?.") && !sentence.ends_with(".."), "{sentence}");
    }
    assert_eq!(reply.header("cache-control"), Some("no-store"));
}

/// Sends a request over a new connection.
#[track_caller]
pub fn send(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    let stream = TcpStream::connect(address).expect("the server to listen");
    exchange(stream, address, method, path, headers, &[])
}

/// Sends a request with a body over a new connection.
#[track_caller]
pub fn send_body(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let stream = TcpStream::connect(address).expect("the server to listen");
    send_body_over(stream, address, method, path, headers, body)
}

/// Sends a request with a body over an open connection to the server at `address`.
#[track_caller]
pub fn send_body_over(
    stream: TcpStream,
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Reply {
    let length = body.len().to_string();
    let headers = [&[("Content-Length", length.as_str())], headers].concat();
    exchange(stream, address, method, path, &headers, body)
}

#[track_caller]
fn exchange(
    mut stream: TcpStream,
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Reply {
    let extra: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let host = match headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        true => String::new(),
        false => format!("Host: {address}\r\n"),
    };
    let request = format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{extra}\r\n");
    stream.write_all(request.as_bytes()).expect("the request to go out");
    // A server that has read enough answers and closes before it has read the whole body.
    let _ = stream.write_all(body);
    answer(stream).expect("an answer")
}

/// Sends bytes that need not be a request, closes the sending side and waits for an answer.
#[track_caller]
pub fn raw(address: SocketAddr, bytes: &[u8]) -> Option<Reply> {
    let mut stream = TcpStream::connect(address).expect("the server to listen");
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    answer(stream)
}

/// Reads an answer until the connection ends; `None` if nothing arrives.
#[track_caller]
pub fn answer(mut stream: TcpStream) -> Option<Reply> {
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error} while waiting for an answer");
    }
    (!answer.is_empty()).then(|| parse(&dechunked(answer)))
}

fn dechunked(answer: Vec<u8>) -> Vec<u8> {
    let Some(end) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { return answer };
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    if !head.contains("transfer-encoding: chunked") {
        return answer;
    }
    let mut whole = answer[..end + 4].to_vec();
    let mut rest = &answer[end + 4..];
    while let Some(line) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&rest[..line]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size) = size.filter(|size| *size > 0 && line + 2 + size <= rest.len()) else { break };
        whole.extend_from_slice(&rest[line + 2..line + 2 + size]);
        rest = rest.get(line + 4 + size..).unwrap_or_default();
    }
    whole
}

#[track_caller]
fn parse(answer: &[u8]) -> Reply {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("the end of the headers");
    let head = std::str::from_utf8(&answer[..end]).expect("headers in ASCII");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut reply = Reply { status: status.expect("a status line"), headers, body: answer[end + 4..].to_vec() };
    // Later bytes belong to the answer to another request.
    if let Some(length) = reply.header("content-length").and_then(|length| length.parse().ok()) {
        reply.body.truncate(length);
    }
    reply
}

/// Text between the parts, which occurs in no part.
const BOUNDARY: &str = "a-boundary-that-is-in-no-part";

/// Body of type `multipart/form-data`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form(Vec<u8>);

impl Form {
    /// Returns the `Content-Type` header value of [`Form::finish`].
    pub fn content_type() -> String {
        format!("multipart/form-data; boundary={BOUNDARY}")
    }

    /// Returns an upload that creates a shared link.
    pub fn share(snapshot: &[u8]) -> Self {
        let view = json!({"title": "a run", "view_state": "v1;device=0", "days": 7}).to_string();
        Self::default().part("view", view.as_bytes()).file("snapshot", "run.pickle.gz", snapshot)
    }

    pub fn part(self, name: &str, content: &[u8]) -> Self {
        self.with(format!("name=\"{name}\"").as_bytes(), content)
    }

    /// Adds a file; its name is sent without escaping.
    pub fn file(self, name: &str, file_name: impl AsRef<[u8]>, content: &[u8]) -> Self {
        let start = format!("name=\"{name}\"; filename=\"");
        self.with(&[start.as_bytes(), file_name.as_ref(), b"\""].concat(), content)
    }

    fn with(mut self, disposition: &[u8], content: &[u8]) -> Self {
        let line = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; ");
        for piece in [line.as_bytes(), disposition, b"\r\n\r\n", content, b"\r\n"] {
            self.0.extend_from_slice(piece);
        }
        self
    }

    pub fn finish(self) -> Vec<u8> {
        [self.0, format!("--{BOUNDARY}--\r\n").into_bytes()].concat()
    }
}
