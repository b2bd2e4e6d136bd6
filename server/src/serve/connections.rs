//! Ends connections that nobody reads, and those of an address that has too many.

use std::any::Any;

use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use ipnet::IpNet;
use rustix::net::Shutdown;

use crate::serve::guard::{network_of, plain};
use crate::serve::seats::Seats;

/// Time after which a connection with unacknowledged data is closed, in milliseconds.
#[cfg(target_os = "linux")]
const UNREAD_MS: u32 = 60_000;

/// Rules for new connections.
#[derive(Clone)]
pub(super) struct Connections {
    seats: Seats,
    /// Proxies connect for all their clients, so that they are not counted.
    proxies: Vec<IpNet>,
}

impl Connections {
    pub(super) fn new(proxies: Vec<IpNet>) -> Self {
        Self { seats: Seats::of_connections(), proxies }
    }

    /// Takes a seat, which is kept with the connection, or ends the connection if its address has too many.
    pub(super) fn accept(&self, connection: &dyn Any, kept: &mut Extensions) {
        let Some(stream) = connection.downcast_ref::<TcpStream>() else { return };
        end_when_nobody_reads(stream);
        let Ok(peer) = stream.peer_addr().map(|peer| plain(peer.ip())) else { return };
        if self.proxies.iter().any(|network| network.contains(&peer)) {
            return;
        }
        match self.seats.take(Some(network_of(peer))) {
            Some(seat) => drop(kept.insert(seat)),
            // A connection that the peer has left already needs no end.
            None => drop(rustix::net::shutdown(stream, Shutdown::Both)),
        }
    }
}

/// Lets the kernel close a connection whose peer does not read, which would otherwise hold a descriptor for ever.
fn end_when_nobody_reads(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    // If this fails, the connection still works.
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, UNREAD_MS);
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;
    use tokio::net::TcpListener;

    use super::*;

    /// Opens connections one after the other, and returns how many of them are left open.
    async fn opened(connections: &Connections, count: usize) -> usize {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut all = Vec::new();
        for _ in 0..count {
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (stream, mut kept) = (listener.accept().await.unwrap().0, Extensions::new());
            connections.accept(&stream, &mut kept);
            all.push((client, stream, kept));
        }
        let mut open = 0;
        for (client, _, kept) in &mut all {
            match kept.contains::<crate::serve::seats::Seat>() {
                true => open += 1,
                false => assert_eq!(client.read(&mut [0]).await.unwrap(), 0, "the end"),
            }
        }
        open
    }

    #[tokio::test]
    async fn connections_of_one_address_are_limited() {
        let connections = Connections { seats: Seats::new(usize::MAX, 2), proxies: Vec::new() };
        assert_eq!(opened(&connections, 4).await, 2);
        assert_eq!(opened(&connections, 1).await, 1, "the others are over");
    }
}
