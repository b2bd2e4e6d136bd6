//! Decides why a request failed, from the figures of its message.

use super::oom::{Oom, OomApi};

/// Memory that a CUDA context and the libraries of one process take, 600 MiB: more than that has another reason.
const CONTEXT_BYTES: u64 = 600 << 20;

/// Memory of others that explains a failure, if it is also as much as was missing.
const MUCH_BYTES: u64 = 1 << 30;

/// Fraction of the GPU that is free in surplus, from which a failure was not for lack of memory (1/50).
const SURPLUS: u64 = 50;

/// Fraction of the reserved memory that is unused, from which fragmentation explains a failure (1/20).
const UNUSED: u64 = 20;

/// Reason for which a request failed; the first one that applies, the plainest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OomCause {
    /// The request is too large for any memory: the size is a mistake of the program.
    Absurd,
    /// The request is larger than the whole GPU.
    TooLarge,
    /// The program or the system limits the process to less than the GPU has.
    Limit,
    /// More memory was free than the request needs.
    MoreFree,
    /// PyTorch holds enough memory that it does not use, in pieces that are too small.
    Fragmentation,
    /// Other processes hold more than was missing.
    Others,
    /// Memory of this process outside PyTorch's allocator is more than was missing.
    Outside,
    /// Tensors fill the GPU.
    Full,
}

impl OomCause {
    /// Decides by the figures of a message.
    ///
    /// The rules are checked with messages that strangers have published, listed in `report/tests.rs`; one whose
    /// cause is known to be another refutes them.
    pub fn of(oom: &Oom) -> Self {
        let Some(asked) = oom.asked_bytes else { return Self::Absurd };
        let capacity = oom.capacity_bytes.unwrap_or(u64::MAX);
        if asked > capacity {
            return Self::TooLarge;
        }
        let reserved = oom.reserved_bytes.unwrap_or(0);
        if oom.api == OomApi::Mps {
            let others = oom.process_bytes.unwrap_or(0).saturating_sub(reserved);
            return if others > reserved { Self::Others } else { Self::Limit };
        }
        if oom.allowed_bytes.is_some_and(|allowed| reserved.saturating_add(asked) > allowed) {
            return Self::Limit;
        }
        let free = oom.free_bytes.unwrap_or(0);
        let missing = asked.saturating_sub(free);
        if missing == 0 && free - asked >= capacity / SURPLUS {
            return Self::MoreFree;
        }
        let unused = oom.unused_bytes().unwrap_or(0);
        if unused >= missing && unused >= reserved / UNUSED && unused > 0 {
            return Self::Fragmentation;
        }
        let explains = |bytes: u64| bytes >= missing && bytes >= MUCH_BYTES.max(capacity / 20);
        // Without the memory of this process in the message, the context is part of what others seem to hold.
        let own_is_known = oom.outside_bytes().is_some();
        let others = if own_is_known { oom.others_bytes() } else { oom.beside_bytes() };
        let context = if own_is_known { 0 } else { CONTEXT_BYTES };
        if others.is_some_and(|bytes| explains(bytes.saturating_sub(context))) {
            return Self::Others;
        }
        if oom.outside_bytes().is_some_and(|bytes| explains(bytes.saturating_sub(CONTEXT_BYTES))) {
            return Self::Outside;
        }
        Self::Full
    }
}
