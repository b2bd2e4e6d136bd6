//! The pickle stack machine: the effect of opcodes, apart from their encoding.
//!
//! The JSON reader uses the same machine, because JSON objects and arrays are closed in the same order.

use super::Build;
use super::heap::{ErrorKind, Heap, Shape};
use super::memo::{Entry, Memo};
use super::val::{Kind, Val};

/// Length of a list's first batch from which the list may continue (CPython's `BATCHSIZE`).
const BATCH_ITEMS: usize = 1000;

/// List that the builder took after its first batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Index of the list on the stack.
    pub(super) position: usize,
    pub(super) memo_index: usize,
    pub(super) val: Val,
}

/// Maximum nesting of marks.
///
/// CPython's pickler is recursive and stops far earlier.
pub(crate) const MAX_DEPTH: usize = 10_000;

pub(super) type Result<T> = std::result::Result<T, Box<ErrorKind>>;

/// Stack, marks and memo on top of a builder.
#[derive(Debug)]
pub(crate) struct Machine<B> {
    pub(crate) builder: B,
    pub(crate) heap: Heap,
    pub(super) stack: Vec<Val>,
    /// Stack index of each open mark.
    pub(super) marks: Vec<usize>,
    pub(super) memo: Memo,
    late_fills: u64,
    /// Lists that may continue, by ascending stack index.
    pub(super) batches: Vec<Batch>,
    /// Number of items appended to lists.
    pub(super) appended: u64,
    /// Number of items copied from the builder's lists that it could not extend.
    pub(super) copied: u64,
}

impl<B: Build> Machine<B> {
    pub(crate) fn new(builder: B) -> Self {
        Self {
            builder,
            heap: Heap::default(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Memo::default(),
            late_fills: 0,
            batches: Vec::new(),
            appended: 0,
            copied: 0,
        }
    }

    /// Returns the number of containers that were filled after they had become part of another one.
    pub(crate) fn late_fills(&self) -> u64 {
        self.late_fills
    }

    /// Ends the machine with the one value that remains.
    pub(crate) fn stop(mut self) -> Result<(B, Heap, Val)> {
        let val = self.pop()?;
        let val = self.close(self.stack.len(), val);
        Ok((self.builder, self.heap, val))
    }

    #[inline]
    pub(crate) fn push(&mut self, val: Val) {
        self.stack.push(val);
    }

    #[inline]
    pub(crate) fn push_str(&mut self, text: &str) {
        let id = self.builder.intern(text);
        self.stack.push(Val::str(id));
    }

    pub(crate) fn push_int(&mut self, value: i128) {
        let val = self.heap.add_int(value);
        self.stack.push(val);
    }

    pub(crate) fn push_float(&mut self, value: f64) {
        let val = self.heap.add_float(value);
        self.stack.push(val);
    }

    pub(crate) fn push_bytes(&mut self, value: &[u8]) {
        let val = self.heap.add_bytes(value);
        self.stack.push(val);
    }

    #[inline]
    pub(crate) fn mark(&mut self) -> Result<()> {
        if self.marks.len() >= MAX_DEPTH {
            return Err(Box::new(ErrorKind::Limit { what: "nested marks", limit: MAX_DEPTH as u64 }));
        }
        self.marks.push(self.stack.len());
        Ok(())
    }

    /// Removes and returns the top value, which must lie above the last mark.
    pub(crate) fn pop(&mut self) -> Result<Val> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(underflow("a value", "an empty stack"));
        }
        Ok(self.stack.pop().expect("the stack is above its floor"))
    }

    /// Executes `POP`: removes the top value, or the top mark if nothing is above it, as CPython does.
    pub(crate) fn discard(&mut self) -> Result<()> {
        if self.marks.last() == Some(&self.stack.len()) {
            self.marks.pop();
            return Ok(());
        }
        let val = self.pop()?;
        self.settle(self.stack.len(), val);
        Ok(())
    }

    /// Executes `POP_MARK`.
    pub(crate) fn discard_to_mark(&mut self) -> Result<()> {
        let start = self.pop_mark()?;
        self.close_from(start);
        self.stack.truncate(start);
        Ok(())
    }

    pub(crate) fn duplicate(&mut self) -> Result<()> {
        let mut val = self.top()?;
        if val.is_fresh() {
            val = self.promote(self.stack.len() - 1);
        }
        self.stack.push(val);
        Ok(())
    }

    /// Executes `LIST`, `TUPLE`, `DICT` and `FROZENSET`: moves everything above the mark into one container.
    pub(crate) fn collect(&mut self, shape: Shape) -> Result<()> {
        let start = self.pop_mark()?;
        self.close_from(start);
        let val = match shape {
            Shape::Tuple => self.tuple_from(start),
            Shape::List => self.list_from(start),
            Shape::Dict => self.dict_from(start)?,
            Shape::Set => self.heap.add(Shape::Set, self.stack[start..].to_vec()),
        };
        self.stack.truncate(start);
        self.stack.push(val);
        Ok(())
    }

    /// Executes `TUPLE1`, `TUPLE2` and `TUPLE3`.
    #[inline]
    pub(crate) fn tuple(&mut self, len: usize) -> Result<()> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let Some(start) = self.stack.len().checked_sub(len).filter(|&start| start >= floor) else {
            return Err(underflow("the items of a tuple", "too few values"));
        };
        self.close_from(start);
        let val = self.tuple_from(start);
        self.stack.truncate(start);
        self.stack.push(val);
        Ok(())
    }

    pub(crate) fn append(&mut self) -> Result<()> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() < floor + 2 {
            return Err(underflow("a list and an item", "too few values"));
        }
        self.keep_open(self.stack.len() - 2);
        self.append_from(self.stack.len() - 1)
    }

    #[inline]
    pub(crate) fn append_all(&mut self) -> Result<()> {
        let start = self.pop_mark()?;
        if start == 0 {
            return Err(underflow("a list below the mark", "an empty stack"));
        }
        self.append_from(start)
    }

    pub(crate) fn set_item(&mut self) -> Result<()> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() < floor + 3 {
            return Err(underflow("a dictionary, a key and a value", "too few values"));
        }
        self.keep_open(self.stack.len() - 3);
        self.set_from(self.stack.len() - 2)
    }

    #[inline]
    pub(crate) fn set_items(&mut self) -> Result<()> {
        let start = self.pop_mark()?;
        if start == 0 {
            return Err(underflow("a dictionary below the mark", "an empty stack"));
        }
        self.set_from(start)
    }

    /// Executes `ADDITEMS`.
    pub(crate) fn add_to_set(&mut self) -> Result<()> {
        let start = self.pop_mark()?;
        self.close_from(start);
        if start == 0 {
            return Err(underflow("a set below the mark", "an empty stack"));
        }
        let set = self.stack[start - 1];
        let items = match set.kind() {
            Kind::Node(number) if self.heap.node(number).shape == Shape::Set => &mut self.heap.node_mut(number).items,
            _ => return Err(unexpected("a set to add to", set)),
        };
        items.extend_from_slice(&self.stack[start..]);
        self.stack.truncate(start);
        Ok(())
    }

    pub(crate) fn empty_set(&mut self) {
        let val = self.heap.add(Shape::Set, Vec::new());
        self.stack.push(val);
    }

    #[inline]
    pub(crate) fn memoize(&mut self) -> Result<()> {
        self.put(self.memo.len() as u64, u64::MAX)
    }

    /// Executes `PUT` and its variants; an index of `bound` or more goes to the memo's sparse part.
    #[inline]
    pub(crate) fn put(&mut self, index: u64, bound: u64) -> Result<()> {
        let mut val = self.top()?;
        let position = self.stack.len() - 1;
        if val.is_fresh() {
            let in_order = index < bound && val.memo_index().is_none();
            if in_order && self.memo.put_pending(index as usize, position) {
                self.stack[position] = val.with_memo(index as usize);
                return Ok(());
            }
            val = self.promote(position);
        }
        self.memo.put(index, val, bound);
        Ok(())
    }

    /// Executes `GET` and its variants.
    #[inline]
    pub(crate) fn get(&mut self, index: u64) -> Result<()> {
        match self.memo.get_common(index) {
            Some(val) => {
                self.stack.push(val);
                Ok(())
            }
            None => self.get_uncommon(index),
        }
    }

    fn get_uncommon(&mut self, index: u64) -> Result<()> {
        let val = match self.memo.get(index) {
            Entry::Val(val) => self.heap.current(val),
            Entry::Pending(position) => self.promote(position),
            Entry::Vacant => return Err(underflow("a memo index that is already set", "one that is not")),
        };
        self.stack.push(val);
        Ok(())
    }

    fn top(&self) -> Result<Val> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.last() {
            Some(&val) if self.stack.len() > floor => Ok(val),
            _ => Err(underflow("a value", "an empty stack")),
        }
    }

    #[inline]
    fn pop_mark(&mut self) -> Result<usize> {
        self.marks.pop().ok_or_else(|| underflow("a mark", "none"))
    }

    fn tuple_from(&mut self, start: usize) -> Val {
        match self.stack[start..] {
            [] => Val::EMPTY_TUPLE,
            [first, second] if let Some(pair) = Val::pair(first, second) => pair,
            ref items => self.builder.tuple(items).unwrap_or_else(|| self.heap.add(Shape::Tuple, items.to_vec())),
        }
    }

    fn list_from(&mut self, start: usize) -> Val {
        let items = &self.stack[start..];
        if items.is_empty() {
            return Val::FRESH_LIST;
        }
        self.builder.list(items, &self.heap).unwrap_or_else(|| self.heap.add(Shape::List, items.to_vec()))
    }

    fn dict_from(&mut self, start: usize) -> Result<Val> {
        let entries = &self.stack[start..];
        if !entries.len().is_multiple_of(2) {
            return Err(underflow("as many values as keys", "a key without a value"));
        }
        if entries.is_empty() {
            return Ok(Val::FRESH_DICT);
        }
        let taken = self.builder.dict(entries, &self.heap);
        Ok(taken.unwrap_or_else(|| self.heap.add(Shape::Dict, entries.to_vec())))
    }

    /// Withholds a fresh container from the builder until it becomes part of another one.
    ///
    /// Protocol 0 fills containers item by item, so that the first item does not tell the builder what the container
    /// is.
    fn keep_open(&mut self, position: usize) {
        if self.stack[position].is_fresh() {
            self.promote(position);
        }
    }

    /// Counts a container that is filled although it is already part of another one.
    ///
    /// Only containers that contain themselves are written this way; the other container keeps the earlier state.
    fn note_late_fill(&mut self, number: u32) {
        self.late_fills += u64::from(self.heap.node(number).is_final());
    }

    /// Appends the items from `start` on to the list below them.
    fn append_from(&mut self, start: usize) -> Result<()> {
        self.close_from(start);
        let position = start - 1;
        let list = self.stack[position];
        if start < self.stack.len() {
            self.appended += (self.stack.len() - start) as u64;
            match list.kind() {
                Kind::FreshList(_) => {
                    let is_batch = self.stack.len() - start >= BATCH_ITEMS;
                    let val = self.list_from(start);
                    if is_batch {
                        self.note_batch(position, val);
                    }
                    self.replace_fresh(position, val);
                }
                Kind::Node(number) if self.heap.node(number).shape == Shape::List => {
                    self.note_late_fill(number);
                    self.heap.node_mut(number).items.extend_from_slice(&self.stack[start..]);
                }
                Kind::Handle(..) if self.builder.extend(list, &self.stack[start..]) => {}
                Kind::Handle(..) => {
                    let all = self.copy_of(list, start)?;
                    let node = self.heap.add(Shape::List, all);
                    self.replace_batch(position, node);
                    self.stack[position] = node;
                }
                _ => return Err(unexpected("a list to append to", list)),
            }
        } else if !matches!(list.kind(), Kind::FreshList(_) | Kind::Node(_) | Kind::Handle(..)) {
            return Err(unexpected("a list to append to", list));
        }
        self.stack.truncate(start);
        Ok(())
    }

    /// Adds the keys and values from `start` on to the dictionary below them.
    #[inline]
    fn set_from(&mut self, start: usize) -> Result<()> {
        self.close_from(start);
        let position = start - 1;
        let dict = self.stack[position];
        match dict.kind() {
            Kind::FreshDict(_) => {
                let val = self.dict_from(start)?;
                if !val.is_fresh() {
                    self.replace_fresh(position, val);
                }
            }
            Kind::Node(number) if self.heap.node(number).shape == Shape::Dict => {
                self.note_late_fill(number);
                let added = &self.stack[start..];
                if !added.len().is_multiple_of(2) {
                    return Err(underflow("as many values as keys", "a key without a value"));
                }
                self.heap.node_mut(number).items.extend_from_slice(added);
            }
            // The builder already took this dictionary; it looks for no key that comes after a thousand entries.
            Kind::Handle(..) => {}
            _ => return Err(unexpected("a dictionary to add to", dict)),
        }
        self.stack.truncate(start);
        Ok(())
    }

    /// Replaces a fresh container by what it became, on the stack and in the memo.
    #[inline]
    fn replace_fresh(&mut self, position: usize, val: Val) {
        if let Some(index) = self.stack[position].memo_index() {
            self.memo.resolve(index, position, val);
        }
        self.stack[position] = val;
    }

    /// Moves a fresh container into the heap, because a second reference to it is about to exist.
    fn promote(&mut self, position: usize) -> Val {
        let shape = match self.stack[position].kind() {
            Kind::FreshDict(_) => Shape::Dict,
            _ => Shape::List,
        };
        let val = self.heap.add(shape, Vec::new());
        self.replace_fresh(position, val);
        val
    }

    /// Closes every value from `start` on.
    #[inline]
    fn close_from(&mut self, start: usize) {
        for position in start..self.stack.len() {
            let val = self.stack[position];
            if val.is_open() {
                self.stack[position] = self.close(position, val);
            }
        }
    }

    /// Converts a value to its final form, because it becomes part of another container.
    pub(super) fn close(&mut self, position: usize, val: Val) -> Val {
        let Kind::Node(number) = val.kind() else { return self.settle(position, val) };
        let node = self.heap.node(number);
        if let Some(taken) = node.taken {
            return taken;
        }
        if node.items.is_empty() {
            let val = empty(node.shape).unwrap_or(val);
            self.heap.node_mut(number).used_empty = true;
            return val;
        }
        // A container that grows item by item is offered again only after it has doubled, which keeps the total work
        // linear.
        if node.declined_len > 0 && node.items.len() < 2 * node.declined_len {
            return val;
        }
        let taken = match node.shape {
            Shape::List => self.builder.list(&node.items, &self.heap),
            Shape::Dict => self.builder.dict(&node.items, &self.heap),
            Shape::Tuple | Shape::Set => None,
        };
        let node = self.heap.node_mut(number);
        node.declined_len = node.items.len();
        node.taken = taken;
        if taken.is_some() {
            node.items = Vec::new();
        }
        taken.unwrap_or(val)
    }

    /// Turns a fresh container into an empty one.
    fn settle(&mut self, position: usize, val: Val) -> Val {
        let empty = match val.kind() {
            Kind::FreshDict(_) => Val::EMPTY_DICT,
            Kind::FreshList(_) => Val::EMPTY_LIST,
            _ => return val,
        };
        if let Some(index) = val.memo_index() {
            self.memo.resolve(index, position, empty);
        }
        empty
    }
}

/// Returns the value of an empty heap container; sets have none.
fn empty(shape: Shape) -> Option<Val> {
    match shape {
        Shape::Dict => Some(Val::EMPTY_DICT),
        Shape::List => Some(Val::EMPTY_LIST),
        Shape::Tuple => Some(Val::EMPTY_TUPLE),
        Shape::Set => None,
    }
}

#[cold]
fn underflow(expected: &'static str, found: &str) -> Box<ErrorKind> {
    Box::new(ErrorKind::Unexpected { expected, found: found.to_owned() })
}

#[cold]
pub(super) fn unexpected(expected: &'static str, found: Val) -> Box<ErrorKind> {
    underflow(expected, found.describe())
}
