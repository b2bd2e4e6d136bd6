//! Global allocator that counts the bytes held by each thread.
//!
//! Memory limits can thus be tested next to other tests and in the fuzz targets.
#![allow(unsafe_code, reason = "an allocator can't be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// System allocator with a count of bytes.
///
/// A reallocation counts both the old and the new memory for a moment, as if it moved, which it may do in WebAssembly.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Negative if a thread frees memory that another one allocated.
    static HELD_BYTES: Cell<i64> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<i64> = const { Cell::new(0) };
}

/// Runs `work`; also returns the maximum number of bytes that it held in addition to those before.
pub(crate) fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HELD_BYTES.get();
    PEAK_BYTES.set(before);
    let result = work();
    (result, (PEAK_BYTES.get() - before) as u64)
}

fn take(bytes: usize) {
    let held = HELD_BYTES.get() + bytes as i64;
    HELD_BYTES.set(held);
    PEAK_BYTES.set(PEAK_BYTES.get().max(held));
}

fn give_back(bytes: usize) {
    HELD_BYTES.set(HELD_BYTES.get() - bytes as i64);
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        give_back(layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        take(new_size);
        give_back(layout.size());
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}
