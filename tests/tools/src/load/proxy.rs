//! Runs HAProxy in front of the server, as a TLS proxy is in production.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::net::{TcpSocket, TcpStream};

/// Timeout of the start.
const PATIENCE: Duration = Duration::from_secs(10);

/// HAProxy process, killed when dropped.
pub(super) struct Proxy {
    child: Child,
    _folder: TempDir,
    pub(super) address: SocketAddr,
}

impl Proxy {
    /// Starts a proxy that forwards everything to a server and names the client.
    pub(super) fn start(address: SocketAddr, server: SocketAddr) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("haproxy.cfg");
        std::fs::write(&config, text(address, server)).expect("room");
        let mut haproxy = Command::new("haproxy");
        let child = haproxy.arg("-db").arg("-f").arg(&config).stderr(Stdio::null()).spawn().expect("haproxy");
        let proxy = Self { child, _folder: folder, address };
        let start = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            assert!(start.elapsed() < PATIENCE, "the proxy does not listen at {address}");
            std::thread::sleep(Duration::from_millis(20));
        }
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(address: SocketAddr, server: SocketAddr) -> String {
    format!(
        "global\n  maxconn 4096\ndefaults\n  mode http\n  timeout connect 5s\n  timeout client 120s\n  \
         timeout server 120s\n  option forwardfor\n  http-reuse safe\nlisten snapscope\n  bind {address}\n  \
         server snapscope {server}\n"
    )
}

pub(super) fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port")
}

/// Connects with an address per client: all of 127.0.0.0/8 is the local machine.
pub(super) async fn connect(client: u32, address: SocketAddr) -> std::io::Result<TcpStream> {
    let source = Ipv4Addr::from_bits(Ipv4Addr::new(127, 0, 1, 1).to_bits() + client);
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(source.into(), 0))?;
    socket.connect(address).await
}
