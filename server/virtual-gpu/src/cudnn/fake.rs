//! A real library for tests: it knows two engines, the second of which makes no plan.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::slice;

use super::backend_content::{Value, attribute, kind};
use super::real::Library;
use super::status::{NOT_SUPPORTED, SUCCESS};
use crate::ffi::Handle;

/// The engines that make a plan, and that do not.
pub(super) const ENGINES: [i64; 2] = [38, 67];

/// Workspace of the plan, in bytes.
pub(super) const WORK_SPACE: i64 = 6_570_000;

/// A knob of each engine and its choice.
pub(super) const CHOICE: [i64; 2] = [2, 5];

/// A descriptor; the words stand for what a description of a device contains.
struct Fake {
    words: [i32; 40],
    kind: c_int,
    engine: i64,
    parts: BTreeMap<c_int, Vec<Handle>>,
}

pub(super) const LIBRARY: Library = Library { create, destroy, set, get, finalize };

/// Returns the groups of multiprocessors that a description contains.
pub(super) fn groups(device: Handle) -> Vec<i32> {
    fake(device).words[7..].iter().copied().take_while(|&count| count > 0).collect()
}

fn fake<'a>(handle: Handle) -> &'a mut Fake {
    // SAFETY: all handles come from `create`, and a test uses them on one thread.
    unsafe { &mut *handle.cast::<Fake>() }
}

/// Returns the first descriptor that an attribute refers to.
fn part<'a>(of: &Fake, attribute: c_int) -> Option<&'a mut Fake> {
    of.parts.get(&attribute)?.first().map(|&handle| fake(handle))
}

unsafe extern "C" fn create(kind: c_int, handle: *mut Handle) -> c_int {
    let made = Box::new(Fake { words: [0; 40], kind, engine: 0, parts: BTreeMap::new() });
    // SAFETY: the library passes a place for the handle.
    unsafe { handle.write(Box::into_raw(made).cast()) };
    SUCCESS
}

unsafe extern "C" fn destroy(handle: Handle) -> c_int {
    // SAFETY: the handle comes from `create`.
    drop(unsafe { Box::from_raw(handle.cast::<Fake>()) });
    SUCCESS
}

unsafe extern "C" fn set(handle: Handle, name: c_int, value_type: c_int, count: i64, values: *const c_void) -> c_int {
    let made = fake(handle);
    if value_type == Value::DESCRIPTOR {
        // SAFETY: the caller passes as many handles as it says.
        let parts = unsafe { slice::from_raw_parts(values.cast::<Handle>(), count as usize) };
        made.parts.insert(name, parts.to_vec());
    } else if name == attribute::ENGINE_INDEX {
        // SAFETY: the caller passes a number of this type.
        made.engine = unsafe { values.cast::<i64>().read() };
    }
    SUCCESS
}

unsafe extern "C" fn finalize(handle: Handle) -> c_int {
    let made = fake(handle);
    let place = match made.kind {
        kind::HEURISTICS => attribute::HEURISTICS_DEVICE,
        kind::ENGINE => attribute::ENGINE_DEVICE,
        kind::PLAN => attribute::PLAN_DEVICE,
        _ => {
            made.words[5..8].copy_from_slice(&[900, 13_000, 18]);
            return SUCCESS;
        }
    };
    let configuration = part(made, attribute::PLAN_CONFIGURATION);
    let engine = configuration.and_then(|configuration| part(configuration, attribute::CONFIGURATION_ENGINE));
    let is_refused = engine.is_some_and(|engine| engine.engine == ENGINES[1]);
    if is_refused || !made.parts.contains_key(&place) { NOT_SUPPORTED } else { SUCCESS }
}

unsafe extern "C" fn get(
    handle: Handle,
    name: c_int,
    value_type: c_int,
    room: i64,
    count: *mut i64,
    values: *mut c_void,
) -> c_int {
    let made = fake(handle);
    let numbers = match name {
        attribute::HEURISTICS_RESULTS => ENGINES.to_vec(),
        attribute::CONFIGURATION_ENGINE | attribute::ENGINE_INDEX => vec![made.engine],
        attribute::CONFIGURATION_KNOBS => vec![0],
        attribute::KNOB => vec![CHOICE[0]],
        attribute::KNOB_VALUE => vec![CHOICE[1]],
        attribute::ENGINE_NOTES => vec![0],
        attribute::PLAN_WORK_SPACE => vec![WORK_SPACE],
        _ => Vec::new(),
    };
    // SAFETY: the caller passes a place for the count, and room for as many values as it says.
    unsafe {
        count.write(numbers.len() as i64);
        for (index, &number) in numbers.iter().enumerate().take(room as usize) {
            match value_type {
                Value::DESCRIPTOR => fake(values.cast::<Handle>().add(index).read()).engine = number,
                Value::INT64 => values.cast::<i64>().add(index).write(number),
                _ => values.cast::<i32>().add(index).write(number as i32),
            }
        }
    }
    SUCCESS
}
