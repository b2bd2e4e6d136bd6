//! Finds the moment at which most bytes of some allocations are alive together.

use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::trace::{Device, StackId};

/// Lifetime of an allocation with its size and stack.
#[derive(Clone, Copy, Debug)]
pub(in crate::analysis) struct Lifetime {
    /// First moment at which it is alive.
    pub(in crate::analysis) born: u32,
    /// First moment at which it is no longer alive.
    pub(in crate::analysis) died: u32,
    /// Requested size.
    pub(in crate::analysis) bytes: u64,
    /// Stack that allocated it, [`StackId::NONE`] if unknown.
    pub(in crate::analysis) stack: StackId,
}

impl Lifetime {
    /// Returns the lifetime of an allocation of `device`.
    pub(in crate::analysis) fn of(allocations: &Allocations, device: &Device, id: AllocationId) -> Self {
        Self {
            born: allocations.born_at(id.0),
            died: allocations.died[id.index()],
            bytes: allocations.size_bytes[id.index()],
            stack: allocations.allocation_stack(id, device),
        }
    }

    pub(in crate::analysis) fn is_alive_at(self, moment: u32) -> bool {
        self.born <= moment && moment < self.died
    }
}

/// Returns the first moment, no later than `until`, at which most bytes are alive, and these bytes.
///
/// Both are 0 if there are no lifetimes.
pub(in crate::analysis) fn most_together(lifetimes: &[Lifetime], until: u32) -> (u32, u64) {
    let changes = |lifetime: &Lifetime| {
        let bytes = lifetime.bytes as i64;
        [(lifetime.born, bytes), (lifetime.died, -bytes)]
    };
    let mut changes: Vec<(u32, i64)> =
        lifetimes.iter().flat_map(changes).filter(|&(moment, _)| moment <= until).collect();
    changes.sort_unstable();
    let (mut sum, mut best) = (0, (0, 0));
    for (moment, bytes) in changes {
        sum += bytes;
        if sum > best.1 {
            best = (moment, sum);
        }
    }
    (best.0, best.1 as u64)
}

#[cfg(test)]
mod tests {
    use super::{Lifetime, most_together};
    use crate::trace::StackId;

    #[test]
    fn the_first_of_the_highest_moments_counts() {
        let lifetime = |(born, died, bytes)| Lifetime { born, died, bytes, stack: StackId::NONE };
        let check = |rows: &[(u32, u32, u64)], until: u32, expected: (u32, u64)| {
            let lifetimes: Vec<Lifetime> = rows.iter().copied().map(lifetime).collect();
            assert_eq!(most_together(&lifetimes, until), expected);
        };
        check(&[], 9, (0, 0));
        check(&[(1, 3, 5), (2, 4, 5), (4, 6, 10)], 9, (2, 10));
        check(&[(1, 3, 5), (3, 5, 7)], 9, (3, 7));
        check(&[(1, 3, 5), (3, 5, 7)], 2, (1, 5));
    }
}
