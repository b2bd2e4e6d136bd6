//! Serves another viewer's files over HTTP, as its own host would.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// HTTP server on a free local port, which stops when dropped.
#[derive(Debug)]
pub(super) struct Site {
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
}

/// Function from a path to the bytes served for it, `None` for 404.
pub(super) type Answer = Box<dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync>;

impl Site {
    /// Starts a server that answers with `answer`.
    ///
    /// # Panics
    ///
    /// Panics if there is no free port.
    pub(super) fn new(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the port");
        let is_closed = Arc::new(AtomicBool::new(false));
        let (closed, answer) = (Arc::clone(&is_closed), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if closed.load(Ordering::Relaxed) {
                    return;
                }
                // Browsers open connections in advance that may stay silent, so each connection has a thread.
                let answer = Arc::clone(&answer);
                // A connection that breaks off is the browser's decision and no error here.
                std::thread::spawn(move || drop(reply(stream, &answer)));
            }
        });
        Self { address, is_closed }
    }

    /// Returns the URL of the root page.
    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// Serves the files of a folder, with `index.html` for the root.
pub(super) fn files(folder: PathBuf) -> Answer {
    Box::new(move |path| file(&folder, path))
}

/// Reads a file below a folder.
pub(super) fn file(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let path = path.trim_start_matches('/');
    if path.split('/').any(|part| part == "..") {
        return None;
    }
    fs::read(folder.join(if path.is_empty() { "index.html" } else { path })).ok()
}

fn reply(mut stream: TcpStream, answer: &Answer) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let target = request.split(' ').nth(1).unwrap_or("/");
    let path = target.split(['?', '#']).next().unwrap_or(target);
    let (status, body) = match answer(path) {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", Vec::new()),
    };
    let (kind, len) = (media_type(path), body.len());
    write!(stream, "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(&body)
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "js" | "mjs" => "text/javascript",
        "css" => "text/css",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "" | "html" => "text/html; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::http::send;

    #[test]
    fn a_folder_is_served_and_nothing_above_it() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("page")).expect("room");
        fs::write(folder.path().join("secret.js"), "no").expect("room");
        fs::write(folder.path().join("page/index.html"), "<p>here").expect("room");
        let site = Site::new(files(folder.path().join("page")));
        let page = send(site.address, "GET", "/?a=b", &[]);
        assert_eq!((page.status, page.text()), (200, "<p>here"));
        assert_eq!(send(site.address, "GET", "/../secret.js", &[]).status, 404);
        assert_eq!(media_type("/a/b.wasm"), "application/wasm");
    }
}
