//! Limits the number of open event streams, each of which holds a connection.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::serve::client::Client;

/// Maximum number of streams of all clients together.
const MOST: usize = 512;

/// Maximum number of streams of one client; a browser opens up to six connections to a server.
const MOST_OF_ONE: usize = 32;

/// Number of open streams per client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<Option<IpAddr>, usize>>>);

/// The permit of an open stream, released on drop.
#[derive(Debug)]
pub(crate) struct Seat {
    streams: Streams,
    client: Option<IpAddr>,
}

impl Streams {
    /// Returns a permit for one more stream, or `None` if a limit is reached.
    pub(crate) fn take_seat(&self, client: Option<Client>) -> Option<Seat> {
        let client = client.map(|client| client.0);
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = open.values().sum();
        let own = open.get(&client).copied().unwrap_or(0);
        if all >= MOST || own >= MOST_OF_ONE {
            return None;
        }
        open.insert(client, own + 1);
        Some(Seat { streams: self.clone(), client })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(last: u8) -> Option<Client> {
        Some(Client(IpAddr::from([192, 0, 2, last])))
    }

    #[test]
    fn a_client_has_so_many_and_all_have_so_many() {
        let streams = Streams::default();
        let mut seats: Vec<Seat> = (0..MOST_OF_ONE).map(|_| streams.take_seat(client(1)).unwrap()).collect();
        assert!(streams.take_seat(client(1)).is_none());
        seats.pop();
        seats.push(streams.take_seat(client(1)).unwrap());
        for last in 2.. {
            let more = std::iter::from_fn(|| streams.take_seat(client(last)));
            let before = seats.len();
            seats.extend(more);
            if seats.len() == before {
                break;
            }
        }
        assert_eq!(seats.len(), MOST);
        drop(seats);
        assert!(streams.0.lock().unwrap().is_empty());
    }
}
