//! Processes several files in parallel, within limits on the number of threads and the files' total size.

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{fs, thread};

/// Maximum total size in bytes of the files that are read at the same time; a larger file is read alone.
///
/// The size limits the memory, because the model of a file takes less memory than the file.
const MOST_BYTES: u64 = 8 << 30;

/// Assumed ratio of a snapshot's size to its compressed size: gzip leaves about a tenth.
const GZIP_RATIO: u64 = 10;

/// Calls `work` with the position of each file, in parallel, and returns the results in the files' order.
///
/// # Errors
///
/// Returns the error of the first file that has one; the files after it may not have been processed.
pub(super) fn each<T: Send, E: Send>(
    files: &[&Path],
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let sizes: Vec<u64> = files.iter().map(|file| size_bytes(file)).collect();
    each_of(&sizes, processors, work)
}

fn each_of<T: Send, E: Send>(
    sizes: &[u64],
    processors: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let turns = Turns::new(sizes);
    let done = Mutex::new(sizes.iter().map(|_| None).collect::<Vec<_>>());
    let take_turns = || {
        while let Some(position) = turns.next() {
            let outcome = work(position);
            turns.end(position, outcome.is_err());
            locked(&done)[position] = Some(outcome);
        }
    };
    thread::scope(|scope| {
        (1..processors.min(sizes.len())).for_each(|_| drop(scope.spawn(take_turns)));
        take_turns();
    });
    // Files are taken in order, so that every result before the first error is there.
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

/// Estimates the memory use of a file in bytes; 0 for an unreadable file, whose error `work` reports.
fn size_bytes(file: &Path) -> u64 {
    let len = fs::metadata(file).map_or(0, |of_file| of_file.len());
    if file.extension().is_some_and(|ending| ending == "gz") { len.saturating_mul(GZIP_RATIO) } else { len }
}

/// Queue that hands out files as their sizes allow.
struct Turns<'a> {
    sizes: &'a [u64],
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Position of the next file.
    next: usize,
    /// Total size of the files being read.
    bytes: u64,
    has_failed: bool,
}

impl<'a> Turns<'a> {
    fn new(sizes: &'a [u64]) -> Self {
        Self { sizes, state: Mutex::default(), ended: Condvar::new() }
    }

    /// Waits until there is room for the next file and returns its position; `None` after the last file or an error.
    fn next(&self) -> Option<usize> {
        let mut state = locked(&self.state);
        loop {
            let size_bytes = *self.sizes.get(state.next).filter(|_| !state.has_failed)?;
            if state.bytes == 0 || state.bytes.saturating_add(size_bytes) <= MOST_BYTES {
                state.bytes = state.bytes.saturating_add(size_bytes);
                state.next += 1;
                return Some(state.next - 1);
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn end(&self, position: usize, has_failed: bool) {
        let mut state = locked(&self.state);
        state.bytes -= self.sizes[position];
        state.has_failed |= has_failed;
        self.ended.notify_all();
    }
}

/// Locks a mutex and ignores poisoning.
///
/// A panic in one thread becomes a panic at the end of the scope, so that no half-done state is used.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    #[test]
    fn what_comes_of_files_is_in_their_order() {
        for processors in 1..5 {
            let found: Result<Vec<usize>, ()> = each_of(&[5; 20], processors, |position| {
                thread::yield_now();
                Ok(position * position)
            });
            assert_eq!(found, Ok((0..20).map(|position| position * position).collect()));
        }
        assert_eq!(each_of(&[], 4, |_| Ok::<(), ()>(())), Ok(vec![]));
    }

    #[test]
    fn the_first_error_counts_and_ends_it() {
        let begun = AtomicUsize::new(0);
        for processors in 1..5 {
            begun.store(0, Ordering::Relaxed);
            let work = |position| {
                begun.fetch_add(1, Ordering::Relaxed);
                if position < 3 { Ok(()) } else { Err(position) }
            };
            assert_eq!(each_of(&[1; 1000], processors, work), Err(3), "{processors} threads");
            assert!(begun.load(Ordering::Relaxed) <= 3 + processors, "{begun:?} of {processors} threads");
        }
    }

    #[test]
    fn files_that_are_large_together_wait_for_each_other() {
        let sizes: Vec<u64> = [1, 3, 2, 9, 1, 4, 4, 8].map(|eighth| eighth << 30).to_vec();
        let (bytes, files) = (AtomicU64::new(0), AtomicUsize::new(0));
        let work = |position: usize| {
            let others = bytes.fetch_add(sizes[position], Ordering::SeqCst);
            let is_alone = files.fetch_add(1, Ordering::SeqCst) == 0;
            let is_within = is_alone || others + sizes[position] <= MOST_BYTES;
            thread::sleep(std::time::Duration::from_millis(3));
            bytes.fetch_sub(sizes[position], Ordering::SeqCst);
            files.fetch_sub(1, Ordering::SeqCst);
            if is_within { Ok(()) } else { Err(position) }
        };
        assert_eq!(each_of(&sizes, 4, work), Ok(vec![(); 8]));
    }
}
