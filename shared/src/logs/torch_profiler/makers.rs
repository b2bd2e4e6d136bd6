//! What made the allocations of a trace: all of it that is needed beside a snapshot of the same run.

use super::trace::{Course, DeviceKind, MemoryEvent, Profile};
use crate::base::StringId;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// Allocations of a trace on GPUs, with what made them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Makers {
    pub devices: Vec<MadeOn>,
    pub makers: Vec<Maker>,
    /// Time of the kernels of each call of an operator, in microseconds.
    pub kernels_us: Vec<f64>,
    /// True if the trace has kernels of the GPU.
    pub has_kernels: bool,
}

/// Allocations on one GPU, in the order of their times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MadeOn {
    /// CUDA index.
    pub index: u32,
    pub allocations: Vec<Made>,
}

/// Allocation of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Made {
    pub time_us: f64,
    pub addr: u64,
    /// Size of the block, which is at least the requested one.
    pub bytes: u64,
    /// Position in [`Makers::makers`].
    pub maker: u32,
    /// Position of the call of the outermost operator in [`Makers::kernels_us`].
    pub call: Option<u32>,
}

/// Operator and function that allocate together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Maker {
    /// Outermost operator.
    pub operator: Option<String>,
    /// Innermost function of the user's own code.
    pub function: Option<String>,
}

impl Makers {
    /// Takes them out of a trace; `None` if it has no allocations on a GPU.
    pub fn of(profile: &Profile) -> Option<Self> {
        let mut made = Self {
            kernels_us: profile.operations.iter().map(|call| call.kernels_us).collect(),
            has_kernels: profile.has_kernels,
            ..Self::default()
        };
        let mut positions: HashMap<(Option<StringId>, Option<StringId>), u32> = HashMap::new();
        for Course { index, events, .. } in profile.courses.iter().filter(|course| course.kind == DeviceKind::Gpu) {
            let mut maker = |event: &MemoryEvent| {
                let call = event.operation.and_then(|call| profile.operations.get(call as usize));
                let (operator, function) = (call.map(|call| call.name), event.function);
                *positions.entry((operator, function)).or_insert_with(|| {
                    let name = |id: Option<StringId>| id.map(|id| profile.name(id).to_owned());
                    made.makers.push(Maker { operator: name(operator), function: name(function) });
                    made.makers.len() as u32 - 1
                })
            };
            let allocations = events.iter().filter_map(|event| {
                let bytes = u64::try_from(event.bytes).ok().filter(|bytes| *bytes > 0)?;
                let (time_us, addr, call) = (event.time_us, event.addr, event.operation);
                Some(Made { time_us, addr, bytes, maker: maker(event), call })
            });
            made.devices.push(MadeOn { index: *index, allocations: allocations.collect() });
        }
        made.devices.iter().any(|device| !device.allocations.is_empty()).then_some(made)
    }
}
