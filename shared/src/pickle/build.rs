//! Interface through which the machine hands over finished containers.

use super::template::{Form, RECORD_VALUES};
use super::{Heap, Val};
use crate::base::StringId;

/// Takes containers as soon as they are complete, so that no tree of values is built.
///
/// A pickle is written bottom-up: a dictionary is closed when all of its values are present.
/// The machine offers each container to the builder; one that the builder takes is represented by the builder's handle
/// from then on.
pub trait Build {
    /// Returns the handle of a string; equal strings have equal handles.
    fn intern(&mut self, text: &str) -> StringId;

    /// Takes a dictionary, given as keys and values in turn, or returns `None` to leave it to the heap.
    fn dict(&mut self, entries: &[Val], heap: &Heap) -> Option<Val>;

    /// Returns the form of the dictionary that was just taken as `val`, if later ones may be passed to
    /// [`record`](Self::record).
    fn form(&mut self, _val: Val, _entries: &[Val]) -> Option<Form> {
        None
    }

    /// Takes a dictionary of a form that the builder returned, or returns `None` to get it as a dictionary.
    ///
    /// Values that the form has no place for are `None`.
    /// A list that it takes as a value of a record must be one that is never extended, because lists of equal items
    /// may be the same value from then on.
    fn record(&mut self, _tag: u32, _values: &[Val; RECORD_VALUES]) -> Option<Val> {
        None
    }

    /// Takes a list, or returns `None` to leave it to the heap.
    fn list(&mut self, items: &[Val], heap: &Heap) -> Option<Val>;

    /// Appends items to a list that the builder took, or returns false if it can't.
    fn extend(&mut self, list: Val, items: &[Val]) -> bool;

    /// Returns the length of a list that the builder took, or `None` if it took no such list.
    fn len(&self, list: Val) -> Option<usize>;

    /// Copies the items of a list that the builder took and could not extend to the end of `items`.
    fn expand(&self, list: Val, items: &mut Vec<Val>);

    /// Takes a tuple, or returns `None` to leave it to the heap; tuples of two small numbers are never offered.
    fn tuple(&mut self, _items: &[Val]) -> Option<Val> {
        None
    }

    /// Returns the handle of a class whose instances the builder takes as data, or `None` to have it refused.
    fn class(&mut self, _module: StringId, _name: StringId) -> Option<Val> {
        None
    }

    /// Returns the handle of a new instance of a class that the builder took, or `None` to have it refused.
    fn instance(&mut self, _class: Val) -> Option<Val> {
        None
    }

    /// Takes the state of an instance, or returns false to have it refused.
    fn state(&mut self, _instance: Val, _state: Val, _heap: &Heap) -> bool {
        false
    }

    /// Reports a string that is not UTF-8 and was repaired.
    fn mended_text(&mut self, _offset: u64) {}
}
