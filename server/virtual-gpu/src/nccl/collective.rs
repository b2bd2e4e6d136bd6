//! Collectives: what this rank sends is what it gets from every other.

use std::ffi::c_int;

use super::communicator::{Communicator, INVALID_ARGUMENT};
use crate::answers::launched_on;
use crate::ffi::{Handle, Out};
use crate::state::values::mirror;
use crate::stub::harmless;

/// The bytes of an element of an `ncclDataType_t`.
fn element_bytes(data_type: c_int) -> Option<usize> {
    match data_type {
        0 | 1 | 10 | 11 => Some(1), // int8, uint8, two kinds of float8
        6 | 9 => Some(2),           // float16, bfloat16
        2 | 3 | 7 => Some(4),       // int32, uint32, float32
        4 | 5 | 8 => Some(8),       // int64, uint64, float64
        _ => None,
    }
}

/// A collective of one rank: what it sends, where it gets, and how much of that is one rank's part.
struct Exchange<'a> {
    communicator: &'a Communicator,
    send: Handle,
    receive: Handle,
    part_bytes: usize,
    stream: Handle,
}

impl<'a> Exchange<'a> {
    /// An exchange, or nothing where an argument is missing.
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

    /// Copies one part, unless it is there already.
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

/// Runs an exchange as one piece of work on its stream.
fn run(exchange: Option<Exchange<'_>>, copies: impl FnOnce(&Exchange<'_>)) -> c_int {
    let Some(exchange) = exchange else { return INVALID_ARGUMENT };
    launched_on(exchange.stream);
    copies(&exchange);
    0
}

/// Every rank's part is this rank's.
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
        // The own part last: of a gather in place it is the source of the others.
        let own = exchange.rank();
        (0..exchange.ranks()).filter(|rank| *rank != own).for_each(|rank| exchange.copy(rank, 0));
        exchange.copy(own, 0);
    })
}

/// The sum is what this rank has: the others are taken to have zeros. `PreMulSum` scales nothing.
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

/// As [`ncclAllReduce`], where this rank is the one that gets the sum.
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

/// This rank's part of the sum, which is its part of what it sends.
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

/// What the root sends is what this rank has.
#[unsafe(no_mangle)]
extern "C" fn ncclBroadcast(
    send: Handle,
    receive: Handle,
    count: usize,
    data_type: c_int,
    _root: c_int,
    communicator: Option<&Communicator>,
    stream: Handle,
) -> c_int {
    run(Exchange::new(communicator, (send, receive), count, data_type, stream), |exchange| exchange.copy(0, 0))
}

/// A broadcast in place: nothing moves.
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

/// Every rank sends what this one sends to itself.
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

/// Defines the two ends of a message, which goes nowhere and comes from nowhere.
macro_rules! messages {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(
                _buffer: Handle, _count: usize, _data_type: c_int, _peer: c_int, _communicator: Handle, stream: Handle,
            ) -> c_int {
                launched_on(stream);
                0
            }
        )*
    };
}

messages! { ncclSend, ncclRecv }

/// A sum with a factor: the first number after those of the operations that are always there.
#[unsafe(no_mangle)]
extern "C" fn ncclRedOpCreatePreMulSum(operation: Out<c_int>) -> c_int {
    /// `ncclNumOps`.
    const FIRST: c_int = 5;
    operation.put_if_wanted(FIRST);
    0
}

harmless! { ncclRedOpDestroy }
