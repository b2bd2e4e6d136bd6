//! A table of a config while it is resolved.

use super::super::key::Key;

/// The keys of a table as written, and with the values in effect.
pub(super) struct Table<'a, R> {
    /// The keys as written.
    pub given: &'a R,
    /// The keys with the values in effect, which resolve to the same job again.
    pub settled: R,
    /// Names of the keys that the table may have here.
    pub known: Vec<&'static str>,
}

impl<'a, R: Default> Table<'a, R> {
    pub(super) fn new(given: &'a R) -> Self {
        Self { given, settled: R::default(), known: Vec::new() }
    }

    /// Returns the value of a key as written.
    pub(super) fn given<T, D>(&mut self, key: &Key<R, T, D>) -> Option<&'a T> {
        self.known.push(key.name);
        (key.get)(self.given)
    }

    /// Sets the value of a key that is in effect.
    pub(super) fn settle<T, D>(&mut self, key: &Key<R, T, D>, value: T) {
        self.known.push(key.name);
        *(key.slot)(&mut self.settled) = Some(value);
    }

    /// Settles a key that is on or off.
    pub(super) fn flag(&mut self, key: &Key<R, bool>, default: bool) -> bool {
        let value = self.given(key).copied().unwrap_or(default);
        self.settle(key, value);
        value
    }
}
