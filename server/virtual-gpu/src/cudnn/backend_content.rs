//! Stores the attributes of a descriptor of the graph interface, and computes those that the library provides.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::Arc;

use super::kept::Key;
use super::work_space;

/// Kinds of descriptors (`cudnnBackendDescriptorType_t`) on which answers depend.
pub(super) mod kind {
    pub(in super::super) const ENGINE: i32 = 2;
    pub(in super::super) const ENGINE_CONFIGURATION: i32 = 3;
    pub(in super::super) const HEURISTICS: i32 = 4;
    pub(in super::super) const PLAN: i32 = 5;
    pub(in super::super) const KNOB_CHOICE: i32 = 7;
    pub(in super::super) const GRAPH: i32 = 15;
    /// Convolution forward, and backward with respect to the filter and to the data.
    pub(in super::super) const CONVOLUTIONS: [i32; 3] = [10, 11, 12];
}

/// Attributes (`cudnnBackendAttributeName_t`) on which answers depend.
pub(super) mod attribute {
    pub(in super::super) const HEURISTICS_GRAPH: i32 = 201;
    pub(in super::super) const HEURISTICS_RESULTS: i32 = 202;
    pub(in super::super) const HEURISTICS_DEVICE: i32 = 204;
    pub(in super::super) const CONFIGURATION_ENGINE: i32 = 300;
    pub(in super::super) const CONFIGURATION_KNOBS: i32 = 302;
    pub(in super::super) const CONFIGURATION_WORK_SPACE: i32 = 303;
    pub(in super::super) const CONFIGURATION_SHARED_MEMORY: i32 = 304;
    pub(in super::super) const PLAN_CONFIGURATION: i32 = 401;
    pub(in super::super) const PLAN_WORK_SPACE: i32 = 402;
    pub(in super::super) const PLAN_JSON: i32 = 405;
    pub(in super::super) const PLAN_DEVICE: i32 = 407;
    pub(in super::super) const KNOB: i32 = 600;
    pub(in super::super) const KNOB_VALUE: i32 = 601;
    pub(in super::super) const GRAPH_OPERATIONS: i32 = 801;
    pub(in super::super) const GRAPH_ENGINES: i32 = 802;
    pub(in super::super) const ENGINE_GRAPH: i32 = 1300;
    pub(in super::super) const ENGINE_INDEX: i32 = 1301;
    pub(in super::super) const ENGINE_NOTES: i32 = 1303;
    pub(in super::super) const ENGINE_BEHAVIORS: i32 = 1305;
    pub(in super::super) const ENGINE_DEVICE: i32 = 1307;
    /// Lists that are empty if nothing has set them: intermediates and knobs of a configuration; knobs, notes and
    /// layouts of an engine.
    pub(in super::super) const LISTS: [i32; 6] = [301, CONFIGURATION_KNOBS, 1302, ENGINE_NOTES, 1304, ENGINE_BEHAVIORS];
    /// Attributes that a library sets and a program only reads.
    pub(in super::super) const READ_ONLY: [i32; 4] =
        [HEURISTICS_RESULTS, PLAN_WORK_SPACE, ENGINE_NOTES, ENGINE_BEHAVIORS];
}

/// The values of one attribute.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Numbers, booleans or pointers, as unchanged bytes.
    Plain { value_type: c_int, count: usize, bytes: Vec<u8> },
    /// Contents of other descriptors.
    Descriptors(Vec<Arc<Content>>),
}

impl Value {
    /// `CUDNN_TYPE_BACKEND_DESCRIPTOR`.
    pub(super) const DESCRIPTOR: c_int = 15;

    pub(super) const HANDLE: c_int = 0;
    pub(super) const INT64: c_int = 3;
    pub(super) const KNOB: c_int = 9;
    pub(super) const NOTE: c_int = 11;
    pub(super) const BEHAVIOR: c_int = 19;
    pub(super) const CHAR: c_int = 24;
    const INT32: c_int = 23;

    pub(super) fn int64s(numbers: &[i64]) -> Self {
        let bytes = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        Self::Plain { value_type: Self::INT64, count: numbers.len(), bytes }
    }

    /// Returns numbers of an enumeration, which has 32 bits.
    pub(super) fn enumeration(value_type: c_int, numbers: &[i64]) -> Self {
        let bytes = numbers.iter().flat_map(|&number| (number as i32).to_ne_bytes()).collect();
        Self::Plain { value_type, count: numbers.len(), bytes }
    }

    /// Returns the size of an element of a `cudnnBackendAttributeType_t`, in bytes.
    pub(super) fn element_bytes(value_type: c_int) -> Option<usize> {
        match value_type {
            2 | Self::CHAR => Some(1),                     // boolean
            Self::HANDLE | Self::INT64 | 5 | 6 => Some(8), // double, pointer
            26 => Some(16),                                // fraction: two int64
            1 | 4 | 7..=14 | 16..=63 => Some(4), // float, int32 and every enumeration, also those of later versions
            _ => None,
        }
    }
}

/// The values that an attribute returns.
#[derive(Debug)]
pub(super) enum Answer {
    /// The same as [`Value::Plain`].
    Plain { value_type: c_int, count: usize, bytes: Vec<u8> },
    /// The same as [`Value::Descriptors`].
    Descriptors(Vec<Arc<Content>>),
    /// An empty list, such as the knobs or notes of an engine.
    Nothing,
    /// The attribute was never set, and this library does not provide it.
    Unknown,
}

impl Answer {
    fn int64(value: usize) -> Self {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        Self::Plain { value_type: Value::INT64, count: 1, bytes: value.to_ne_bytes().to_vec() }
    }

    fn int32(value: i32) -> Self {
        Self::Plain { value_type: Value::INT32, count: 1, bytes: value.to_ne_bytes().to_vec() }
    }

    fn text(text: &str) -> Self {
        let bytes = [text.as_bytes(), b"\0"].concat();
        Self::Plain { value_type: Value::CHAR, count: bytes.len(), bytes }
    }
}

/// The kind and the attributes of a descriptor.
#[derive(Debug, Clone)]
pub(super) struct Content {
    kind: c_int,
    values: BTreeMap<c_int, Value>,
}

impl Content {
    /// Returns the kind (`cudnnBackendDescriptorType_t`).
    pub(super) fn kind(&self) -> c_int {
        self.kind
    }

    /// Creates a descriptor without attributes.
    pub(super) fn new(kind: c_int) -> Self {
        Self { kind, values: BTreeMap::new() }
    }

    pub(super) fn set(&mut self, attribute: c_int, value: Value) {
        self.values.insert(attribute, value);
    }

    /// Returns the attributes that a program sets.
    pub(super) fn given(&self) -> impl Iterator<Item = (c_int, &Value)> {
        let values = self.values.iter().map(|(name, value)| (*name, value));
        values.filter(|(name, _)| !attribute::READ_ONLY.contains(name))
    }

    /// Adds what a program sets to a key, without handles, which differ from run to run.
    pub(super) fn identify(&self, key: &mut Key) {
        let is_handle = |value: &Value| matches!(value, Value::Plain { value_type: Value::HANDLE, .. });
        let given: Vec<_> = self.given().filter(|(_, value)| !is_handle(value)).collect();
        key.add(&[self.kind, given.len() as c_int].map(c_int::to_le_bytes).concat());
        for (name, value) in given {
            match value {
                Value::Plain { value_type, bytes, .. } => {
                    key.add(&[name, *value_type].map(c_int::to_le_bytes).concat());
                    key.add(bytes);
                }
                Value::Descriptors(parts) => {
                    key.add(&[name, parts.len() as c_int].map(c_int::to_le_bytes).concat());
                    parts.iter().for_each(|part| part.identify(key));
                }
            }
        }
    }

    /// Returns an attribute: the value that was set, or else the one that this library provides.
    pub(super) fn get(&self, attribute: c_int) -> Answer {
        match (self.kind, attribute) {
            _ if self.values.contains_key(&attribute) => self.stored(attribute),
            (kind::GRAPH, attribute::GRAPH_ENGINES) => Answer::int64(1),
            (kind::HEURISTICS, attribute::HEURISTICS_RESULTS) => match self.only(attribute::HEURISTICS_GRAPH) {
                Some(graph) => Answer::Descriptors(vec![Arc::new(Self::configuration_of(graph))]),
                None => Answer::Unknown,
            },
            (kind::ENGINE_CONFIGURATION, attribute::CONFIGURATION_WORK_SPACE)
            | (kind::PLAN, attribute::PLAN_WORK_SPACE) => Answer::int64(self.work_space_bytes()),
            (kind::ENGINE_CONFIGURATION, attribute::CONFIGURATION_SHARED_MEMORY) => Answer::int32(0),
            (kind::PLAN, attribute::PLAN_JSON) => Answer::text("{}"),
            (kind::ENGINE | kind::ENGINE_CONFIGURATION, attribute) if attribute::LISTS.contains(&attribute) => {
                Answer::Nothing
            }
            _ => self.stored(attribute),
        }
    }

    fn stored(&self, attribute: c_int) -> Answer {
        match self.values.get(&attribute) {
            Some(Value::Plain { value_type, count, bytes }) => {
                Answer::Plain { value_type: *value_type, count: *count, bytes: bytes.clone() }
            }
            Some(Value::Descriptors(descriptors)) => Answer::Descriptors(descriptors.clone()),
            None => Answer::Unknown,
        }
    }

    /// Returns the configuration of the virtual engine for a graph.
    pub(super) fn configuration_of(graph: &Arc<Self>) -> Self {
        let mut engine = Self::new(kind::ENGINE);
        engine.set(attribute::ENGINE_GRAPH, Value::Descriptors(vec![Arc::clone(graph)]));
        engine.set(attribute::ENGINE_INDEX, Value::int64s(&[0]));
        let mut configuration = Self::new(kind::ENGINE_CONFIGURATION);
        configuration.set(attribute::CONFIGURATION_ENGINE, Value::Descriptors(vec![Arc::new(engine)]));
        configuration
    }

    /// Returns true if the engine of a plan is one of the real library, which has notes.
    pub(super) fn is_of_real_engine(&self) -> bool {
        let engine = self.only(attribute::PLAN_CONFIGURATION).and_then(|of| of.only(attribute::CONFIGURATION_ENGINE));
        engine.is_some_and(|engine| engine.values.contains_key(&attribute::ENGINE_NOTES))
    }

    /// Returns the first descriptor in an attribute.
    pub(super) fn only(&self, attribute: c_int) -> Option<&Arc<Self>> {
        match self.values.get(&attribute)? {
            Value::Descriptors(descriptors) => descriptors.first(),
            Value::Plain { .. } => None,
        }
    }

    /// Returns the workspace that the operations of this descriptor ask for, in bytes.
    fn work_space_bytes(&self) -> usize {
        let convolves = |operation: &Arc<Self>| kind::CONVOLUTIONS.contains(&operation.kind);
        if self.operations().iter().any(convolves) { work_space::of_convolution() } else { 0 }
    }

    /// Returns the operations of a plan, configuration, engine or graph, by following its descriptors.
    fn operations(&self) -> &[Arc<Self>] {
        let inner = match self.kind {
            kind::PLAN => attribute::PLAN_CONFIGURATION,
            kind::ENGINE_CONFIGURATION => attribute::CONFIGURATION_ENGINE,
            kind::ENGINE => attribute::ENGINE_GRAPH,
            kind::GRAPH => {
                return match self.values.get(&attribute::GRAPH_OPERATIONS) {
                    Some(Value::Descriptors(operations)) => operations,
                    _ => &[],
                };
            }
            _ => return &[],
        };
        self.only(inner).map_or(&[], |content| content.operations())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a plan for a graph with one operation.
    fn plan(operation: c_int) -> Content {
        let mut graph = Content::new(kind::GRAPH);
        graph.set(attribute::GRAPH_OPERATIONS, Value::Descriptors(vec![Arc::new(Content::new(operation))]));
        let configuration = Content::configuration_of(&Arc::new(graph));
        let mut plan = Content::new(kind::PLAN);
        plan.set(attribute::PLAN_CONFIGURATION, Value::Descriptors(vec![Arc::new(configuration)]));
        plan
    }

    #[test]
    fn a_plan_knows_its_operations() {
        let kinds = |plan: &Content| plan.operations().iter().map(|operation| operation.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&plan(11)), [11]);
        assert_eq!(kinds(&Content::new(kind::PLAN)), [] as [c_int; 0]);
    }

    #[test]
    fn engines_use_no_shared_memory_that_is_counted() {
        let configuration = Content::new(kind::ENGINE_CONFIGURATION);
        let Answer::Plain { value_type, count, bytes } = configuration.get(attribute::CONFIGURATION_SHARED_MEMORY)
        else {
            panic!("it has an answer");
        };
        assert_eq!((value_type, count, bytes), (Value::INT32, 1, vec![0; 4]));
    }
}
