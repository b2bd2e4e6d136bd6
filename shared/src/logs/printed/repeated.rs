//! Errors that a text prints more than once.

use crate::analysis::SourceLine;

/// Most different errors, and most tables of counters, that are kept.
pub(super) const MOST_KEPT: usize = 1000;

/// Error with the place that raised it and the number of times that it was printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated<T> {
    pub error: T,
    /// Line of the user's own code, if a traceback stood before it.
    pub place: Option<SourceLine>,
    pub count: u64,
}

/// Adds an error, or counts it if it was printed before, as frameworks do that log an exception and raise it again.
///
/// `complete` adds to a known error what the new one states; it returns false if they are two.
pub(super) fn add<T>(
    all: &mut Vec<Repeated<T>>,
    error: T,
    place: Option<SourceLine>,
    left_out: &mut u64,
    complete: impl Fn(&mut T, &T) -> bool,
) {
    match all.iter_mut().position(|known| complete(&mut known.error, &error)) {
        Some(position) => {
            let known = &mut all[position];
            known.count += 1;
            known.place = known.place.take().or(place);
        }
        None if all.len() < MOST_KEPT => all.push(Repeated { error, place, count: 1 }),
        None => *left_out += 1,
    }
}
