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
use actix_web::web::Data;
use server::config::SettingsArgs;
use server::serve::{Signals, Site};
use tempfile::TempDir;

use crate::repro::built_recorder;

/// How long a request may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(30);

/// The app on a free port of this machine, in a thread of this process, until it is dropped.
pub struct Server {
    address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    _data: TempDir,
}

impl Server {
    /// Serves a folder in the layout of `target/dist`.
    ///
    /// # Panics
    ///
    /// The folder cannot be served.
    #[track_caller]
    pub fn start(dist: &Path) -> Self {
        Self::with(SettingsArgs { dist: Some(dist.to_owned()), jobs: Some(String::new()), ..SettingsArgs::default() })
    }

    /// Serves with settings; the port, and a folder for its data where none is named, are its own.
    ///
    /// # Panics
    ///
    /// It cannot be served.
    #[track_caller]
    pub fn with(settings: SettingsArgs) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let settings = SettingsArgs {
            listen: Some("127.0.0.1:0".to_owned()),
            data: settings.data.clone().or_else(|| Some(data.path().to_owned())),
            grace: settings.grace.clone().or_else(|| Some("0s".to_owned())),
            ..settings
        };
        let mut config = settings.resolve().expect("settings");
        config.program = snapscope().to_owned();
        if !config.worker.slots.is_empty() {
            config.recorder = built_recorder().clone();
        }
        let site = Data::new(Site::load(&config.dist).expect("the folder to be readable"));
        let (started, start) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            server::worker::runtime().expect("threads").block_on(async move {
                let server = server::serve::start(config, site, Signals::LeftAlone).await.expect("a server");
                started.send((server.addresses[0], server.handle())).expect("the test to wait");
                server.run().await.expect("the server to run");
            });
        });
        let (address, handle) = start.recv().expect("the server to start");
        Self { address, handle, thread: Some(thread), _data: data }
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

    /// Sends a request with a body.
    ///
    /// # Panics
    ///
    /// The server does not answer.
    #[track_caller]
    pub fn send_body(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let length = body.len().to_string();
        let headers = [&[("Content-Length", length.as_str())], headers].concat();
        exchange(self.address, method, path, &headers, body)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
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

    /// The body as JSON.
    ///
    /// # Panics
    ///
    /// The body is no JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
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
    exchange(address, method, path, headers, &[])
}

#[track_caller]
fn exchange(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).expect("the server to listen");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let extra: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let host = match headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        true => String::new(),
        false => format!("Host: {address}\r\n"),
    };
    let request = format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{extra}\r\n");
    stream.write_all(request.as_bytes()).expect("the request to go out");
    // A server that has heard enough answers and closes before it has read all.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    parse(&dechunked(answer))
}

/// An answer whose body came in pieces, as one.
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
    Reply { status: status.expect("a status line"), headers, body: answer[end + 4..].to_vec() }
}

/// The binary `snapscope serve` in a process of its own, killed when dropped.
pub struct ServeProcess {
    child: Child,
    _data: TempDir,
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
        let data = tempfile::tempdir().expect("a folder");
        let mut child = Command::new(snapscope())
            .args(["serve", "--log", "warn", "--listen", "127.0.0.1:0", "--jobs", "virtual=0", "--dist"])
            .arg(dist)
            .arg("--data")
            .arg(data.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary to start");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("Snapscope: http://").and_then(|address| address.parse().ok());
        Self { child, _data: data, address: address.unwrap_or_else(|| panic!("an address, not {line:?}")) }
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
