//! Room for uploads: what each may come to is held back before its body is read.
//!
//! Otherwise many uploads at once would fill the disk, and find out one by one that the store has no room for them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Uploads of one client under way, each from its first byte to its answer: people share one after the other.
const MOST_OF_ONE: usize = 4;

/// What all uploads hold.
#[derive(Debug, Clone, Default)]
pub struct Room(Arc<Mutex<Held>>);

/// What the uploads that are under way hold together.
#[derive(Debug, Default)]
struct Held {
    /// What they may come to, in bytes.
    bytes: u64,
    /// The part of it that is yet to be written to the disk.
    unwritten_bytes: u64,
    /// How many there are of each client that is counted.
    clients: HashMap<IpAddr, usize>,
    /// What was kept when it was asked for last.
    kept_bytes: u64,
}

/// What one upload holds, until this is dropped.
#[derive(Debug)]
pub struct Place {
    room: Room,
    client: Option<IpAddr>,
    bytes: u64,
    unwritten_bytes: u64,
}

/// What is held in all, this upload included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// What uploads may come to, in bytes.
    pub bytes: u64,
    /// The part of it that is yet to be written.
    pub unwritten_bytes: u64,
}

impl Room {
    /// Holds so many bytes back for an upload; a client that is named is counted.
    ///
    /// What the store has is to be asked for after this: an upload that ends in between is counted twice then, and
    /// never left out.
    ///
    /// Returns `None` where this client has as many uploads under way as one may.
    pub fn hold(&self, client: Option<IpAddr>, bytes: u64) -> Option<(Place, Holding)> {
        let mut held = self.held();
        if let Some(client) = client {
            let own = held.clients.entry(client).or_default();
            if *own >= MOST_OF_ONE {
                return None;
            }
            *own += 1;
        }
        held.bytes += bytes;
        held.unwritten_bytes += bytes;
        let holding = Holding { bytes: held.bytes, unwritten_bytes: held.unwritten_bytes };
        Some((Place { room: self.clone(), client, bytes, unwritten_bytes: bytes }, holding))
    }

    /// What was kept when it was asked for last, in bytes.
    pub fn kept_bytes(&self) -> u64 {
        self.held().kept_bytes
    }

    /// Notes what is kept now.
    pub fn note_kept(&self, bytes: u64) {
        self.held().kept_bytes = bytes;
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Notes that so many bytes are on the disk now.
    pub fn wrote(&mut self, bytes: u64) {
        let bytes = bytes.min(self.unwritten_bytes);
        self.unwritten_bytes -= bytes;
        self.room.held().unwritten_bytes -= bytes;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.room.held();
        held.bytes -= self.bytes;
        held.unwritten_bytes -= self.unwritten_bytes;
        let Some(client) = self.client else { return };
        if let Some(own) = held.clients.get_mut(&client) {
            *own -= 1;
            if *own == 0 {
                held.clients.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_goes_with_its_upload() {
        let room = Room::default();
        let (mut first, _) = room.hold(None, 100).unwrap();
        first.wrote(60);
        let (second, holding) = room.hold(None, 7).unwrap();
        assert_eq!(holding, Holding { bytes: 107, unwritten_bytes: 47 });
        // A form has more bytes than its snapshot; one without a length is held to the limit.
        first.wrote(1000);
        drop(first);
        assert_eq!(room.hold(None, 0).unwrap().1, Holding { bytes: 7, unwritten_bytes: 7 });
        drop(second);
        assert_eq!(room.hold(None, 0).unwrap().1, Holding { bytes: 0, unwritten_bytes: 0 });
    }

    #[test]
    fn a_client_has_so_many() {
        let room = Room::default();
        let client = |last| Some(IpAddr::from([192, 0, 2, last]));
        let mut places: Vec<Place> = (0..MOST_OF_ONE).map(|_| room.hold(client(1), 1).unwrap().0).collect();
        assert!(room.hold(client(1), 1).is_none() && room.hold(client(2), 1).is_some() && room.hold(None, 1).is_some());
        places.pop();
        assert!(room.hold(client(1), 1).is_some());
        drop(places);
        assert!(room.held().clients.is_empty());
    }
}
