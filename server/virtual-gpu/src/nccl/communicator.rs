//! Creates communicators, which know their number of ranks and the rank of this process.

use std::collections::hash_map::DefaultHasher;
use std::ffi::{c_char, c_int};
use std::hash::{Hash, Hasher};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use job::messages::NCCL_NOT_COUNTED;

use crate::arrays::{Array, OutArray};
use crate::ffi::{Handle, Out};
use crate::log::line;
use crate::stub::{functions, harmless, unmodelled};
use crate::versions::versions;

/// `ncclInvalidArgument`.
pub(super) const INVALID_ARGUMENT: c_int = 4;

/// `NCCL_SPLIT_NOCOLOR`: this rank gets no new communicator.
const NO_COLOR: c_int = -1;

#[derive(Debug)]
pub(super) struct Communicator {
    /// Number of ranks, as far as this rank can know.
    pub(super) ranks: c_int,
    /// Rank of this process.
    pub(super) rank: c_int,
    /// Lower bound of the number of ranks.
    ///
    /// The size of a communicator that was split off depends on the other ranks; data for this many ranks fits into the
    /// caller's buffers.
    pub(super) certain_ranks: c_int,
}

impl Communicator {
    /// Creates a communicator of a known size; returns `None` if the rank is out of range.
    ///
    /// The first with other ranks is told, because a real one takes memory.
    fn new(ranks: c_int, rank: c_int) -> Option<Self> {
        static TOLD: Once = Once::new();
        if ranks > 1 {
            TOLD.call_once(|| line(format_args!("{NCCL_NOT_COUNTED}")));
        }
        (0..ranks).contains(&rank).then_some(Self { ranks, rank, certain_ranks: ranks })
    }

    /// Writes the communicator through an out-parameter and returns NCCL's status.
    fn give(self, place: Out<Box<Self>>) -> c_int {
        if place.put(Box::new(self)) { 0 } else { INVALID_ARGUMENT }
    }
}

/// Identifier by which the ranks of a new communicator find each other (`ncclUniqueId`).
#[repr(C)]
#[derive(Clone, Copy)]
struct UniqueId([u8; 128]);

#[unsafe(no_mangle)]
extern "C" fn ncclGetVersion(version: Out<c_int>) -> c_int {
    version.put_if_wanted(versions().nccl_number());
    0
}

/// Returns an identifier that is unique in this process and almost certainly differs from those of other processes.
#[unsafe(no_mangle)]
extern "C" fn ncclGetUniqueId(id: Out<UniqueId>) -> c_int {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0; 128];
    for (index, chunk) in bytes.chunks_exact_mut(8).enumerate() {
        let mut hasher = DefaultHasher::new();
        (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed), index).hash(&mut hasher);
        chunk.copy_from_slice(&hasher.finish().to_ne_bytes());
    }
    id.put_if_wanted(UniqueId(bytes));
    0
}

functions! {
    ncclCommInitRank(communicator: Out<Box<Communicator>>, ranks: c_int, _id: UniqueId, rank: c_int) =
        Communicator::new(ranks, rank).map_or(INVALID_ARGUMENT, |new| new.give(communicator));
    ncclCommInitRankConfig(
        communicator: Out<Box<Communicator>>, ranks: c_int, id: UniqueId, rank: c_int, _config: Handle
    ) = ncclCommInitRank(communicator, ranks, id, rank);
    ncclCommInitRankScalable(
        communicator: Out<Box<Communicator>>, ranks: c_int, rank: c_int, _ids: c_int, _id: Handle, _config: Handle
    ) = Communicator::new(ranks, rank).map_or(INVALID_ARGUMENT, |new| new.give(communicator));
    ncclCommGetUniqueId(_communicator: Handle, id: Out<UniqueId>) = ncclGetUniqueId(id);
    ncclCommDestroy(_communicator: Option<Box<Communicator>>) = 0;
    ncclCommAbort(_communicator: Option<Box<Communicator>>) = 0;
}

/// Creates one communicator for each of several devices of this process.
#[unsafe(no_mangle)]
extern "C" fn ncclCommInitAll(communicators: OutArray<usize>, devices: c_int, _ordinals: Handle) -> c_int {
    let all: Option<Vec<_>> = (0..devices).map(|rank| Communicator::new(devices, rank)).collect();
    let Some(all) = all.filter(|all| !all.is_empty()) else { return INVALID_ARGUMENT };
    let addresses: Vec<_> = all.into_iter().map(|each| Box::into_raw(Box::new(each)).expose_provenance()).collect();
    communicators.put(&addresses);
    0
}

/// Splits a part off a communicator.
///
/// The new rank is the key, because PyTorch passes the new rank as the key.
#[unsafe(no_mangle)]
extern "C" fn ncclCommSplit(
    parent: Option<&Communicator>,
    color: c_int,
    key: c_int,
    communicator: Out<Option<Box<Communicator>>>,
) -> c_int {
    let Some(parent) = parent else { return INVALID_ARGUMENT };
    let rank = key.clamp(0, parent.ranks - 1);
    let part = Communicator { ranks: parent.ranks, rank, certain_ranks: rank + 1 };
    communicator.put_if_wanted((color != NO_COLOR).then(|| Box::new(part)));
    0
}

/// Creates a communicator without the excluded ranks; the remaining ranks are renumbered.
#[unsafe(no_mangle)]
extern "C" fn ncclCommShrink(
    parent: Option<&Communicator>,
    excluded: Array<c_int>,
    count: c_int,
    communicator: Out<Box<Communicator>>,
) -> c_int {
    let Some(parent) = parent else { return INVALID_ARGUMENT };
    let excluded = excluded.copy(count);
    let left = |ranks: std::ops::Range<c_int>| ranks.filter(|rank| !excluded.contains(rank)).count() as c_int;
    if excluded.contains(&parent.rank) {
        return INVALID_ARGUMENT;
    }
    Communicator::new(left(0..parent.ranks), left(0..parent.rank))
        .map_or(INVALID_ARGUMENT, |new| new.give(communicator))
}

/// Creates a communicator with more ranks; a rank that was there before keeps its number, and passes none.
#[unsafe(no_mangle)]
extern "C" fn ncclCommGrow(
    parent: Option<&Communicator>,
    ranks: c_int,
    _id: Handle,
    rank: c_int,
    communicator: Out<Box<Communicator>>,
) -> c_int {
    let rank = if rank < 0 { parent.map_or(-1, |parent| parent.rank) } else { rank };
    Communicator::new(ranks, rank).map_or(INVALID_ARGUMENT, |new| new.give(communicator))
}

/// Returns 0 for each figure about memory: a communicator takes none.
#[unsafe(no_mangle)]
extern "C" fn ncclCommMemStats(_communicator: Handle, _figure: c_int, value: Out<u64>) -> c_int {
    value.put_if_wanted(0);
    0
}

#[unsafe(no_mangle)]
extern "C" fn ncclCommCount(communicator: Option<&Communicator>, count: Out<c_int>) -> c_int {
    let Some(communicator) = communicator else { return INVALID_ARGUMENT };
    count.put_if_wanted(communicator.ranks);
    0
}

#[unsafe(no_mangle)]
extern "C" fn ncclCommUserRank(communicator: Option<&Communicator>, rank: Out<c_int>) -> c_int {
    let Some(communicator) = communicator else { return INVALID_ARGUMENT };
    rank.put_if_wanted(communicator.rank);
    0
}

#[unsafe(no_mangle)]
extern "C" fn ncclCommGetAsyncError(_communicator: Handle, error: Out<c_int>) -> c_int {
    error.put_if_wanted(0);
    0
}

harmless! { ncclCommFinalize, ncclCommResume, ncclCommRevoke, ncclCommSuspend }

// Communication from inside kernels, which do not run, and memory of other ranks; 5 is `ncclInvalidUsage`.
unmodelled! { "nccl", 5 =>
    ncclDevCommCreate, ncclDevCommDestroy, ncclGetLsaMultimemDevicePointer, ncclGetPeerDevicePointer, ncclPutSignal,
    ncclSignal, ncclWaitSignal, ncclWinGetUserPtr,
}

#[unsafe(no_mangle)]
extern "C" fn ncclGetErrorString(result: c_int) -> *const c_char {
    let text = match result {
        0 => c"no error",
        1 => c"unhandled cuda error",
        INVALID_ARGUMENT => c"invalid argument",
        5 => c"invalid usage",
        _ => c"unknown result code",
    };
    text.as_ptr()
}

/// Returns an empty text as the last error, because errors are described in the log.
#[unsafe(no_mangle)]
extern "C" fn ncclGetLastError(_communicator: Handle) -> *const c_char {
    c"".as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rank and the number of ranks, through the C interface.
    fn seen(communicator: Option<&Communicator>) -> (c_int, c_int) {
        let (mut rank, mut ranks) = (-1, -1);
        assert_eq!(ncclCommUserRank(communicator, Out::to(&mut rank)), 0);
        assert_eq!(ncclCommCount(communicator, Out::to(&mut ranks)), 0);
        (rank, ranks)
    }

    fn init(ranks: c_int, rank: c_int) -> Option<Box<Communicator>> {
        let mut communicator = None;
        let status = ncclCommInitRank(Out::to(&mut communicator).cast(), ranks, UniqueId([0; 128]), rank);
        assert_eq!(status == 0, communicator.is_some());
        communicator
    }

    #[test]
    fn a_rank_knows_itself_and_how_many_there_are() {
        assert_eq!(seen(init(8, 3).as_deref()), (3, 8));
        assert!(init(8, 8).is_none());
    }

    #[test]
    fn ranks_that_stay_are_numbered_anew() {
        let parent = init(8, 5);
        let mut rest: Option<Box<Communicator>> = None;
        let mut without = |excluded: &[c_int]| {
            let place = Out::to(&mut rest).cast();
            ncclCommShrink(parent.as_deref(), Array::of(excluded), excluded.len() as c_int, place)
        };
        assert_eq!((without(&[5]), without(&[0, 2, 7])), (INVALID_ARGUMENT, 0));
        assert_eq!(seen(rest.as_deref()), (3, 5));
    }

    #[test]
    fn a_part_is_as_large_as_its_rank_says_at_least() {
        let parent = init(8, 5);
        let mut part = None;
        assert_eq!(ncclCommSplit(parent.as_deref(), 7, 1, Out::to(&mut part)), 0);
        let part = part.expect("there is a color");
        assert_eq!((part.rank, part.certain_ranks), (1, 2));
        let mut none = Some(part);
        assert_eq!(ncclCommSplit(parent.as_deref(), NO_COLOR, 1, Out::to(&mut none)), 0);
        assert!(none.is_none());
    }

    #[test]
    fn a_communicator_grows_by_ranks_that_are_new() {
        let parent = init(2, 1);
        let mut grown: Option<Box<Communicator>> = None;
        let mut grow = |parent: Option<&Communicator>, rank| {
            let status = ncclCommGrow(parent, 4, std::ptr::null_mut(), rank, Out::to(&mut grown).cast());
            (status, seen(grown.as_deref()))
        };
        assert_eq!(grow(parent.as_deref(), -1), (0, (1, 4)));
        assert_eq!(grow(None, 3), (0, (3, 4)));
    }

    #[test]
    fn one_process_can_be_every_rank() {
        let mut communicators = [0; 3];
        assert_eq!(ncclCommInitAll(OutArray::to(&mut communicators), 3, std::ptr::null_mut()), 0);
        for (index, address) in communicators.into_iter().enumerate() {
            // SAFETY: `ncclCommInitAll` has just created the address from a `Box`, and it is freed once.
            let communicator = unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<Communicator>(address)) };
            assert_eq!(seen(Some(&communicator)), (index as c_int, 3));
            assert_eq!(ncclCommDestroy(Some(communicator)), 0);
        }
    }

    #[test]
    fn identifiers_differ() {
        let mut ids = [UniqueId([0; 128]); 2];
        let [first, second] = &mut ids;
        assert_eq!((ncclGetUniqueId(Out::to(first)), ncclGetUniqueId(Out::to(second))), (0, 0));
        assert_ne!(ids[0].0, ids[1].0);
    }
}
