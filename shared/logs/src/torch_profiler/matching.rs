//! Matches the allocations of a trace with those that a snapshot of the same run has.
//!
//! [`Makers`] is all of the trace that is needed for that: its allocations, with what made them.
//!
//! Both have addresses and, since PyTorch 2.3 or so, microseconds since the Unix epoch. The profiler converts the clock of
//! the processor, so that its times are some microseconds off; an address that is allocated again in less than that is not
//! matched wrongly, because each allocation is matched once, with the nearest one.

use super::trace::{MemoryEvent, Profile};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use shared::base::StringId;

/// Largest difference of the times of one allocation in both files.
const MOST_OFF_US: f64 = 1000.0;

/// Allocation of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    pub time_us: i64,
    pub addr: u64,
    /// Requested size; the trace has the size of the block, which is larger.
    pub size_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// Position of the trace's allocation for each allocation of the snapshot.
    pub found: Vec<Option<usize>>,
    /// Number of the trace's allocations that the snapshot has.
    pub matched: usize,
    /// Median difference of their times.
    pub off_us: f64,
}

/// Matches the allocations of a device, which come in the order of a snapshot's events.
pub fn matches(made: &[Made], allocated: impl Iterator<Item = Allocated>) -> Matches {
    let mut by_addr: HashMap<u64, Vec<usize>> = HashMap::new();
    for (position, one) in made.iter().enumerate() {
        by_addr.entry(one.addr).or_default().push(position);
    }
    let mut is_taken = vec![false; made.len()];
    let mut offs: Vec<f64> = Vec::new();
    let mut of = |one: Allocated| {
        let (position, off_us) = nearest(made, by_addr.get(&one.addr)?, &one)?;
        // The allocator hands out an address again only later.
        if std::mem::replace(&mut is_taken[position], true) {
            return None;
        }
        offs.push(off_us);
        Some(position)
    };
    let found = allocated.map(&mut of).collect();
    offs.sort_by(f64::total_cmp);
    let off_us = offs.get(offs.len() / 2).copied().unwrap_or(0.0);
    Matches { found, matched: offs.len(), off_us }
}

/// Returns the allocation of an address that is nearest in time, and how far it is off.
fn nearest(made: &[Made], positions: &[usize], one: &Allocated) -> Option<(usize, f64)> {
    let time_us = one.time_us as f64;
    let after = positions.partition_point(|&position| made[position].time_us < time_us);
    let near = positions[after.saturating_sub(1)..].iter().take(2);
    let near = near.map(|&position| (position, (made[position].time_us - time_us).abs()));
    let (position, off_us) = near.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let is_same = off_us <= MOST_OFF_US && made[position].bytes >= one.size_bytes;
    is_same.then_some((position, off_us))
}

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
        for (index, course) in profile.courses.iter().filter_map(|course| Some((course.gpu?, course))) {
            let mut maker = |event: &MemoryEvent| {
                let call = event.operation.and_then(|call| profile.operations.get(call as usize));
                let (operator, function) = (call.map(|call| call.name), event.function);
                *positions.entry((operator, function)).or_insert_with(|| {
                    let name = |id: Option<StringId>| id.map(|id| profile.name(id).to_owned());
                    made.makers.push(Maker { operator: name(operator), function: name(function) });
                    made.makers.len() as u32 - 1
                })
            };
            let allocations = course.events.iter().filter_map(|event| {
                let bytes = u64::try_from(event.bytes).ok().filter(|bytes| *bytes > 0)?;
                let (time_us, addr, call) = (event.time_us, event.addr, event.operation);
                Some(Made { time_us, addr, bytes, maker: maker(event), call })
            });
            made.devices.push(MadeOn { index, allocations: allocations.collect() });
        }
        made.devices.iter().any(|device| !device.allocations.is_empty()).then_some(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_matched_with_the_nearest_time() {
        let one = |time_us: f64, addr: u64, bytes: u64| Made { time_us, addr, bytes, ..Made::default() };
        let made = [one(100.0, 1, 512), one(200.5, 1, 1024), one(300.0, 2, 512), one(9000.0, 3, 512)];
        let all = [(100, 1, 500), (200, 1, 1024), (299, 2, 513), (201, 1, 8), (300, 4, 8), (4000, 3, 8)];
        let all = all.map(|(time_us, addr, size_bytes)| Allocated { time_us, addr, size_bytes });
        let found = matches(&made, all.into_iter());
        assert_eq!(found.found, [Some(0), Some(1), None, None, None, None]);
        assert_eq!((found.matched, found.off_us), (2, 0.5));
    }
}
