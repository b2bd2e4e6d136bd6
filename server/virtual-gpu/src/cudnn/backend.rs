//! Implements the graph interface ("backend"), in which descriptors represent everything.
//!
//! A descriptor is a map from attributes to values, and some values are descriptors. A program builds a graph of
//! operations, asks the heuristics for configurations of engines, and makes a plan of one of them:
//!
//! ```text
//! plan (401)-> engine configuration (300)-> engine (1300)-> graph (801)-> operations
//!                        ^ results (202) of the heuristics, whose graph is (201)
//! ```
//!
//! `engines` has the real library's answers, where that can be asked. Otherwise the heuristics return one configuration
//! for every graph, and its workspace depends on the operations, which are found by following the arrows.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::backend_content::{Answer, Content, Value};
use super::engines;
use super::status::{BAD_PARAMETER, NOT_SUPPORTED, NULL_POINTER, SUCCESS};
use crate::answers::launches;
use crate::arrays::{Array, OutArray};
use crate::ffi::Out;
use crate::log::line;

/// A descriptor of the program; other descriptors that have it as a value share its content.
///
/// A real descriptor cannot be changed after `cudnnBackendFinalize`; here a change makes a copy, so that the other
/// descriptors keep the old content.
pub(super) struct Descriptor {
    content: Arc<Content>,
}

#[unsafe(no_mangle)]
extern "C" fn cudnnBackendCreateDescriptor(kind: c_int, descriptor: Out<Box<Descriptor>>) -> c_int {
    if descriptor.put(Box::new(Descriptor { content: Arc::new(Content::new(kind)) })) { SUCCESS } else { NULL_POINTER }
}

#[unsafe(no_mangle)]
extern "C" fn cudnnBackendDestroyDescriptor(_descriptor: Option<Box<Descriptor>>) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnBackendFinalize(descriptor: Option<&mut Descriptor>) -> c_int {
    let Some(descriptor) = descriptor else { return NULL_POINTER };
    match engines::finalize(&descriptor.content) {
        Ok(answers) => {
            let content = Arc::make_mut(&mut descriptor.content);
            answers.into_iter().for_each(|(attribute, value)| content.set(attribute, value));
            SUCCESS
        }
        Err(status) => status,
    }
}

launches! { cudnnBackendExecute }

#[unsafe(no_mangle)]
extern "C" fn cudnnBackendSetAttribute(
    descriptor: Option<&mut Descriptor>,
    attribute: c_int,
    value_type: c_int,
    count: i64,
    elements: Array<u8>,
) -> c_int {
    let (Some(descriptor), Ok(count)) = (descriptor, usize::try_from(count)) else { return BAD_PARAMETER };
    let value = if value_type == Value::DESCRIPTOR {
        let given = elements.cast::<Option<&Descriptor>>().copy(count);
        Value::Descriptors(given.into_iter().flatten().map(|given| Arc::clone(&given.content)).collect())
    } else {
        let Some(element_bytes) = Value::element_bytes(value_type) else { return BAD_PARAMETER };
        Value::Plain { value_type, count, bytes: elements.copy(count.saturating_mul(element_bytes)) }
    };
    Arc::make_mut(&mut descriptor.content).set(attribute, value);
    SUCCESS
}

/// Returns the number of elements, and as many of them as fit into the caller's array, if there is one.
///
/// Descriptors are written into descriptors that the caller has created.
#[unsafe(no_mangle)]
extern "C" fn cudnnBackendGetAttribute(
    descriptor: Option<&Descriptor>,
    attribute: c_int,
    value_type: c_int,
    room: i64,
    count: Out<i64>,
    elements: OutArray<c_void>,
) -> c_int {
    let Some(descriptor) = descriptor else { return NULL_POINTER };
    let room = usize::try_from(room).unwrap_or(0);
    match descriptor.content.get(attribute) {
        Answer::Descriptors(found) => {
            count.put_if_wanted(found.len() as i64);
            let places = elements.cast::<Option<&mut Descriptor>>().take(room.min(found.len()));
            for (place, content) in places.into_iter().flatten().zip(found) {
                place.content = content;
            }
            SUCCESS
        }
        Answer::Plain { value_type: has, count: has_count, bytes } if has == value_type => {
            count.put_if_wanted(has_count as i64);
            let shown = bytes.len() / has_count.max(1) * room.min(has_count);
            elements.cast().put(&bytes[..shown]);
            SUCCESS
        }
        Answer::Plain { .. } => BAD_PARAMETER,
        Answer::Nothing => {
            count.put_if_wanted(0);
            SUCCESS
        }
        Answer::Unknown => {
            let kind = descriptor.content.kind();
            line(format_args!("attribute {attribute} of a cudnn descriptor of kind {kind} has no value"));
            NOT_SUPPORTED
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT64: c_int = 3;

    fn create(kind: c_int) -> Box<Descriptor> {
        let mut descriptor = None;
        assert_eq!(cudnnBackendCreateDescriptor(kind, Out::to(&mut descriptor).cast()), SUCCESS);
        descriptor.expect("it was created")
    }

    fn set_descriptor(descriptor: &mut Descriptor, attribute: c_int, value: &Descriptor) {
        let array = Array::of(&[value]).cast();
        assert_eq!(cudnnBackendSetAttribute(Some(descriptor), attribute, Value::DESCRIPTOR, 1, array), SUCCESS);
    }

    /// Reads the first descriptor of an attribute, and returns the number of descriptors.
    fn get_descriptor(descriptor: &Descriptor, attribute: c_int, place: &mut Descriptor) -> i64 {
        let mut count = -1;
        let mut places = [Some(place)];
        let array = OutArray::to(&mut places).cast();
        let count_out = Out::to(&mut count);
        let status = cudnnBackendGetAttribute(Some(descriptor), attribute, Value::DESCRIPTOR, 1, count_out, array);
        assert_eq!(status, SUCCESS);
        count
    }

    /// Reads an attribute of numbers, and returns their count and the first.
    ///
    /// # Errors
    /// Returns the status if it is not success.
    fn get_int64(descriptor: &Descriptor, attribute: c_int) -> Result<(i64, i64), c_int> {
        let (mut count, mut value) = (-1, [-1_i64]);
        let array = OutArray::to(&mut value).cast();
        match cudnnBackendGetAttribute(Some(descriptor), attribute, INT64, 1, Out::to(&mut count), array) {
            SUCCESS => Ok((count, value[0])),
            status => Err(status),
        }
    }

    #[test]
    fn a_graph_gets_one_engine_and_a_plan() {
        let operation = create(10);
        let mut graph = create(15);
        set_descriptor(&mut graph, 801, &operation);
        assert_eq!(get_int64(&graph, 802), Ok((1, 1)));
        let mut heuristics = create(4);
        set_descriptor(&mut heuristics, 201, &graph);
        drop(graph);
        let mut configuration = create(3);
        assert_eq!(get_descriptor(&heuristics, 202, &mut configuration), 1);
        let mut engine = create(2);
        assert_eq!(get_descriptor(&configuration, 300, &mut engine), 1);
        assert_eq!(get_int64(&engine, 1301), Ok((1, 0)));
        assert_eq!(get_int64(&engine, 1302), Ok((0, -1)), "an engine has no knobs");
        assert_eq!(get_int64(&engine, 9999), Err(NOT_SUPPORTED), "there is no such attribute");
        let mut plan = create(5);
        set_descriptor(&mut plan, 401, &configuration);
        assert_eq!(get_int64(&plan, 402), Ok((1, 0)));
    }

    #[test]
    fn numbers_come_back_as_far_as_there_is_room() {
        let mut tensor = create(17);
        let sizes = Array::of(&[8_i64, 3, 224]).cast();
        assert_eq!(cudnnBackendSetAttribute(Some(&mut tensor), 902, INT64, 3, sizes), SUCCESS);
        let (mut count, mut back) = (0, [0_i64; 3]);
        let array = OutArray::to(&mut back).cast();
        assert_eq!(cudnnBackendGetAttribute(Some(&tensor), 902, INT64, 2, Out::to(&mut count), array), SUCCESS);
        assert_eq!((count, back), (3, [8, 3, 0]));
        let other_type = cudnnBackendGetAttribute(Some(&tensor), 902, 4, 2, Out::to(&mut count), OutArray::to(&mut []));
        assert_eq!(other_type, BAD_PARAMETER);
    }

    #[test]
    fn a_change_does_not_reach_who_was_given_the_descriptor() {
        let mut operation = create(19);
        let mut graph = create(15);
        set_descriptor(&mut graph, 801, &operation);
        let value = Array::of(&[7_i64]).cast();
        assert_eq!(cudnnBackendSetAttribute(Some(&mut operation), 1524, INT64, 1, value), SUCCESS);
        let mut seen = create(19);
        assert_eq!(get_descriptor(&graph, 801, &mut seen), 1);
        assert_eq!((get_int64(&operation, 1524), get_int64(&seen, 1524)), (Ok((1, 7)), Err(NOT_SUPPORTED)));
    }
}
