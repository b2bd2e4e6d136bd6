//! A client that takes a server for what it is: there, gone, or gone in the middle of an answer.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take before the client gives up on it and asks again.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the server listens at this moment: a server that comes back has another port.
#[derive(Debug, Clone)]
pub(crate) struct Client(Arc<Mutex<SocketAddr>>);

/// An answer that came whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self(Arc::new(Mutex::new(address)))
    }

    /// The server has moved.
    pub(crate) fn go_to(&self, address: SocketAddr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }

    /// Asks for a path; `None` where no whole answer comes.
    pub(crate) fn get(&self, path: &str) -> Option<Answer> {
        self.ask("GET", path, &[], &[])
    }

    /// Sends a body; `None` where no whole answer comes: it may have arrived all the same.
    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Answer> {
        self.ask("POST", path, headers, body)
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Answer> {
        let address = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).ok()?;
        // A server that refuses may answer before it has read all.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        whole(&answer)
    }
}

/// An answer with all of the bytes that it announces.
fn whole(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?.to_ascii_lowercase();
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let length: usize = lines.find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
    let body = &answer[end + 4..];
    (body.len() == length).then(|| Answer { status, body: body.to_vec() })
}
