//! Says how events are written, so that later ones are read by position.
//!
//! One loop writes the events of a file: the values that events share (stream, pool, texts) are mostly identical.
//! Any other event is left to [`SnapshotBuilder::event`](super::build::SnapshotBuilder), which handles every case.

use super::keys::{self, STACK, *};
use crate::pickle::{Form, Kind, RECORD_VALUES, Role, Val};
use crate::trace::{ContextId, Event, StackId};

/// Keys of an event that belong to its context.
pub(super) const CONTEXT_KEYS: u64 =
    bits([STREAM, COMPILE_CONTEXT, USER_METADATA, POOL_ID, INTERNAL_METADATA, FORWARD_FRAMES, CATEGORY]);
/// Keys of an event that are read one by one.
pub(super) const OWN_KEYS: u64 = bits([ACTION, ADDR, SIZE, TIME_US, FRAMES]);

// Places of an event's own values.
const ACTION_PLACE: usize = 0;
const ADDR_PLACE: usize = 1;
const SIZE_PLACE: usize = 2;
const TIME_PLACE: usize = 3;
const FRAMES_PLACE: usize = 4;

/// Returns the form of an event without oddities, `None` if later ones can't be read by it; `present` is the set of its keys.
pub(super) fn form(entries: &[Val], present: u64, context: ContextId) -> Option<Form> {
    let needed = bits([ACTION, ADDR, SIZE]);
    if present & needed != needed || present & !(OWN_KEYS | CONTEXT_KEYS) != 0 {
        return None;
    }
    let role = |pair: &[Val]| {
        Some(match pair[0].as_str()?.index() {
            ACTION => Role::Name(ACTION_PLACE),
            ADDR => Role::Integer(ADDR_PLACE),
            SIZE => Role::Integer(SIZE_PLACE),
            TIME_US => Role::Integer(TIME_PLACE),
            FRAMES => Role::List(FRAMES_PLACE),
            // The content of a heap container may change while its value stays the same.
            _ if matches!(pair[1].kind(), Kind::Node(_)) => return None,
            _ => Role::Same,
        })
    };
    let roles = entries.chunks_exact(2).map(role).collect::<Option<_>>()?;
    Some(Form { tag: context.index() as u32, roles })
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
