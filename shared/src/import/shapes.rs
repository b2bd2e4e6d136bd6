//! Fast path for events with the same keys as an earlier one, whose values are read by position.
//!
//! One loop writes the events of a file, so that each key is at the same position as in the event before, and the
//! values that events share (stream, pool, texts) are mostly identical.
//! Any other event is left to [`SnapshotBuilder::event`](super::build::SnapshotBuilder), which handles every case.

use super::keys::{self, STACK, *};
use crate::base::StringId;
use crate::pickle::{Form, Kind, RECORD_VALUES, Role, Val};
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
        let shape = &self.0[entries.len() / 2 % self.0.len()];
        let has_keys = shape.keys.len() * 2 == entries.len()
            && entries.chunks_exact(2).zip(&shape.keys).fold(true, |same, (pair, key)| same & (pair[0] == *key));
        if !has_keys || !shape.context.iter().all(|&(place, val)| entries[place] == val) {
            return None;
        }
        let at = |place: Option<usize>| place.map_or(Val::NONE, |place| entries[place]);
        let mut values = [Val::NONE; RECORD_VALUES];
        values[ACTION_PLACE] = entries[shape.action];
        values[ADDR_PLACE] = entries[shape.addr];
        values[SIZE_PLACE] = entries[shape.size];
        values[TIME_PLACE] = at(shape.time);
        values[FRAMES_PLACE] = at(shape.frames);
        plain_event(&values, shape.context_id?)
    }

    /// Learns from an event without oddities, and returns false if it can't; `present` is the set of its keys.
    pub(super) fn learn(&mut self, entries: &[Val], present: u64, context: ContextId) -> bool {
        let needed = bits([ACTION, ADDR, SIZE]);
        if present & needed != needed || present & !(OWN_KEYS | CONTEXT_KEYS) != 0 {
            return false;
        }
        let index = entries.len() / 2 % self.0.len();
        let mut shape = Shape { context_id: Some(context), ..Shape::default() };
        for (place, pair) in entries.chunks_exact(2).enumerate() {
            let place = 2 * place + 1;
            let Some(key) = pair[0].as_str() else { return false };
            shape.keys.push(pair[0]);
            match key.index() {
                ACTION => shape.action = place,
                ADDR => shape.addr = place,
                SIZE => shape.size = place,
                TIME_US => shape.time = Some(place),
                FRAMES => shape.frames = Some(place),
                // The content of a heap container may change while its value stays the same.
                _ if matches!(pair[1].kind(), Kind::Node(_)) => return false,
                _ => shape.context.push((place, pair[1])),
            }
        }
        self.0[index] = shape;
        true
    }
}

// Places of an event's own values.
const ACTION_PLACE: usize = 0;
const ADDR_PLACE: usize = 1;
const SIZE_PLACE: usize = 2;
const TIME_PLACE: usize = 3;
const FRAMES_PLACE: usize = 4;

/// Returns the form of an event from which a shape was learnt.
pub(super) fn form(entries: &[Val], context: ContextId) -> Form {
    let role = |pair: &[Val]| match pair[0].as_str().map(StringId::index) {
        Some(ACTION) => Role::Name(ACTION_PLACE),
        Some(ADDR) => Role::Integer(ADDR_PLACE),
        Some(SIZE) => Role::Integer(SIZE_PLACE),
        Some(TIME_US) => Role::Integer(TIME_PLACE),
        Some(FRAMES) => Role::List(FRAMES_PLACE),
        _ => Role::Same,
    };
    Form { tag: context.index() as u32, roles: entries.chunks_exact(2).map(role).collect() }
}

/// Returns an event with these values of its own, or `None` if one of them is not as PyTorch writes it.
#[inline]
pub(super) fn plain_event(values: &[Val; RECORD_VALUES], context: ContextId) -> Option<Event> {
    const SIZE_LIMIT: i64 = 1 << 60;
    let size = values[SIZE_PLACE].as_small_int().filter(|size| (0..SIZE_LIMIT).contains(size))?;
    let stack = match values[FRAMES_PLACE].as_handle() {
        Some((STACK, number)) => StackId::from_index(number as usize),
        Some(_) => return None,
        None => match values[FRAMES_PLACE].kind() {
            Kind::EmptyList | Kind::EmptyTuple => StackId::EMPTY,
            Kind::None => StackId::NONE,
            _ => return None,
        },
    };
    let time = values[TIME_PLACE];
    Some(Event {
        action: keys::action(values[ACTION_PLACE].as_str()?)?,
        addr: values[ADDR_PLACE].as_small_int()? as u64,
        size_bytes: size as u64,
        time_us: if time == Val::NONE { 0 } else { time.as_small_int()? },
        stack,
        context,
    })
}
