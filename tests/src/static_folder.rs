//! Serves plain files as a static web host does, without any knowledge of Snapscope.

use std::fs;
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// HTTP server of a folder below a path prefix, which stops when dropped; files are read on request.
pub struct StaticFolder {
    address: SocketAddr,
    prefix: &'static str,
    is_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StaticFolder {
    /// Serves a folder below `prefix`, such as `/tools/snapscope/`; other paths do not exist.
    ///
    /// # Panics
    ///
    /// Panics if there is no free port.
    pub fn serve(folder: &Path, prefix: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let is_ended = Arc::new(AtomicBool::new(false));
        let (folder, ended) = (folder.to_owned(), is_ended.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let folder = folder.clone();
                // Browsers open connections that they never use, and these must not block the others.
                std::thread::spawn(move || stream.and_then(|stream| answer(stream, &folder, prefix)));
            }
        });
        Self { address, prefix, is_ended, thread: Some(thread) }
    }

    /// Returns the URL of a path in the folder.
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

/// Answers one request and closes the connection.
fn answer(stream: TcpStream, folder: &Path, prefix: &str) -> Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let target = request.split(' ').nth(1).unwrap_or_default();
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let file = path.strip_prefix(prefix).and_then(|path| file_of(folder, path));
    let (status, bytes) = match file.as_ref().and_then(|file| fs::read(file).ok()) {
        Some(bytes) => ("200 OK", bytes),
        None => ("404 Not Found", b"nothing here".to_vec()),
    };
    let content_type = content_type(file.as_deref().unwrap_or(Path::new("")));
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        bytes.len()
    );
    (&stream).write_all(head.as_bytes())?;
    (&stream).write_all(&bytes)
}

fn file_of(folder: &Path, path: &str) -> Option<PathBuf> {
    let is_inside = !path.starts_with('/') && !path.split('/').any(|part| part == "..");
    is_inside.then(|| folder.join(if path.is_empty() { "index.html" } else { path }))
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("css") => "text/css",
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
