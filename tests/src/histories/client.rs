//! Sends requests to a server that may be down or may die in the middle of an answer.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Time after which the client gives up on an answer and asks again.
const PATIENCE: Duration = Duration::from_secs(60);

/// Token that the servers under test demand for changes.
pub(super) const TOKEN: &str = "the-token-of-the-tests";

/// HTTP client with the current address of the server, whose port changes with every restart.
#[derive(Debug, Clone)]
pub struct Client(Arc<Mutex<SocketAddr>>);

/// Complete answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self(Arc::new(Mutex::new(address)))
    }

    pub fn go_to(&self, address: SocketAddr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }

    /// Sends a GET request; `None` without a complete answer.
    pub fn get(&self, path: &str) -> Option<Answer> {
        self.ask("GET", path, &[], &[])
    }

    /// Sends a POST request; `None` without a complete answer, although the request may have been processed.
    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Answer> {
        self.ask("POST", path, headers, body)
    }

    /// Sends a request with any method and with the server's token, unless a header overrides it.
    pub(super) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Answer> {
        let mut stream = self.send(method, path, headers, body)?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        whole(&answer)
    }

    /// Reads a stream for `time` or until it ends; returns its status and the text received.
    pub(super) fn listen(&self, path: &str, headers: &[(&str, &str)], time: Duration) -> Option<(u16, String)> {
        const MOMENT: Duration = Duration::from_millis(100);
        let mut stream = self.send("GET", path, headers, &[])?;
        stream.set_read_timeout(Some(MOMENT)).ok()?;
        let (start, mut heard, mut piece) = (Instant::now(), Vec::new(), [0; 16 << 10]);
        while start.elapsed() < time {
            match stream.read(&mut piece) {
                Ok(0) => break,
                Ok(bytes) => heard.extend_from_slice(&piece[..bytes]),
                // Nothing arrived within the read timeout.
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
        }
        let end = heard.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&heard[..end]).ok()?;
        Some((status_of(head)?, String::from_utf8_lossy(&heard[end + 4..]).into_owned()))
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<TcpStream> {
        let address = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stream = TcpStream::connect(address).ok()?;
        let bearer = format!("Bearer {TOKEN}");
        let own = headers.iter().all(|(name, _)| *name != "Authorization").then_some(("Authorization", &*bearer));
        let headers = headers.iter().copied().chain(own);
        let headers: String = headers.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).ok()?;
        // A server that refuses may answer before it has read the whole body.
        let _ = stream.write_all(body);
        Some(stream)
    }
}

/// Parses an answer if it has all the bytes that it announces.
fn whole(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?.to_ascii_lowercase();
    let status = status_of(&head)?;
    let body = &answer[end + 4..];
    // An answer with status 204 announces no length.
    let announced = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = announced.or((status == 204).then_some("0"))?;
    (body.len() == length.parse::<usize>().ok()?).then(|| Answer { status, body: body.to_vec() })
}

fn status_of(head: &str) -> Option<u16> {
    head.lines().next()?.split(' ').nth(1)?.parse().ok()
}
