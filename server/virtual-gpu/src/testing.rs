//! What tests of the C interface share.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::ffi::Out;

/// Keeps the machine to one test at a time: they all see the same one.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks that a call succeeded.
#[track_caller]
pub(crate) fn ok(code: c_int) {
    assert_eq!(code, 0);
}

/// Checks that a call failed in this way.
#[track_caller]
pub(crate) fn fails(code: c_int, error: Error) {
    assert_eq!(code, error.code());
}

/// The value that a call hands back, which has to succeed.
#[track_caller]
pub(crate) fn got<T: Copy>(before: T, call: impl FnOnce(Out<T>) -> c_int) -> T {
    let mut place = before;
    ok(call(Out::to(&mut place)));
    place
}
