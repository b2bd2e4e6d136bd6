//! Groups calls, as PyTorch does for lists of tensors, and moves data among the calls of a group.
//!
//! PyTorch gathers a list by a broadcast from each rank, and exchanges parts by a message to and from each rank.
//! Every other rank is assumed to hold the same data as this one: what it broadcasts is what this rank does, and what it
//! sends here is what this rank sends to itself.

use std::cell::RefCell;
use std::ffi::c_int;

use super::communicator::Communicator;
use crate::ffi::Handle;
use crate::state::values::mirror;

/// Part of a call that moves data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// Gives data of this rank to another one, or to itself.
    Give,
    /// Takes data of another rank, or of this one.
    Take,
}

/// A buffer that a call of the group reads or writes.
#[derive(Debug, Clone, Copy)]
struct Part {
    kind: Move,
    communicator: usize,
    /// True if the other side is this rank.
    is_own: bool,
    buffer: Handle,
    bytes: usize,
}

/// The group that a thread has begun.
#[derive(Debug, Default)]
struct Group {
    depth: usize,
    parts: Vec<Part>,
}

thread_local! {
    static GROUP: RefCell<Group> = RefCell::default();
}

/// Notes a buffer of a call; outside of a group, there is no other call to move data from or to.
pub(super) fn note(kind: Move, communicator: &Communicator, peer: c_int, buffer: Handle, bytes: usize) {
    GROUP.with_borrow_mut(|group| {
        if group.depth > 0 {
            let is_own = peer == communicator.rank;
            let communicator = std::ptr::from_ref(communicator) as usize;
            group.parts.push(Part { kind, communicator, is_own, buffer, bytes });
        }
    });
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn ncclGroupStart() -> c_int {
    GROUP.with_borrow_mut(|group| group.depth += 1);
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn ncclGroupEnd() -> c_int {
    let parts = GROUP.with_borrow_mut(|group| {
        group.depth = group.depth.saturating_sub(1);
        if group.depth == 0 { std::mem::take(&mut group.parts) } else { Vec::new() }
    });
    for taken in parts.iter().filter(|part| part.kind == Move::Take) {
        let fits = |given: &&Part| {
            given.kind == Move::Give && given.communicator == taken.communicator && given.bytes == taken.bytes
        };
        let given = parts.iter().filter(fits).max_by_key(|given| given.is_own);
        if let Some(given) = given.filter(|given| given.buffer != taken.buffer) {
            mirror(taken.buffer, given.buffer, taken.bytes);
        }
    }
    0
}

/// Estimated cost of a group (`ncclSimInfo_t`).
#[repr(C)]
#[derive(Clone, Copy)]
struct Simulation {
    size: usize,
    magic: u32,
    version: u32,
    seconds: f32,
}

#[unsafe(no_mangle)]
extern "C" fn ncclGroupSimulateEnd(simulation: Option<&mut Simulation>) -> c_int {
    GROUP.with_borrow_mut(|group| *group = Group::default());
    if let Some(simulation) = simulation {
        simulation.seconds = 0.0;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(values: &mut [u8; 2]) -> Handle {
        values.as_mut_ptr().cast()
    }

    #[test]
    fn others_give_what_this_rank_gives_itself() {
        let communicator = Communicator { ranks: 2, rank: 1, certain_ranks: 2 };
        let (mut to_other, mut to_self, mut from_other, mut from_self) = ([1, 2], [3, 4], [0, 0], [0, 0]);
        ncclGroupStart();
        note(Move::Give, &communicator, 0, buffer(&mut to_other), 2);
        note(Move::Take, &communicator, 0, buffer(&mut from_other), 2);
        note(Move::Give, &communicator, 1, buffer(&mut to_self), 2);
        note(Move::Take, &communicator, 1, buffer(&mut from_self), 2);
        ncclGroupStart();
        ncclGroupEnd();
        assert_eq!(from_other, [0, 0], "the group has not ended");
        ncclGroupEnd();
        assert_eq!((from_other, from_self), ([3, 4], [3, 4]));
    }

    #[test]
    fn outside_of_a_group_nothing_is_kept() {
        let communicator = Communicator { ranks: 2, rank: 0, certain_ranks: 2 };
        let (mut given, mut taken) = ([1, 2], [0, 0]);
        note(Move::Give, &communicator, 1, buffer(&mut given), 2);
        ncclGroupStart();
        note(Move::Take, &communicator, 1, buffer(&mut taken), 2);
        ncclGroupEnd();
        assert_eq!(taken, [0, 0]);
    }
}
