//! Records traces over Chromium's DevTools protocol, through a minimal WebSocket client.
//!
//! chromedriver passes commands on, but not the events in which a trace is returned. The traces that chromedriver
//! collects itself have to arrive within 30 s, or it ends the session.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use testkit::process;

/// Read timeout of the connection.
const PATIENCE: Duration = Duration::from_mins(2);

/// DevTools connection to Chromium.
#[derive(Debug)]
pub(super) struct DevTools {
    stream: BufReader<TcpStream>,
    last_id: u64,
}

impl DevTools {
    /// Connects to the Chromium that descends from the process `ancestor`.
    pub(super) fn of(ancestor: u32) -> Result<Self, String> {
        const FOLDER: &str = "--user-data-dir=";
        let folder = process::argument_below(ancestor, FOLDER).ok_or("no Chromium was started")?;
        let port = fs::read_to_string(format!("{folder}/DevToolsActivePort")).map_err(|error| error.to_string())?;
        let (port, path) = port.trim().split_once('\n').ok_or("Chromium does not say where its tools listen")?;
        Self::connect(&format!("127.0.0.1:{port}"), path).map_err(|error| format!("Chromium's tools: {error}"))
    }

    fn connect(address: &str, path: &str) -> std::io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        // A fixed key is safe: it guards against caching proxies, and there is none on the loopback interface.
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )?;
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line)?;
        if !line.contains(" 101 ") {
            return Err(std::io::Error::other(format!("it answered {line:?}")));
        }
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line)?;
        }
        Ok(Self { stream, last_id: 0 })
    }

    /// Starts a trace of the given categories.
    pub(super) fn start_trace(&mut self, categories: &[&str]) -> Result<(), String> {
        let config = json!({ "includedCategories": categories, "excludedCategories": ["*"] });
        let id = self.send("Tracing.start", json!({ "transferMode": "ReportEvents", "traceConfig": config }))?;
        loop {
            let message = self.receive()?;
            if message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(format!("Chromium traces nothing: {error}")),
                    None => Ok(()),
                };
            }
        }
    }

    /// Ends the trace and returns its events.
    pub(super) fn stop_trace(&mut self) -> Result<Vec<Value>, String> {
        self.send("Tracing.end", json!({}))?;
        let mut events = Vec::new();
        loop {
            let mut message = self.receive()?;
            match message["method"].as_str() {
                Some("Tracing.dataCollected") => {
                    if let Value::Array(part) = message["params"]["value"].take() {
                        events.extend(part);
                    }
                }
                Some("Tracing.tracingComplete") => return Ok(events),
                _ => {}
            }
        }
    }

    fn send(&mut self, method: &str, parameters: Value) -> Result<u64, String> {
        self.last_id += 1;
        let text = json!({ "id": self.last_id, "method": method, "params": parameters }).to_string();
        let frame = frame(text.as_bytes());
        self.stream.get_mut().write_all(&frame).map_err(|error| format!("Chromium's tools: {error}"))?;
        Ok(self.last_id)
    }

    fn receive(&mut self) -> Result<Value, String> {
        let bytes = read_message(&mut self.stream).map_err(|error| format!("Chromium's tools: {error}"))?;
        serde_json::from_slice(&bytes).map_err(|error| format!("Chromium's tools: {error}"))
    }
}

/// Encodes a text as one client frame with a zero mask (RFC 6455, section 5.2).
fn frame(text: &[u8]) -> Vec<u8> {
    const FINAL_TEXT: u8 = 0x81;
    const MASKED: u8 = 0x80;
    let mut frame = vec![FINAL_TEXT];
    match text.len() {
        len @ 0..=125 => frame.push(MASKED | len as u8),
        len @ 126..=0xFFFF => {
            frame.push(MASKED | 126);
            frame.extend((len as u16).to_be_bytes());
        }
        len => {
            frame.push(MASKED | 127);
            frame.extend((len as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(text);
    frame
}

/// Reads the next message of the server, joining its frames and skipping control frames.
fn read_message(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    const FINAL: u8 = 0x80;
    const CONTROL: u8 = 0x08;
    let mut message = Vec::new();
    loop {
        let [first, len] = read(stream)?;
        let len = match len & 0x7F {
            126 => u64::from(u16::from_be_bytes(read(stream)?)),
            127 => u64::from_be_bytes(read(stream)?),
            len => u64::from(len),
        };
        let mut part = Vec::new();
        stream.by_ref().take(len).read_to_end(&mut part)?;
        if part.len() as u64 != len {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if first & CONTROL == 0 {
            message.extend(part);
            if first & FINAL != 0 {
                return Ok(message);
            }
        }
    }
}

fn read<const N: usize>(stream: &mut impl Read) -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_each_length_come_back_joined_and_without_pings() {
        for len in [0, 125, 126, 65_535, 65_536] {
            let text = vec![b'x'; len];
            let mut masked = frame(&text);
            // Server frames have no mask: neither the mask bit nor the four mask bytes.
            masked[1] &= 0x7F;
            let header = masked.len() - len - 4;
            masked.drain(header..header + 4);
            assert_eq!(read_message(&mut &masked[..]).expect("a message"), text, "{len}");
            masked.pop();
            assert!(len == 0 || read_message(&mut &masked[..]).is_err(), "{len}");
        }
        let bytes = [0x01, 2, b'a', b'b', 0x89, 1, b'!', 0x80, 1, b'c'];
        assert_eq!(read_message(&mut &bytes[..]).expect("a message"), b"abc");
    }
}
