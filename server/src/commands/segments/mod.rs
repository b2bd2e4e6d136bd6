//! Implements `snapscope segments`, which shows the segments at a moment, their losses and the allocations that keep
//! them.

mod document;
mod page;

use std::path::PathBuf;

use clap::Args;
use shared::analysis::{
    AllocationId, Allocations, Fragmentation, Held, MapSegment, Room, SegmentMap, Timeline, held_segments, rooms,
    stack_title,
};
use shared::trace::{Device, Trace};

use super::peak;
use crate::Failure;
use crate::snapshot_file::Opened;

/// The options of `snapscope segments`.
#[derive(Debug, Clone, Args)]
pub struct SegmentsArgs {
    /// The snapshot: a pickle of `_dump_snapshot`, gzipped or not, its JSON form, or an HTML page of `trace_plot`
    file: PathBuf,

    /// The GPU index [default: the one with the highest peak]
    #[arg(long, value_name = "N")]
    device: Option<i64>,

    /// Show the state after this event instead of the peak of reserved memory; -1 is the state before the first event
    #[arg(long, value_name = "EVENT", allow_negative_numbers = true)]
    at: Option<i64>,

    /// Number of segments to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Analysis of the segments at one moment, before it is formatted.
struct Found<'a> {
    file: &'a str,
    trace: &'a Trace,
    device: &'a Device,
    allocations: &'a Allocations,
    map: SegmentMap,
    parts: Fragmentation,
    rooms: Vec<Room>,
    held: Vec<Held>,
    /// True if the moment is the peak of the reserved bytes.
    is_peak: bool,
    top: usize,
}

impl SegmentsArgs {
    /// Reads the file and returns the text to print.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, is not a snapshot, or has no such device or event.
    pub fn run(&self) -> Result<String, Failure> {
        let opened = Opened::read(&self.file)?;
        let (device, timeline) = opened.choose_device(self.device)?;
        let moment =
            self.at.map_or(Ok(timeline.reserved_peak().0), |event| peak::moment_after(device, timeline, event))?;
        let found = Found::at(&opened.file, (&opened.trace, device, timeline), moment, self.top);
        if self.json {
            let report = document::report(&found);
            return Ok(serde_json::to_string_pretty(&report).expect("plain data can be written") + "\n");
        }
        Ok(page::page(&found))
    }
}

impl<'a> Found<'a> {
    fn at(
        file: &'a str,
        (trace, device, timeline): (&'a Trace, &'a Device, &'a Timeline),
        moment: u32,
        top: usize,
    ) -> Self {
        let allocations = &timeline.allocations;
        let map = SegmentMap::at(trace, device, allocations, moment);
        let (parts, rooms, held) = (Fragmentation::of(&map), rooms(&map), held_segments(&map));
        let is_peak = moment == timeline.reserved_peak().0;
        Self { file, trace, device, allocations, map, parts, rooms, held, is_peak, top }
    }

    /// Returns the segments with the most free bytes, and the number of the others.
    fn segments(&self) -> (Vec<&MapSegment>, usize) {
        let mut segments: Vec<&MapSegment> = self.map.segments.iter().collect();
        segments.sort_by_key(|segment| std::cmp::Reverse(segment.free_bytes()));
        let others = segments.len().saturating_sub(self.top);
        segments.truncate(self.top);
        (segments, others)
    }

    /// Returns the title of an allocation's stack.
    fn title(&self, id: AllocationId) -> String {
        let stack = self.allocations.allocation_stack(id, self.device);
        stack_title(self.trace, stack).unwrap_or_else(|| "no stack recorded".to_owned())
    }

    /// Returns the title of the stack of a segment's largest used block; `None` in a free segment.
    fn largest_title(&self, segment: &MapSegment) -> Option<String> {
        let used = self.map.blocks_of(segment).iter().filter(|block| !block.is_free());
        let largest = used.max_by_key(|block| block.size_bytes)?;
        largest.allocation.map(|id| self.title(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::trace::text;

    const TRACE: &str = "
        segment_alloc 0x10000000 20MiB
        segment_alloc 0x20000000 10MiB
        alloc 0x10000000 2097052 @forward<main
        segment_free 0x20000000 10MiB
        segment 0x10000000 20MiB
        block 0x10000000 2MiB requested=2097052
    ";

    #[track_caller]
    fn check(moment: u32, top: usize, see: impl FnOnce(&Found<'_>)) {
        let trace = text::parse(TRACE).unwrap();
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        see(&Found::at("a.pickle", (&trace, &trace.devices[0], &timeline), moment, top));
    }

    #[test]
    fn each_part_stands_with_its_definition() {
        check(3, 1, |found| {
            let page = page::page(found);
            for line in [
                "30.0 MiB reserved in 2 segments after event 2\n",
                "rounding                  100 B  <0.1 %  rounded sizes minus requested sizes",
                "free segments          10.0 MiB    33 %  cached, without live blocks",
                "18.0 MiB  of 28.0 MiB free  30.0 MiB  in 2 segments  large",
                "18.0 MiB  free of 20.0 MiB  at 0x10000000  kept by 2.00 MiB in 1 allocation  forward (main.py:1)",
                "1 more",
            ] {
                assert!(page.contains(line), "{line:?} in\n{page}");
            }
        });
        check(2, 10, |found| assert!(page::page(found).contains("after event 1, the peak of reserved memory")));
        check(0, 10, |found| assert!(page::page(found).contains("0 B reserved in 0 segments before the first event")));
    }

    #[test]
    fn the_document_names_who_holds_what() {
        check(4, 10, |found| {
            let report = document::report(found);
            assert_eq!((report.event, report.bytes.reserved_bytes, report.other_segments), (3, 20 << 20, 0));
            let [held] = report.held.as_slice() else { panic!("one segment is held: {:?}", report.held) };
            assert_eq!((held.addr, held.allocations, held.holders[0].event), (0x1000_0000, 1, Some(2)));
            assert_eq!(report.segments[0].title.as_deref(), Some("forward (main.py:1)"));
        });
    }
}
