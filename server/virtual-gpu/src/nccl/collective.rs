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

    /// Notes what this rank gives to another or takes from it.
    fn note(&self, way: Move, peer: c_int) {
        let buffer = if matches!(way, Move::Give) { self.send } else { self.receive };
        note(way, self.communicator, peer, buffer, self.part_bytes);
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

/// Defines collectives by their buffers, their numbers behind the data type, and what they do with an exchange.
macro_rules! collectives {
    { $($(#[$doc:meta])* $name:ident($first:ident $(, $second:ident)?; $($number:ident),*) $does:expr;)* } => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        extern "C" fn $name(
            $first: Handle,
            $($second: Handle,)?
            count: usize,
            data_type: c_int,
            $($number: c_int,)*
            communicator: Option<&Communicator>,
            stream: Handle,
        ) -> c_int {
            let [send, .., receive] = [$first, $first $(, $second)?];
            run(Exchange::new(communicator, (send, receive), count, data_type, stream), $does)
        }
    )*};
}

collectives! {
    /// Gathers the parts of all ranks, each of which is a copy of this rank's part.
    ncclAllGather(send, receive;) gather;
    /// Gathers like [`ncclAllGather`] if this rank is the root, or else does nothing.
    ncclGather(send, receive; root) |exchange| {
        if exchange.communicator.rank == root {
            gather(exchange);
        }
    };
    /// Reduces to this rank's own values, as if the other ranks held zeros; `PreMulSum` does not scale.
    ncclAllReduce(send, receive; _operation) |exchange| exchange.copy(0, 0);
    /// Reduces like [`ncclAllReduce`] if this rank is the root, or else does nothing.
    ncclReduce(send, receive; _operation, root) |exchange| {
        if exchange.communicator.rank == root {
            exchange.copy(0, 0);
        }
    };
    /// Returns this rank's part of the sum, which is its part of what it sends.
    ncclReduceScatter(send, receive; _operation) |exchange| exchange.copy(0, exchange.rank());
    /// Broadcasts this rank's own values, whichever rank is the root.
    ncclBroadcast(send, receive; root) |exchange| broadcast(exchange, root);
    /// Broadcasts in place, which moves nothing.
    ncclBcast(buffer; root) |exchange| broadcast(exchange, root);
    /// Exchanges parts with all ranks, each of which sends what this rank sends to itself.
    ncclAlltoAll(send, receive;) |exchange| {
        (0..exchange.ranks()).for_each(|rank| exchange.copy(rank, exchange.rank()));
    };
    /// Sends a part to a rank; a message that the same group receives can carry it.
    ncclSend(buffer; peer) |exchange| exchange.note(Move::Give, peer);
    /// Receives a part from a rank.
    ncclRecv(buffer; peer) |exchange| exchange.note(Move::Take, peer);
}

fn gather(exchange: &Exchange<'_>) {
    // This rank's part comes last, because in an in-place gather it is the source of the others.
    let own = exchange.rank();
    (0..exchange.ranks()).filter(|rank| *rank != own).for_each(|rank| exchange.copy(rank, 0));
    exchange.copy(own, 0);
}

fn broadcast(exchange: &Exchange<'_>, root: c_int) {
    exchange.copy(0, 0);
    exchange.note(if exchange.communicator.rank == root { Move::Give } else { Move::Take }, root);
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
