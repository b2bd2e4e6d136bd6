//! Global allocator of the pages' modules: that of std, kept apart from the code that uses it.
//!
//! With `lto = "fat"` std's allocator is optimized together with its callers. LLVM knows that memory of
//! `alloc_zeroed` is zero and derives from that, wrongly, that the allocator's header in front of a fresh block is zero,
//! too. So a `vec![0; n]` that is freed in the same function ended in a panic of dlmalloc with Rust 1.96. The cause is
//! that the attributes of allocators are part of link-time optimization since
//! [rust#147150](https://github.com/rust-lang/rust/pull/147150).
#![allow(unsafe_code, reason = "an allocator can't be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;

/// Allocator of std that is told nothing about where a block comes from.
struct Apart;

#[global_allocator]
static ALLOCATOR: Apart = Apart;

// SAFETY: every call is passed on as it is.
unsafe impl GlobalAlloc for Apart {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        unsafe { System.alloc_zeroed(layout) }
    }

    // Not inlined, because a call is shorter than what it does.
    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(black_box(block), layout) }
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        unsafe { System.realloc(black_box(block), layout, new_size) }
    }
}
