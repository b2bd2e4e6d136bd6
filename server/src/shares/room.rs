//! Reserves disk space for each upload before its body is read.
//!
//! Without it, many simultaneous uploads would fill the disk before each finds that the store is full.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of simultaneous uploads of one client; people usually share one file after another.
const MOST_OF_ONE: usize = 4;

/// The reservations of all uploads.
#[derive(Debug, Clone, Default)]
pub struct Room(Arc<Mutex<Held>>);

/// Sums over the uploads in progress.
#[derive(Debug, Default)]
struct Held {
    /// Maximum total size of the uploads, in bytes.
    bytes: u64,
    /// Part of `bytes` that is not on the disk yet.
    unwritten_bytes: u64,
    /// Number of uploads per counted client, and their maximum total size in bytes.
    clients: HashMap<IpAddr, (usize, u64)>,
    /// Kept bytes as last reported.
    kept_bytes: u64,
}

/// The reservation of one upload, released on drop.
#[derive(Debug)]
pub struct Place {
    room: Room,
    client: Option<IpAddr>,
    bytes: u64,
    unwritten_bytes: u64,
}

/// Total reservations, including that of this upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// Maximum total size of the uploads, in bytes.
    pub bytes: u64,
    /// Part of `bytes` that is not on the disk yet.
    pub unwritten_bytes: u64,
    /// Part of `bytes` that other uploads of the same client hold.
    pub others_of_client_bytes: u64,
}

impl Room {
    /// Reserves space for an upload and counts it for `client` if given.
    ///
    /// Query the usage of the store only after this call: an upload that ends in between is then counted twice, which
    /// is safe, and never omitted.
    ///
    /// Returns `None` if this client has reached its number of simultaneous uploads.
    pub fn hold(&self, client: Option<IpAddr>, bytes: u64) -> Option<(Place, Holding)> {
        let mut held = self.held();
        let mut others_of_client_bytes = 0;
        if let Some(client) = client {
            let (count, own_bytes) = held.clients.entry(client).or_default();
            if *count >= MOST_OF_ONE {
                return None;
            }
            others_of_client_bytes = *own_bytes;
            *count += 1;
            *own_bytes += bytes;
        }
        held.bytes += bytes;
        held.unwritten_bytes += bytes;
        let holding = Holding { bytes: held.bytes, unwritten_bytes: held.unwritten_bytes, others_of_client_bytes };
        Some((Place { room: self.clone(), client, bytes, unwritten_bytes: bytes }, holding))
    }

    pub fn kept_bytes(&self) -> u64 {
        self.held().kept_bytes
    }

    pub fn note_kept(&self, bytes: u64) {
        self.held().kept_bytes = bytes;
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Records that `bytes` more are on the disk now.
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
        if let Some((count, own_bytes)) = held.clients.get_mut(&client) {
            *count -= 1;
            *own_bytes -= self.bytes;
            if *count == 0 {
                held.clients.remove(&client);
            }
        }
    }
}

/// Returns the free bytes on a folder's disk; if unknown, the maximum, so that writing reports the error.
pub fn free_bytes(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
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
        assert_eq!((holding.bytes, holding.unwritten_bytes), (107, 47));
        // A form has more bytes than its snapshot; the reservation of one without a length is the limit itself.
        first.wrote(1000);
        drop(first);
        let held = || room.hold(None, 0).map(|(_, holding)| (holding.bytes, holding.unwritten_bytes));
        assert_eq!(held(), Some((7, 7)));
        drop(second);
        assert_eq!(held(), Some((0, 0)));
        // Uploads of one client are limited.
        let client = |last| Some(IpAddr::from([192, 0, 2, last]));
        let mut places: Vec<Place> = (0..MOST_OF_ONE).map(|_| room.hold(client(1), 1).unwrap().0).collect();
        assert!(room.hold(client(1), 1).is_none() && room.hold(client(2), 1).is_some() && room.hold(None, 1).is_some());
        places.pop();
        let (last, holding) = room.hold(client(1), 1).unwrap();
        assert_eq!(holding.others_of_client_bytes, MOST_OF_ONE as u64 - 1);
        drop((places, last));
        assert!(room.held().clients.is_empty());
    }
}
