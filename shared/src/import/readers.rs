//! Readers for the fields of the current dictionary; a value of the wrong type counts as malformed and as absent.

use super::build::SnapshotBuilder;
use super::keys::{FRAMES, LIST, POOL, STACK};
use super::oddities::Record;
use crate::base::StringId;
use crate::pickle::{Heap, Kind, Val};
use crate::trace::{LinesId, PoolId, StackId};

impl SnapshotBuilder {
    #[inline]
    fn field<T>(&mut self, record: Record, key: usize, read: impl FnOnce(&Self, Val) -> Option<T>) -> Option<T> {
        let val = self.fields.get(key)?;
        let value = read(self, val);
        if value.is_none() && !matches!(val.kind(), Kind::None) {
            self.oddities.malformed(record, key);
        }
        value
    }

    #[inline]
    pub(super) fn number(&mut self, record: Record, key: usize, heap: &Heap) -> Option<u64> {
        self.field(record, key, |_, val| match val.as_small_int() {
            Some(value) => Some(value as u64),
            None => heap.as_u64(val),
        })
    }

    /// Reads a number of bytes, which must be below 2^60 as in PyTorch.
    #[inline]
    pub(super) fn size(&mut self, record: Record, key: usize, heap: &Heap) -> Option<u64> {
        const LIMIT: i64 = 1 << 60;
        self.field(record, key, |_, val| {
            let value = val.as_small_int().or_else(|| heap.as_i64(val))?;
            (0..LIMIT).contains(&value).then_some(value as u64)
        })
    }

    #[inline]
    pub(super) fn signed(&mut self, record: Record, key: usize, heap: &Heap) -> Option<i64> {
        self.field(record, key, |_, val| val.as_small_int().or_else(|| heap.as_i64(val)))
    }

    pub(super) fn flag(&mut self, record: Record, key: usize) -> Option<bool> {
        self.field(record, key, |_, val| match val.kind() {
            Kind::Bool(value) => Some(value),
            _ => None,
        })
    }

    #[inline]
    pub(super) fn text(&mut self, record: Record, key: usize) -> StringId {
        self.field(record, key, |_, val| val.as_str()).unwrap_or(StringId::EMPTY)
    }

    #[inline]
    pub(super) fn pool(&mut self, record: Record, key: usize, heap: &Heap) -> Option<PoolId> {
        self.field(record, key, |builder, val| match val.kind() {
            Kind::Pair(a, b) => Some(PoolId(u64::from(a), u64::from(b))),
            Kind::Handle(POOL, index) => Some(builder.pools[index as usize]),
            _ => match *heap.items(val)? {
                [a, b] => Some(PoolId(heap.as_u64(a)?, heap.as_u64(b)?)),
                _ => None,
            },
        })
    }

    #[inline]
    pub(super) fn stack_of(&mut self, record: Record) -> StackId {
        let stack = self.field(record, FRAMES, |_, val| match val.kind() {
            Kind::Handle(STACK, number) => Some(StackId::from_index(number as usize)),
            Kind::EmptyList | Kind::EmptyTuple => Some(StackId::EMPTY),
            _ => None,
        });
        stack.unwrap_or(StackId::NONE)
    }

    pub(super) fn row_list(&mut self, record: Record, key: usize, kind: u8) -> Option<u32> {
        let list = self.field(record, key, |builder, val| match val.kind() {
            Kind::Handle(LIST, number) if builder.lists[number as usize].kind == kind => Some(Some(number)),
            Kind::EmptyList | Kind::EmptyTuple => Some(None),
            _ => None,
        });
        list.flatten()
    }

    /// Reads a list of strings.
    #[inline]
    pub(super) fn lines(&mut self, key: usize, heap: &Heap) -> LinesId {
        if !self.fields.has(key) {
            return LinesId::EMPTY;
        }
        let Some(Kind::Node(number)) = self.fields.get(key).map(Val::kind) else { return LinesId::EMPTY };
        if let Some(&known) = self.known_lines.get(&number) {
            return known;
        }
        let lines = self.field(Record::Event, key, |_, val| {
            let lines: Option<Vec<StringId>> = heap.items(val)?.iter().map(|line| line.as_str()).collect();
            lines
        });
        let id = lines.map_or(LinesId::EMPTY, |lines| self.contexts.intern_lines(&lines));
        self.known_lines.insert(number, id);
        id
    }
}
