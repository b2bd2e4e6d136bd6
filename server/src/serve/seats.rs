//! Limits what clients hold at the same time: connections, event streams, and findings that are being computed; ends
//! connections that nobody reads.

use std::any::Any;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use ipnet::IpNet;
use rustix::net::Shutdown;
use rustix::process::{Resource, getrlimit};

use crate::serve::guard::{network_of, plain};

/// Maximum number of event streams of all clients together.
const MOST_STREAMS: usize = 512;

/// Maximum number of event streams of one client; a browser opens up to six connections to a server.
const MOST_STREAMS_OF_ONE: usize = 32;

/// Maximum number of findings that wait or are being computed for one client, as of its uploads.
const MOST_FINDINGS_OF_ONE: usize = 4;

/// Maximum number of connections of one address, more than the browsers behind one address open.
const MOST_CONNECTIONS_OF_ONE: usize = 1024;

/// Numbers of seats that clients have taken.
#[derive(Debug, Clone)]
pub(crate) struct Seats {
    most: usize,
    most_of_one: usize,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    of_client: HashMap<Option<IpAddr>, usize>,
}

/// A permit, released on drop.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Seats,
    client: Option<IpAddr>,
}

impl Seats {
    pub(super) fn new(most: usize, most_of_one: usize) -> Self {
        Self { most, most_of_one, taken: Arc::default() }
    }

    pub(super) fn of_streams() -> Self {
        Self::new(MOST_STREAMS, MOST_STREAMS_OF_ONE)
    }

    pub(super) fn of_findings() -> Self {
        Self::new(usize::MAX, MOST_FINDINGS_OF_ONE)
    }

    /// Limits connections; one address has at most half of the descriptors of this process.
    pub(super) fn of_connections() -> Self {
        let descriptors = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| most as usize);
        Self::new(usize::MAX, MOST_CONNECTIONS_OF_ONE.min(descriptors / 2))
    }

    /// Returns one more permit, or `None` if a limit is reached.
    pub(crate) fn take(&self, client: Option<IpAddr>) -> Option<Seat> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.of_client.get(&client).copied().unwrap_or(0);
        if taken.all >= self.most || own >= self.most_of_one {
            return None;
        }
        taken.all += 1;
        taken.of_client.insert(client, own + 1);
        Some(Seat { seats: self.clone(), client })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        if let Some(own) = taken.of_client.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                taken.of_client.remove(&self.client);
            }
        }
    }
}

/// Time after which a connection with unacknowledged data is closed, in milliseconds.
#[cfg(target_os = "linux")]
const UNREAD_MS: u32 = 60_000;

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

    fn client(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([192, 0, 2, last]))
    }

    #[test]
    fn seats_are_limited_for_one_client_and_for_all() {
        let streams = Seats::of_streams();
        let mut seats: Vec<Seat> = (0..MOST_STREAMS_OF_ONE).map(|_| streams.take(client(1)).unwrap()).collect();
        assert!(streams.take(client(1)).is_none());
        seats.pop();
        seats.push(streams.take(client(1)).unwrap());
        for last in 2.. {
            let before = seats.len();
            seats.extend(std::iter::from_fn(|| streams.take(client(last))));
            if seats.len() == before {
                break;
            }
        }
        assert_eq!(seats.len(), MOST_STREAMS);
        drop(seats);
        assert!(streams.taken.lock().unwrap().of_client.is_empty());
    }

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
            match kept.contains::<Seat>() {
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
