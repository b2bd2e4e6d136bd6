//! Wraps out-parameters, strings and handles that cross the C interface.

use std::ffi::{CStr, c_char, c_void};

/// Pointer through which a function returns a value.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes the value, unless the pointer is null; returns true if it was written.
    ///
    /// As in C, the caller guarantees that a pointer which is not null points to room for a `T`.
    #[must_use]
    pub(crate) fn put(self, value: T) -> bool {
        if self.0.is_null() {
            return false;
        }
        // SAFETY: the C caller passes a valid pointer or null, and null was handled.
        unsafe { self.0.write(value) };
        true
    }

    /// Writes the value, unless the pointer is null because the caller does not want it.
    pub(crate) fn put_if_wanted(self, value: T) {
        let _ = self.put(value);
    }

    /// Returns the same pointer with another type, which another parameter of the call determines.
    pub(crate) fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Wraps a reference, for calls from Rust.
    #[cfg(test)]
    pub(crate) fn to(place: &mut T) -> Self {
        Self(place)
    }

    /// Returns a null pointer, for a value that nobody wants.
    pub(crate) fn none() -> Self {
        Self(std::ptr::null_mut())
    }

    /// Unwraps the pointer, for calls from Rust.
    #[cfg(test)]
    pub(crate) fn into_raw(self) -> *mut T {
        self.0
    }
}

impl<T: Copy> Out<T> {
    /// Reads the value that the caller passes in an in-out parameter; `None` if the pointer is null.
    pub(crate) fn get(self) -> Option<T> {
        // SAFETY: as in `put`; the caller has filled a parameter that goes both ways.
        (!self.0.is_null()).then(|| unsafe { self.0.read() })
    }
}

/// Returns the text of a C string; it is empty if the pointer is null or the text not UTF-8.
pub(crate) fn text<'a>(pointer: *const c_char) -> &'a str {
    if pointer.is_null() {
        return "";
    }
    // SAFETY: the C caller passes null or a string that ends in a zero byte.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("")
}

/// Opaque value that programs only pass back; it is never dereferenced.
pub(crate) type Handle = *mut c_void;
