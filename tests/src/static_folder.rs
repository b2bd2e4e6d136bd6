//! Serves plain files as a static web host does, without any knowledge of Snapscope.

use std::fs;
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Function from a path below the prefix to the bytes served for it, `None` for 404.
pub type Answer = Box<dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync>;

/// HTTP server below a path prefix, which stops when dropped; files are read on request.
pub struct StaticFolder {
    address: SocketAddr,
    prefix: &'static str,
    is_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StaticFolder {
    /// Serves a folder below `prefix`, such as `/tools/snapscope/`; other paths do not exist.
    pub fn serve(folder: &Path, prefix: &'static str) -> Self {
        let folder = folder.to_owned();
        Self::answering(prefix, Box::new(move |path| file(&folder, path)))
    }

    /// Serves what a function returns.
    pub fn answering(prefix: &'static str, answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let is_ended = Arc::new(AtomicBool::new(false));
        let (answer, ended) = (Arc::new(answer), is_ended.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let answer = Arc::clone(&answer);
                // Browsers open connections that they never use, and these must not block the others.
                std::thread::spawn(move || stream.and_then(|stream| reply(stream, &answer, prefix)));
            }
        });
        Self { address, prefix, is_ended, thread: Some(thread) }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{}{path}", self.address, self.prefix)
    }
}

impl Drop for StaticFolder {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn reply(stream: TcpStream, answer: &Answer, prefix: &str) -> Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let target = request.split(' ').nth(1).unwrap_or_default();
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let path = path.strip_prefix(prefix);
    let (status, bytes) = match path.and_then(answer) {
        Some(bytes) => ("200 OK", bytes),
        None => ("404 Not Found", b"nothing here".to_vec()),
    };
    let (content_type, length) = (content_type(path.unwrap_or_default()), bytes.len());
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    (&stream).write_all(head.as_bytes())?;
    (&stream).write_all(&bytes)
}

/// Reads a file below a folder, or its `index.html`.
pub fn file(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let is_inside = !path.starts_with('/') && !path.split('/').any(|part| part == "..");
    is_inside.then(|| fs::read(folder.join(if path.is_empty() { "index.html" } else { path })).ok()).flatten()
}

fn content_type(path: &str) -> &'static str {
    match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        None if path.is_empty() => "text/html; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css",
        Some("js" | "mjs") => "text/javascript",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::send;

    #[test]
    fn a_folder_is_served_and_nothing_above_it() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("page")).expect("room");
        fs::write(folder.path().join("secret.js"), "no").expect("room");
        fs::write(folder.path().join("page/index.html"), "<p>here").expect("room");
        let site = StaticFolder::serve(&folder.path().join("page"), "/");
        let page = send(site.address, "GET", "/?a=b", &[]);
        assert_eq!((page.status, page.text()), (200, "<p>here"));
        assert_eq!(send(site.address, "GET", "/../secret.js", &[]).status, 404);
        assert_eq!(content_type("a/b.wasm"), "application/wasm");
    }
}
