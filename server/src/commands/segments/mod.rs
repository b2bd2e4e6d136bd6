//! `snapscope segments`: what the segments hold at a moment, what is lost in them, and what keeps them.

mod document;
mod page;

use std::path::PathBuf;

use clap::Args;
use shared::analysis::{
    Allocations, Fragmentation, Held, MapSegment, Room, SegmentMap, held_segments, rooms, stack_title,
};
use shared::trace::{Device, Trace};

use super::open::Opened;
use super::peak;
use crate::Failure;

/// The options of `snapscope segments`.
#[derive(Debug, Clone, Args)]
pub struct SegmentsArgs {
    /// The snapshot: a pickle of `_dump_snapshot`, gzip'd or not, its JSON form, or a page of `trace_plot`
    file: PathBuf,

    /// The GPU index [default: the one with the highest peak]
    #[arg(long, value_name = "N")]
    device: Option<i64>,

    /// The state after this event instead of where the most is reserved; -1 is the state before the first event
    #[arg(long, value_name = "EVENT", allow_negative_numbers = true)]
    at: Option<i64>,

    /// How many segments to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The answer before it is put into words.
struct Found<'a> {
    file: &'a str,
    trace: &'a Trace,
    device: &'a Device,
    allocations: &'a Allocations,
    map: SegmentMap,
    parts: Fragmentation,
    rooms: Vec<Room>,
    held: Vec<Held>,
    /// Whether the moment is the one at which the most is reserved.
    is_peak: bool,
    top: usize,
}

impl SegmentsArgs {
    /// Reads the file and returns what to print.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no snapshot, or has no such device or event.
    pub fn run(&self) -> Result<String, Failure> {
        let opened = Opened::read(&self.file)?;
        let (device, timeline) = opened.choose_device(self.device)?;
        let peak = timeline.reserved_peak().0;
        let moment = self.at.map_or(Ok(peak), |event| peak::moment_after(device, timeline, event))?;
        let map = SegmentMap::at(&opened.trace, device, &timeline.allocations, moment);
        let found = Found {
            file: &opened.file,
            trace: &opened.trace,
            device,
            allocations: &timeline.allocations,
            parts: Fragmentation::of(&map),
            rooms: rooms(&map),
            held: held_segments(&map),
            map,
            is_peak: moment == peak,
            top: self.top,
        };
        if self.json {
            let report = document::report(&found);
            return Ok(serde_json::to_string_pretty(&report).expect("plain data can be written") + "\n");
        }
        Ok(page::page(&found))
    }
}

impl Found<'_> {
    /// The segments with the most free bytes, and how many are left out.
    fn segments(&self) -> (Vec<&MapSegment>, usize) {
        let mut segments: Vec<&MapSegment> = self.map.segments.iter().collect();
        segments.sort_by_key(|segment| std::cmp::Reverse(segment.free_bytes()));
        let others = segments.len().saturating_sub(self.top);
        segments.truncate(self.top);
        (segments, others)
    }

    /// What the stack of an allocation is about.
    fn title(&self, id: shared::analysis::AllocationId) -> String {
        let stack = self.allocations.allocation_stack(id, self.device);
        stack_title(self.trace, stack).unwrap_or_else(|| "no stack recorded".to_owned())
    }

    /// What the stack of a segment's largest block is about; nothing in a free segment.
    fn largest_title(&self, segment: &MapSegment) -> Option<String> {
        let used = self.map.blocks_of(segment).iter().filter(|block| !block.is_free());
        let largest = used.max_by_key(|block| block.size_bytes)?;
        largest.allocation.map(|id| self.title(id))
    }
}
