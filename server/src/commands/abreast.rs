//! Several files at once: as many as there are processors, and as their sizes leave memory for.

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{fs, thread};

/// The files that are read at a time are together at most this large; a larger one is read alone.
///
/// The model of a file takes less memory than the file does.
const MOST_BYTES: u64 = 8 << 30;

/// How many times larger a compressed snapshot may be once it is read: gzip leaves about a tenth.
const GZIP_RATIO: u64 = 10;

/// Does the same with each of several files, and returns what comes of them in the files' order.
///
/// # Errors
///
/// That of the first file with one; files after it may not have been looked at.
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
    // Turns go by position, so that all before the first error are there.
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

/// What a file may take in memory; one that can't be looked at is told about by whoever reads it.
fn size_bytes(file: &Path) -> u64 {
    let len = fs::metadata(file).map_or(0, |of_file| of_file.len());
    if file.extension().is_some_and(|ending| ending == "gz") { len.saturating_mul(GZIP_RATIO) } else { len }
}

/// Whose turn it is.
struct Turns<'a> {
    sizes: &'a [u64],
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// The next file.
    next: usize,
    /// Bytes of the files that are being read.
    bytes: u64,
    has_failed: bool,
}

impl<'a> Turns<'a> {
    fn new(sizes: &'a [u64]) -> Self {
        Self { sizes, state: Mutex::default(), ended: Condvar::new() }
    }

    /// The next file once there is room for it; `None` after the last one and after an error.
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

/// A thread that panics ends the process with the scope, so that nobody sees what it left half done.
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
