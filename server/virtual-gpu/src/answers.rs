//! Macros for functions that only write a fixed result or put work into a stream.
//!
//! They differ from those in `stub` in that they write an out-parameter, which a caller reads after a success.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ffi::Handle;
use crate::state::launch;
use crate::state::loading::{LIBRARY, note_load};

/// Returns a handle that is unique in the process.
///
/// PyTorch keys workspaces by handle, so two equal handles would share a workspace that two real ones do not share.
pub(crate) fn new_handle() -> Handle {
    static NEXT: AtomicUsize = AtomicUsize::new(0x1000);
    NEXT.fetch_add(0x10, Ordering::Relaxed) as Handle
}

thread_local! {
    /// Stream that this thread has last set for a handle of any library.
    ///
    /// PyTorch sets it whenever it takes a handle, so this is the stream of the thread's next computation.
    static STREAM: Cell<Handle> = const { Cell::new(ptr::null_mut()) };
}

/// Sets the stream of the computations that this thread launches next.
pub(crate) fn set_stream(stream: Handle) {
    STREAM.set(stream);
}

/// Puts a computation into the stream that this thread has last set.
pub(crate) fn launched() {
    launched_on(STREAM.get());
}

/// Puts a computation into a stream.
pub(crate) fn launched_on(stream: Handle) {
    note_load(LIBRARY);
    // An invalidated capture is reported when it ends, as every other error of a computation is.
    let _ = launch(stream);
}

/// Defines functions that write a new handle through their first parameter and ignore the others.
macro_rules! creators {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(handle: $crate::ffi::Out<$crate::ffi::Handle>) -> std::ffi::c_int {
                handle.put_if_wanted($crate::answers::new_handle());
                0
            }
        )*
    };
}

/// Defines computations on device memory: they count as work of the stream and have no other visible effect.
macro_rules! launches {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> std::ffi::c_int {
                $crate::answers::launched();
                0
            }
        )*
    };
}

/// Defines functions that set the stream of a handle or a plan.
macro_rules! streams {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(_: usize, stream: $crate::ffi::Handle) -> std::ffi::c_int {
                $crate::answers::set_stream(stream);
                0
            }
        )*
    };
}

/// Defines functions that write zeros, such as the size of a workspace or an error code.
///
/// `(i32) after [_ _] => name` writes a zero of type `i32` through the third parameter; `(usize, usize)` writes two.
/// The skipped parameters have to be integers or pointers, because others are passed in other registers.
macro_rules! zeros {
    { $($sizes:tt after $skipped:tt => $($name:ident),+ ;)* } => {
        $($($crate::answers::zeros!(@define $name $sizes $skipped);)+)*
    };
    (@define $name:ident ($size:ty) [$($skipped:tt)*]) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name(
            $(_: $crate::answers::zeros!(@word $skipped),)*
            size: $crate::ffi::Out<$size>,
        ) -> std::ffi::c_int {
            size.put_if_wanted(0);
            0
        }
    };
    (@define $name:ident ($size:ty, $more:ty) [$($skipped:tt)*]) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name(
            $(_: $crate::answers::zeros!(@word $skipped),)*
            size: $crate::ffi::Out<$size>,
            more: $crate::ffi::Out<$more>,
        ) -> std::ffi::c_int {
            size.put_if_wanted(0);
            more.put_if_wanted(0);
            0
        }
    };
    (@word _) => { usize };
}

pub(crate) use {creators, launches, streams, zeros};

#[cfg(test)]
mod tests {
    use std::ptr;

    use crate::ffi::Out;

    creators! { test_create }

    zeros! {
        (i32) after [_ _ _ _ _ _ _] => test_one_size;
        (usize, usize) after [_] => test_two_sizes;
    }

    #[test]
    fn handles_differ_and_are_not_null() {
        let (mut first, mut second) = (ptr::null_mut(), ptr::null_mut());
        assert_eq!((test_create(Out::to(&mut first)), test_create(Out::to(&mut second))), (0, 0));
        assert!(!first.is_null() && !second.is_null());
        assert_ne!(first, second);
    }

    #[test]
    fn sizes_are_written_where_they_stand() {
        let (mut one, mut two, mut three) = (7, 8, 9);
        assert_eq!(test_one_size(0, 1, 2, 3, 4, 5, 6, Out::to(&mut one)), 0);
        assert_eq!(test_two_sizes(0, Out::to(&mut two), Out::to(&mut three)), 0);
        assert_eq!((one, two, three), (0, 0, 0));
    }
}
