//! Converts between numbers of objects and handles, which look like addresses and are the same in each run.
//!
//! Snapshots identify streams by their handles, and the caching allocator orders blocks by them; handles from the
//! host's heap would differ from run to run.

use super::stream::StreamId;
use super::thread;
use crate::error::{Error, Result};
use crate::ffi::Handle;

/// Kind of handle; the discriminant is the address below the first handle of the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Kind {
    Stream = 0x0a10_0000_0000,
    Event = 0x0a20_0000_0000,
    Graph = 0x0a30_0000_0000,
    /// An instantiated graph (`cudaGraphExec_t`).
    Executable = 0x0a40_0000_0000,
    /// An operation of a graph.
    Node = 0x0a50_0000_0000,
    Context = 0x0a60_0000_0000,
    Pool = 0x0a70_0000_0000,
    /// An object of the program that graphs keep alive.
    UserObject = 0x0a80_0000_0000,
}

/// Distance between two handles, as between objects in memory.
const STRIDE: usize = 0x40;

/// Size of the address range of one kind.
const ROOM: usize = 0x10_0000_0000;

impl Kind {
    pub(crate) fn handle(self, number: usize) -> Handle {
        (self as u64 as usize + (number + 1) * STRIDE) as Handle
    }

    /// Returns the number of a handle.
    ///
    /// # Errors
    /// Returns "invalid handle" if the value is null or is not a handle of this kind.
    pub(crate) fn number(self, handle: Handle) -> Result<usize> {
        let distance = (handle as usize).wrapping_sub(self as u64 as usize);
        let is_one = (STRIDE..ROOM).contains(&distance) && distance.is_multiple_of(STRIDE);
        if is_one { Ok(distance / STRIDE - 1) } else { Err(Error::InvalidHandle) }
    }
}

/// Returns the stream of a handle; null, 1 and 2 mean the default stream of the current device.
///
/// # Errors
/// Returns "invalid handle" for any other value that is not a stream's handle.
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
