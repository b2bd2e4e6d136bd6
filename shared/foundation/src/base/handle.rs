//! Handles: the position of a row in a table, in 32 bits and with a type for each table.

/// Defines a handle with `index` and `from_index`, which packed columns can store; the default one is that of row 0.
macro_rules! handle {
    ($(#[$about:meta])* pub struct $type:ident$(($visibility:vis))? of $rows:literal) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub struct $type($($visibility)? u32);

        impl $type {
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the handle with this position; it is only meaningful for a table that has the row.
            ///
            /// # Panics
            /// Panics if `index` is 2^32 or more.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect(concat!("fewer than 2^32 ", $rows)))
            }
        }

        impl $crate::base::Word for $type {
            #[inline]
            fn to_word(self) -> u64 {
                u64::from(self.0)
            }

            #[inline]
            fn of_word(word: u64) -> Self {
                Self(word as u32)
            }
        }
    };
}

pub(crate) use handle;
