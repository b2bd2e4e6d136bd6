//! The server under test: in this process, or as the binary.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::rt::System;
use actix_web::{HttpServer, web::Data};
use server::serve::{Site, create_app};

/// How long a request may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(30);

/// The app on a free port of this machine, in a thread of this process, until it is dropped.
pub struct Server {
    address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves a folder in the layout of `target/dist`.
    ///
    /// # Panics
    ///
    /// The folder cannot be served.
    #[track_caller]
    pub fn start(dist: &Path) -> Self {
        let site = Data::new(Site::load(dist).expect("the folder to be readable"));
        let (started, start) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            System::new().block_on(async move {
                let server = HttpServer::new(move || create_app(site.clone()))
                    .workers(2)
                    .disable_signals()
                    .shutdown_timeout(0)
                    .bind("127.0.0.1:0")
                    .expect("a free port");
                let address = server.addrs()[0];
                let server = server.run();
                started.send((address, server.handle())).expect("the test to wait");
                server.await.expect("the server to run");
            });
        });
        let (address, handle) = start.recv().expect("the server to start");
        Self { address, handle, thread: Some(thread) }
    }

    /// Serves the page that `./dev` built.
    ///
    /// # Panics
    ///
    /// The page is not built.
    #[track_caller]
    pub fn with_page() -> Self {
        Self::start(&built_page())
    }

    /// The full address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Asks for a path with further headers, and reads the whole answer.
    #[track_caller]
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.send("GET", path, headers)
    }

    /// Sends a request without a body; path and headers go out exactly as given.
    ///
    /// # Panics
    ///
    /// The server does not answer.
    #[track_caller]
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        send(self.address, method, path, headers)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let handle = self.handle.clone();
        System::new().block_on(handle.stop(false));
        if let Some(thread) = self.thread.take() {
            // A panic in it was reported by its own thread.
            let _ = thread.join();
        }
    }
}

/// An answer as it came over the wire: nothing is decompressed or followed.
#[derive(Debug)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it was sent.
    pub body: Vec<u8>,
}

impl Reply {
    /// The value of a header that the answer has at most once.
    ///
    /// # Panics
    ///
    /// The header is there twice.
    #[track_caller]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let value = values.next();
        assert_eq!(values.next(), None, "{name} is there twice");
        value
    }

    /// The body as text.
    ///
    /// # Panics
    ///
    /// The body is not UTF-8.
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }
}

/// Sends one request over a connection of its own.
///
/// # Panics
///
/// The server does not answer, or not in HTTP/1.1.
#[track_caller]
pub fn send(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut stream = TcpStream::connect(address).expect("the server to listen");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let extra: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{extra}\r\n");
    stream.write_all(request.as_bytes()).expect("the request to go out");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    parse(&answer)
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
    Reply { status: status.expect("a status line"), headers, body: answer[end + 4..].to_vec() }
}

/// The binary `snapscope serve` in a process of its own, killed when dropped.
pub struct ServeProcess {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl ServeProcess {
    /// Starts the binary on a free port and waits until it says where.
    ///
    /// # Panics
    ///
    /// The binary ends without listening.
    #[track_caller]
    pub fn start(dist: &Path) -> Self {
        let mut child = Command::new(snapscope())
            .args(["serve", "--log", "warn", "--listen", "127.0.0.1:0", "--dist"])
            .arg(dist)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary to start");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("Snapscope: http://").and_then(|address| address.parse().ok());
        Self { child, address: address.unwrap_or_else(|| panic!("an address, not {line:?}")) }
    }

    /// Sends a signal by name and returns the exit status.
    ///
    /// # Panics
    ///
    /// The process cannot be signalled.
    #[track_caller]
    pub fn stop(mut self, signal: &str) -> Option<i32> {
        let kill = Command::new("kill").args([format!("-{signal}"), self.child.id().to_string()]).status();
        assert!(kill.expect("kill").success());
        self.child.wait().expect("the process to end").code()
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary `snapscope`, built from the sources as they are.
///
/// # Panics
///
/// The build fails.
#[track_caller]
pub fn snapscope() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| built("snapscope"))
}

/// Builds a binary and returns where it is.
///
/// Cargo builds binaries for the tests of their own package only; asking it here keeps every test from a stale one.
///
/// # Panics
///
/// The build fails.
#[track_caller]
pub fn built(binary: &str) -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--workspace", "--bin", binary])
        .current_dir(root())
        .status();
    assert!(built.expect("cargo").success(), "building the binary `{binary}` failed");
    let test = std::env::current_exe().expect("the path of this test");
    // target/debug/deps/test → target/debug/snapscope
    test.ancestors().nth(2).expect("a target folder").join(binary)
}

/// The page that `./dev` built.
///
/// # Panics
///
/// There is none.
#[track_caller]
pub fn built_page() -> PathBuf {
    let dist = root().join("target/dist");
    assert!(dist.join("index.html").is_file(), "the page is not built: run the tests by `./dev test`");
    dist
}

/// The top folder of the sources.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
