//! Wraps arrays that cross the C interface.

use std::{ptr, slice};

/// An input array of a C caller, which passes its length in another parameter.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Array<T>(*const T);

impl<T: Copy> Array<T> {
    /// Copies the first `count` elements; returns none if the pointer is null or the count is negative.
    ///
    /// As in C, the caller guarantees that a pointer which is not null points to at least `count` elements.
    pub(crate) fn copy(self, count: impl TryInto<usize>) -> Vec<T> {
        let count = count.try_into().unwrap_or(0);
        if self.0.is_null() || count == 0 {
            return Vec::new();
        }
        // SAFETY: the C caller passes null, which was handled, or that many elements.
        unsafe { slice::from_raw_parts(self.0, count) }.to_vec()
    }

    /// Returns the same array with another element type, which another parameter of the call determines.
    pub(crate) fn cast<U>(self) -> Array<U> {
        Array(self.0.cast())
    }

    /// Wraps a slice, for calls from Rust.
    #[cfg(test)]
    pub(crate) fn of(elements: &[T]) -> Self {
        Self(elements.as_ptr())
    }
}

/// An output array of a C caller.
#[repr(transparent)]
pub(crate) struct OutArray<T>(*mut T);

impl<T> OutArray<T> {
    /// Returns the same array with another element type, which another parameter of the call determines.
    pub(crate) fn cast<U>(self) -> OutArray<U> {
        OutArray(self.0.cast())
    }

    /// Reads the first `count` elements; returns none if the pointer is null.
    ///
    /// For arrays of pointers through which a function writes; the caller guarantees that each is valid or null.
    pub(crate) fn take(self, count: usize) -> Vec<T> {
        if self.0.is_null() {
            return Vec::new();
        }
        // SAFETY: the C caller passes null, which was handled, or that many elements; they are pointers, of which the
        // caller uses no copy during the call.
        (0..count).map(|index| unsafe { self.0.add(index).read() }).collect()
    }

    /// Wraps a slice, for calls from Rust.
    #[cfg(test)]
    pub(crate) fn to(place: &mut [T]) -> Self {
        Self(place.as_mut_ptr())
    }
}

impl<T: Copy> OutArray<T> {
    /// Writes the elements, unless the pointer is null.
    ///
    /// As in C, the caller guarantees that there is room for as many elements as it asked for.
    pub(crate) fn put(self, elements: &[T]) {
        if self.0.is_null() {
            return;
        }
        // SAFETY: the C caller passes null, which was handled, or room for that many elements, which no one else has.
        unsafe { ptr::copy(elements.as_ptr(), self.0, elements.len()) };
    }
}
