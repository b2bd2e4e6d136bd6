//! Implements collectives: what this rank sends is what it receives from every other rank.

use std::ffi::c_int;

use super::communicator::{Communicator, INVALID_ARGUMENT};
use super::group::{Move, note};
use crate::answers::launched_on;
use crate::ffi::{Handle, Out};
use crate::state::values::mirror;
use crate::stub::harmless;

/// Returns the size of an element of an `ncclDataType_t`, in bytes.
fn element_bytes(data_type: c_int) -> Option<usize> {
    match data_type {
        0 | 1 | 10 | 11 => Some(1), // int8, uint8, two kinds of float8
        6 | 9 => Some(2),           // float16, bfloat16
        2 | 3 | 7 => Some(4),       // int32, uint32, float32
        4 | 5 | 8 => Some(8),       // int64, uint64, float64
        _ => None,
    }
}

/// The buffers of this rank in a collective, and the size of one rank's part of them.
struct Exchange<'a> {
    communicator: &'a Communicator,
    send: Handle,
    receive: Handle,
    part_bytes: usize,
    stream: Handle,
}

impl<'a> Exchange<'a> {
    /// Creates an exchange; returns `None` without a communicator, for an unknown data type, or if the size overflows.
    fn new(
        communicator: Option<&'a Communicator>,
        (send, receive): (Handle, Handle),
        count: usize,
        data_type: c_int,
        stream: Handle,
    ) -> Option<Self> {
        let part_bytes = count.checked_mul(element_bytes(data_type)?)?;
        Some(Self { communicator: communicator?, send, receive, part_bytes, stream })
    }

    /// Copies one part, unless source and destination are the same.
    fn copy(&self, receive_part: usize, send_part: usize) {
        let to = self.receive.wrapping_byte_add(receive_part * self.part_bytes);
        let from = self.send.wrapping_byte_add(send_part * self.part_bytes);
        if to != from {
            mirror(to, from, self.part_bytes);
        }
    }

    fn ranks(&self) -> usize {
        usize::try_from(self.communicator.certain_ranks).unwrap_or(0)
    }

    fn rank(&self) -> usize {
        usize::try_from(self.communicator.rank).unwrap_or(0)
    }
}

/// Runs an exchange as one operation of its stream, and returns NCCL's status.
fn run(exchange: Option<Exchange<'_>>, copies: impl FnOnce(&Exchange<'_>)) -> c_int {
    let Some(exchange) = exchange else { return INVALID_ARGUMENT };
    launched_on(exchange.stream);
    copies(&exchange);
    0
}

/// Gathers the parts of all ranks, each of which is a copy of this rank's part.
#[unsafe(no_mangle)]
extern "C" fn ncclAllGather(
    send: Handle,
    receive: Handle,
    count: usize,
    data_type: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    run(Exchange::new(communicator, (send, receive), count, data_type, stream), |exchange| {
        // This rank's part comes last, because in an in-place gather it is the source of the others.
        let own = exchange.rank();
        (0..exchange.ranks()).filter(|rank| *rank != own).for_each(|rank| exchange.copy(rank, 0));
        exchange.copy(own, 0);
    })
}

/// Gathers like [`ncclAllGather`] if this rank is the root, or else does nothing.
#[unsafe(no_mangle)]
extern "C" fn ncclGather(
    send: Handle,
    receive: Handle,
    count: usize,
    data_type: c_int,
    root: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    if communicator.is_some_and(|communicator| communicator.rank == root) {
        return ncclAllGather(send, receive, count, data_type, communicator, stream);
    }
    run(Exchange::new(communicator, (send, receive), count, data_type, stream), |_| ())
}

/// Reduces to this rank's own values, as if the other ranks held zeros; `PreMulSum` does not scale.
#[unsafe(no_mangle)]
extern "C" fn ncclAllReduce(
    send: Handle,
    receive: Handle,
    count: usize,
    data_type: c_int,
    _operation: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    run(Exchange::new(communicator, (send, receive), count, data_type, stream), |exchange| exchange.copy(0, 0))
}

/// Reduces like [`ncclAllReduce`] if this rank is the root, or else does nothing.
#[unsafe(no_mangle)]
extern "C" fn ncclReduce(
    send: Handle,
    receive: Handle,
    count: usize,
    data_type: c_int,
    _operation: c_int,
    root: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    run(Exchange::new(communicator, (send, receive), count, data_type, stream), |exchange| {
        if exchange.communicator.rank == root {
            exchange.copy(0, 0);
        }
    })
}

/// Returns this rank's part of the sum, which is its part of what it sends.
#[unsafe(no_mangle)]
extern "C" fn ncclReduceScatter(
    send: Handle,
    receive: Handle,
    count: usize,
    data_type: c_int,
    _operation: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    run(Exchange::new(communicator, (send, receive), count, data_type, stream), |exchange| {
        exchange.copy(0, exchange.rank());
    })
}

/// Broadcasts this rank's own values, whichever rank is the root.
#[unsafe(no_mangle)]
extern "C" fn ncclBroadcast(
    send: Handle,
    receive: Handle,
    count: usize,
    data_type: c_int,
    root: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    run(Exchange::new(communicator, (send, receive), count, data_type, stream), |exchange| {
        exchange.copy(0, 0);
        if exchange.communicator.rank == root {
            note(Move::Give, exchange.communicator, root, send, exchange.part_bytes);
        } else {
            note(Move::Take, exchange.communicator, root, receive, exchange.part_bytes);
        }
    })
}

/// Broadcasts in place, which moves nothing.
#[unsafe(no_mangle)]
extern "C" fn ncclBcast(
    buffer: Handle,
    count: usize,
    data_type: c_int,
    root: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    ncclBroadcast(buffer, buffer, count, data_type, root, communicator, stream)
}

/// Exchanges parts with all ranks, each of which sends what this rank sends to itself.
#[unsafe(no_mangle)]
extern "C" fn ncclAlltoAll(
    send: Handle,
    receive: Handle,
    count: usize,
    data_type: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    run(Exchange::new(communicator, (send, receive), count, data_type, stream), |exchange| {
        (0..exchange.ranks()).for_each(|rank| exchange.copy(rank, exchange.rank()));
    })
}

/// Sends a part to a rank; a message that the same group receives can carry it.
#[unsafe(no_mangle)]
extern "C" fn ncclSend(
    buffer: Handle,
    count: usize,
    data_type: c_int,
    peer: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    run(Exchange::new(communicator, (buffer, buffer), count, data_type, stream), |exchange| {
        note(Move::Give, exchange.communicator, peer, buffer, exchange.part_bytes);
    })
}

/// Receives a part from a rank.
#[unsafe(no_mangle)]
extern "C" fn ncclRecv(
    buffer: Handle,
    count: usize,
    data_type: c_int,
    peer: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    run(Exchange::new(communicator, (buffer, buffer), count, data_type, stream), |exchange| {
        note(Move::Take, exchange.communicator, peer, buffer, exchange.part_bytes);
    })
}

/// Returns the first number after the built-in operations, for a sum with a factor.
#[unsafe(no_mangle)]
extern "C" fn ncclRedOpCreatePreMulSum(operation: Out<c_int>) -> c_int {
    /// `ncclNumOps`.
    const FIRST: c_int = 5;
    operation.put_if_wanted(FIRST);
    0
}

harmless! { ncclRedOpDestroy }

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::super::group::{ncclGroupEnd, ncclGroupStart};
    use super::*;

    /// `ncclFloat32`.
    const FLOAT: c_int = 7;

    fn rank(rank: c_int, ranks: c_int) -> Communicator {
        Communicator { ranks, rank, certain_ranks: ranks }
    }

    // Host memory stands in for device memory, because it is copied in the same way.
    fn start(values: &mut [f32]) -> Handle {
        values.as_mut_ptr().cast()
    }

    #[test]
    fn every_part_of_a_gather_is_the_own_one() {
        let (mut own, mut all) = ([3.0, 5.0], [0.0; 6]);
        let communicator = rank(1, 3);
        let status = ncclAllGather(start(&mut own), start(&mut all), 2, FLOAT, Some(&communicator), null_mut());
        assert_eq!((status, all), (0, [3.0, 5.0, 3.0, 5.0, 3.0, 5.0]));
    }

    #[test]
    fn only_the_root_of_a_gather_gets_the_parts() {
        let (mut own, mut all) = ([3.0], [0.0; 2]);
        let communicator = rank(1, 2);
        let mut gather = |root, all: &mut [f32]| {
            ncclGather(start(&mut own), start(all), 1, FLOAT, root, Some(&communicator), null_mut())
        };
        assert_eq!((gather(0, &mut all), all), (0, [0.0; 2]));
        assert_eq!((gather(1, &mut all), all), (0, [3.0; 2]));
    }

    #[test]
    fn a_gather_in_place_begins_at_the_own_part() {
        let mut all = [0.0, 0.0, 7.0, 0.0];
        let (own, everything) = (start(&mut all[2..]), start(&mut all));
        assert_eq!(ncclAllGather(own, everything, 1, FLOAT, Some(&rank(2, 4)), null_mut()), 0);
        assert_eq!(all, [7.0; 4]);
    }

    #[test]
    fn of_a_part_that_was_split_off_only_certain_ranks_are_written() {
        let (mut own, mut all) = ([3.0], [0.0; 4]);
        let part = Communicator { ranks: 4, rank: 1, certain_ranks: 2 };
        assert_eq!(ncclAllGather(start(&mut own), start(&mut all), 1, FLOAT, Some(&part), null_mut()), 0);
        assert_eq!(all, [3.0, 3.0, 0.0, 0.0]);
    }

    #[test]
    fn a_reduction_gives_the_own_values() {
        let (mut own, mut sum, mut part) = ([1.0, 2.0, 3.0, 4.0], [0.0; 4], [0.0; 2]);
        let communicator = rank(1, 2);
        let stream = null_mut();
        assert_eq!(ncclAllReduce(start(&mut own), start(&mut sum), 4, FLOAT, 0, Some(&communicator), stream), 0);
        let scattered = ncclReduceScatter(start(&mut own), start(&mut part), 2, FLOAT, 0, Some(&communicator), stream);
        assert_eq!((scattered, sum, part), (0, own, [3.0, 4.0]));
        let mut elsewhere = [9.0; 4];
        ncclReduce(start(&mut own), start(&mut elsewhere), 4, FLOAT, 0, 0, Some(&communicator), stream);
        assert_eq!(elsewhere, [9.0; 4], "another rank gets this sum");
    }

    #[test]
    fn everyone_sends_what_this_rank_sends_itself() {
        let (mut own, mut all) = ([1.0, 2.0, 3.0], [0.0; 3]);
        assert_eq!(ncclAlltoAll(start(&mut own), start(&mut all), 1, FLOAT, Some(&rank(1, 3)), null_mut()), 0);
        assert_eq!(all, [2.0; 3]);
    }

    #[test]
    fn a_list_is_gathered_by_broadcasts_of_a_group() {
        let (mut own, mut first, mut second) = ([7.0], [0.0], [0.0]);
        let communicator = rank(0, 2);
        ncclGroupStart();
        let gather = |send: Handle, receive: Handle, root| {
            ncclBroadcast(send, receive, 1, FLOAT, root, Some(&communicator), null_mut())
        };
        let (to, others) = (start(&mut first), start(&mut second));
        assert_eq!((gather(start(&mut own), to, 0), gather(others, others, 1)), (0, 0));
        ncclGroupEnd();
        assert_eq!((first, second), ([7.0], [7.0]));
    }

    #[test]
    fn an_unknown_type_and_a_missing_communicator_are_refused() {
        let mut own = [1.0];
        let buffer = start(&mut own);
        let status = |data_type, communicator| ncclBcast(buffer, 1, data_type, 0, communicator, null_mut());
        assert_eq!((status(99, Some(&rank(0, 1))), status(FLOAT, None)), (INVALID_ARGUMENT, INVALID_ARGUMENT));
    }
}
