//! What a user of the machine does with containers as they are closed.

use super::{Heap, Val};
use crate::base::StringId;

/// Takes containers as soon as they are complete, so that no tree of values is built.
///
/// A pickle is written bottom-up: a dictionary is closed when all of its values are there.
/// The machine offers each one here; what the builder takes is represented by a handle of its own from then on.
pub trait Build {
    /// The handle of a text, the same for the same text.
    fn intern(&mut self, text: &str) -> StringId;

    /// Takes a dictionary, keys and values in turn, or leaves it to the heap.
    fn dict(&mut self, entries: &[Val], heap: &Heap) -> Option<Val>;

    /// Takes a list, or leaves it to the heap.
    fn list(&mut self, items: &[Val], heap: &Heap) -> Option<Val>;

    /// Adds items to a list that the builder took, or returns false where it can't.
    fn extend(&mut self, list: Val, items: &[Val]) -> bool;

    /// The number of items of a list that the builder took; `None` if it took no such list.
    fn len(&self, list: Val) -> Option<usize>;

    /// Appends the items of a list that the builder took, because it could not be extended.
    fn expand(&self, list: Val, items: &mut Vec<Val>);

    /// Hears of a text that is not UTF-8 and was mended.
    fn mended_text(&mut self, _offset: u64) {}
}
