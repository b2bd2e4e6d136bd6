//! Answers that a program gives in advance for the copies from the device that follow.
//!
//! `snapscope run` knows some values on the host, such as the number of true elements of a mask. PyTorch reads them
//! from the device in the middle of an operation; with these answers, the operation goes on as on a real GPU.

use std::cell::RefCell;
use std::collections::VecDeque;

thread_local! {
    static ANSWERS: RefCell<VecDeque<Vec<u8>>> = const { RefCell::new(VecDeque::new()) };
}

/// Most answers that are waiting; no operation reads as many.
const MOST: usize = 64;

/// Returns the answer for the next read of this thread, if one of this size is next.
pub(super) fn next(size: usize) -> Option<Vec<u8>> {
    ANSWERS.with_borrow_mut(|answers| {
        let is_next = answers.front().is_some_and(|answer| answer.len() == size);
        is_next.then(|| answers.pop_front()).flatten()
    })
}

/// Adds an answer for a read of `size` bytes by the calling thread.
///
/// # Safety
///
/// `answer` must point to `size` readable bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn snapscope_answer_read(answer: *const u8, size: usize) {
    if answer.is_null() {
        return;
    }
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { std::slice::from_raw_parts(answer, size) }.to_vec();
    ANSWERS.with_borrow_mut(|answers| {
        if answers.len() < MOST {
            answers.push_back(bytes);
        }
    });
}

/// Removes the calling thread's answers that were not read.
#[unsafe(no_mangle)]
extern "C" fn snapscope_forget_answers() {
    ANSWERS.with_borrow_mut(VecDeque::clear);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_in_order_and_by_size() {
        for number in [7_u32, 8] {
            // SAFETY: the number is as long as its size says.
            unsafe { snapscope_answer_read((&raw const number).cast(), 4) };
        }
        assert_eq!(next(8), None);
        assert_eq!(next(4), Some(7_u32.to_ne_bytes().to_vec()));
        snapscope_forget_answers();
        assert_eq!(next(4), None);
    }
}
