//! Sends requests over one persistent connection, as browsers do.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::loaded::AUTHORIZED;
use super::proxy;

/// Client with a connection that is reused for all requests.
pub(super) struct Client {
    stream: TcpStream,
    host: SocketAddr,
    received: Vec<u8>,
}

impl Client {
    /// Connects with the source address of client `number`.
    pub(super) async fn connect(number: u32, host: SocketAddr) -> Result<Self> {
        let stream = proxy::connect(number, host).await?;
        // As browsers do; otherwise small requests would wait for earlier ones to be acknowledged.
        stream.set_nodelay(true)?;
        Ok(Self { stream, host, received: Vec::new() })
    }

    /// Requests a path, reads the whole answer and returns its status.
    pub(super) async fn get(&mut self, path: &str) -> Result<u16> {
        let (name, value) = AUTHORIZED;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{name}: {value}\r\n\r\n", self.host);
        self.stream.write_all(request.as_bytes()).await?;
        self.received.clear();
        let head_bytes = loop {
            match self.received.windows(4).position(|window| window == b"\r\n\r\n") {
                Some(position) => break position + 4,
                None => self.receive().await?,
            }
        };
        let (status, body_bytes) = parse(&self.received[..head_bytes])?;
        while self.received.len() < head_bytes + body_bytes {
            self.receive().await?;
        }
        Ok(status)
    }

    async fn receive(&mut self) -> Result<()> {
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Returns the status and the length of the body.
fn parse(head: &[u8]) -> Result<(u16, usize)> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    status.zip(length).ok_or_else(|| Error::new(ErrorKind::InvalidData, head))
}
