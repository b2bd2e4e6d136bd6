//! Fast path for events with the same keys as an earlier one, whose values are read by position.
//!
//! One loop writes the events of a file, so that each key is at the same position as in the event before, and the
//! values that events share (stream, pool, texts) are mostly identical.
//! Any other event is left to [`SnapshotBuilder::event`](super::build::SnapshotBuilder), which handles every case.

use super::keys::{self, *};
use super::kinds::STACK;
use crate::pickle::{Kind, Val};
use crate::trace::{ContextId, Event, StackId};

/// Keys of an event that belong to its context.
const CONTEXT_KEYS: u64 =
    bits([STREAM, COMPILE_CONTEXT, USER_METADATA, POOL_ID, INTERNAL_METADATA, FORWARD_FRAMES, CATEGORY]);
/// Keys of an event that are read one by one.
const OWN_KEYS: u64 = bits([ACTION, ADDR, SIZE, TIME_US, FRAMES]);

/// Positions of the keys and values of an event.
#[derive(Clone, Debug, Default)]
struct Shape {
    /// Keys in their order; empty if nothing was learnt.
    keys: Vec<Val>,
    action: usize,
    addr: usize,
    size: usize,
    time: Option<usize>,
    frames: Option<usize>,
    /// Positions of the values that make up the context, with the values of the learnt event.
    context: Vec<(usize, Val)>,
    context_id: Option<ContextId>,
}

/// Learnt shapes by number of keys modulo 4, because some events of a recording have stacks and others none.
#[derive(Debug, Default)]
pub(super) struct Shapes([Shape; 4]);

impl Shapes {
    /// Reads an event if its keys and context equal those of a learnt one.
    #[inline]
    pub(super) fn read(&self, entries: &[Val]) -> Option<Event> {
        const SIZE_LIMIT: i64 = 1 << 60;
        let shape = &self.0[entries.len() / 2 % self.0.len()];
        let has_keys = shape.keys.len() * 2 == entries.len()
            && entries.chunks_exact(2).zip(&shape.keys).fold(true, |same, (pair, key)| same & (pair[0] == *key));
        if !has_keys || !shape.context.iter().all(|&(place, val)| entries[place] == val) {
            return None;
        }
        let size = entries[shape.size].as_small_int().filter(|size| (0..SIZE_LIMIT).contains(size))?;
        let stack = match shape.frames.map(|place| entries[place].kind()) {
            Some(Kind::Handle(STACK, number)) => StackId::from_index(number as usize),
            Some(Kind::EmptyList | Kind::EmptyTuple) => StackId::EMPTY,
            Some(_) => return None,
            None => StackId::NONE,
        };
        Some(Event {
            action: keys::action(entries[shape.action].as_str()?)?,
            addr: entries[shape.addr].as_small_int()? as u64,
            size_bytes: size as u64,
            time_us: shape.time.map_or(Some(0), |place| entries[place].as_small_int())?,
            stack,
            context: shape.context_id?,
        })
    }

    /// Learns from an event without oddities; `present` is the set of its keys.
    pub(super) fn learn(&mut self, entries: &[Val], present: u64, context: ContextId) {
        let needed = bits([ACTION, ADDR, SIZE]);
        if present & needed != needed || present & !(OWN_KEYS | CONTEXT_KEYS) != 0 {
            return;
        }
        let index = entries.len() / 2 % self.0.len();
        let mut shape = Shape { context_id: Some(context), ..Shape::default() };
        for (place, pair) in entries.chunks_exact(2).enumerate() {
            let place = 2 * place + 1;
            let Some(key) = pair[0].as_str() else { return };
            shape.keys.push(pair[0]);
            match key.index() {
                ACTION => shape.action = place,
                ADDR => shape.addr = place,
                SIZE => shape.size = place,
                TIME_US => shape.time = Some(place),
                FRAMES => shape.frames = Some(place),
                // The content of a heap container may change while its value stays the same.
                _ if matches!(pair[1].kind(), Kind::Node(_)) => return,
                _ => shape.context.push((place, pair[1])),
            }
        }
        self.0[index] = shape;
    }
}
