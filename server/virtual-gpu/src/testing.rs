//! Helpers for tests of the C interface.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::ffi::Out;

/// Locks the machine, which all tests of a process share, for one test.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

#[track_caller]
pub(crate) fn ok(code: c_int) {
    assert_eq!(code, 0);
}

#[track_caller]
pub(crate) fn fails(code: c_int, error: Error) {
    assert_eq!(code, error.code());
}

/// Runs a call, which must succeed, and returns the value of its out-parameter.
#[track_caller]
pub(crate) fn got<T: Copy>(before: T, call: impl FnOnce(Out<T>) -> c_int) -> T {
    let mut place = before;
    ok(call(Out::to(&mut place)));
    place
}
