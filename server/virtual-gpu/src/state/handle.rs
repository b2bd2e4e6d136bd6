//! Handles: numbers that look like addresses, and are the same in each run.
//!
//! Snapshots tell streams by their handles, and the caching allocator orders blocks by them: handles that came from the
//! host's heap would differ from run to run.

use super::stream::StreamId;
use super::thread;
use crate::error::{Error, Result};
use crate::ffi::Handle;

/// A kind of handle: where its numbers begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Kind {
    /// A stream.
    Stream = 0x0a10_0000_0000,
    /// An event.
    Event = 0x0a20_0000_0000,
    /// A graph.
    Graph = 0x0a30_0000_0000,
    /// A graph that can be launched.
    Executable = 0x0a40_0000_0000,
    /// An operation of a graph.
    Node = 0x0a50_0000_0000,
    /// A context of a device.
    Context = 0x0a60_0000_0000,
    /// A memory pool.
    Pool = 0x0a70_0000_0000,
    /// An object that graphs keep alive.
    UserObject = 0x0a80_0000_0000,
}

/// Handles are this far apart, as objects in memory would be.
const STRIDE: usize = 0x40;

/// Numbers of one kind.
const ROOM: usize = 0x10_0000_0000;

impl Kind {
    /// The handle of a number.
    pub(crate) fn handle(self, number: usize) -> Handle {
        (self as u64 as usize + (number + 1) * STRIDE) as Handle
    }

    /// The number of a handle.
    ///
    /// # Errors
    /// Another kind's handle, or none at all, is invalid.
    pub(crate) fn number(self, handle: Handle) -> Result<usize> {
        let distance = (handle as usize).wrapping_sub(self as u64 as usize);
        let is_one = (STRIDE..ROOM).contains(&distance) && distance.is_multiple_of(STRIDE);
        if is_one { Ok(distance / STRIDE - 1) } else { Err(Error::InvalidHandle) }
    }
}

/// The stream of a handle: null, 1 and 2 mean the default stream of the current device.
///
/// # Errors
/// What is no stream's handle is invalid.
pub(crate) fn stream_of(handle: Handle) -> Result<StreamId> {
    if (handle as usize) <= 2 { Ok(thread::device()) } else { Kind::Stream.number(handle) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_lead_back_to_numbers_of_their_kind() {
        for number in [0, 1, 77_777] {
            assert_eq!(Kind::Event.number(Kind::Event.handle(number)), Ok(number));
            assert_eq!(Kind::Stream.number(Kind::Event.handle(number)), Err(Error::InvalidHandle));
        }
        assert_eq!(Kind::Event.number(std::ptr::null_mut()), Err(Error::InvalidHandle));
    }
}
