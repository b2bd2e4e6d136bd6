//! Handles of pools, and of their halves for small and large blocks.

/// Handle of a pool of small and large blocks: the default pool or a private one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolKey(pub(super) u32);

impl PoolKey {
    /// Pool of all requests that no private pool takes.
    pub const DEFAULT: Self = Self(0);
}

/// Handle of the small or the large half of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolIndex(u32);

impl PoolIndex {
    #[inline]
    pub(super) fn new(pool: PoolKey, is_small: bool) -> Self {
        Self(pool.0 * 2 + u32::from(is_small))
    }

    #[inline]
    pub(super) fn key(self) -> PoolKey {
        PoolKey(self.0 / 2)
    }

    #[inline]
    pub(super) fn is_small(self) -> bool {
        self.0 % 2 == 1
    }
}
