//! What crosses the C interface: out-parameters and strings.

use std::ffi::{CStr, c_char, c_void};

/// A pointer through which a function hands a value back.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes the value, unless the pointer is null; says whether it was written.
    ///
    /// The caller's promise, as in C, is that a pointer which is not null points to room for a `T`.
    #[must_use]
    pub(crate) fn put(self, value: T) -> bool {
        if self.0.is_null() {
            return false;
        }
        // SAFETY: the C caller passes a valid pointer or null, and null was handled.
        unsafe { self.0.write(value) };
        true
    }

    /// Writes the value if the caller wants it.
    pub(crate) fn put_if_wanted(self, value: T) {
        let _ = self.put(value);
    }

    /// The same place for a value of another type, which another parameter names.
    pub(crate) fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// Whether the caller does not want the value.
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// For calls from Rust: the place itself.
    #[cfg(test)]
    pub(crate) fn to(place: &mut T) -> Self {
        Self(place)
    }

    /// For calls from Rust: a pointer that leads nowhere.
    #[cfg(test)]
    pub(crate) fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    /// For calls from Rust: the pointer.
    #[cfg(test)]
    pub(crate) fn into_raw(self) -> *mut T {
        self.0
    }
}

impl<T: Copy> Out<T> {
    /// What stands there before the call, for parameters that go both ways.
    pub(crate) fn get(self) -> Option<T> {
        // SAFETY: as in `put`; the caller has filled a parameter that goes both ways.
        (!self.0.is_null()).then(|| unsafe { self.0.read() })
    }
}

/// The text of a C string; empty where the pointer is null or the text is not UTF-8.
pub(crate) fn text<'a>(pointer: *const c_char) -> &'a str {
    if pointer.is_null() {
        return "";
    }
    // SAFETY: the C caller passes null or a string that ends in a zero byte.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("")
}

/// A value that programs only pass back: never followed as a pointer.
pub(crate) type Handle = *mut c_void;
