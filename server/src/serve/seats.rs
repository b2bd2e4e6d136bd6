//! Limits what clients hold at the same time: connections, event streams, and findings that are being computed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Resource, getrlimit};

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

#[cfg(test)]
mod tests {
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
            let more = std::iter::from_fn(|| streams.take(client(last)));
            let before = seats.len();
            seats.extend(more);
            if seats.len() == before {
                break;
            }
        }
        assert_eq!(seats.len(), MOST_STREAMS);
        drop(seats);
        assert!(streams.taken.lock().unwrap().of_client.is_empty());
    }
}
