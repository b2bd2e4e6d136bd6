//! Implements `snapscope segments`, which shows the segments at a moment, their losses and the allocations that keep
//! them.

mod page;

use std::path::PathBuf;

use clap::Args;
use shared::analysis::SegmentMap;
use shared::api::OfFile;
use shared::report::segments;

use super::names::OwnOption;
use super::output::document;
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

    #[command(flatten)]
    own: OwnOption,

    /// Number of segments to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl SegmentsArgs {
    /// Reads the file and returns the text to print.
    pub fn run(&self) -> Result<String, Failure> {
        let opened = self.own.apply(Opened::read(&self.file)?);
        let (device, timeline) = opened.choose_device(self.device)?;
        let moment =
            self.at.map_or(Ok(timeline.reserved_peak().0), |event| peak::moment_after(device, timeline, event))?;
        let map = SegmentMap::at(&opened.trace, device, &timeline.allocations, moment);
        let report = segments(&opened.trace, device, &timeline.allocations, &map, self.top);
        if self.json {
            return Ok(document(&OfFile::new(&opened.file, report)));
        }
        Ok(page::page(&opened.file, &report, moment == timeline.reserved_peak().0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::Timeline;
    use shared::trace::text;

    const TRACE: &str = "
        segment_alloc 0x10000000 20MiB
        segment_alloc 0x20000000 10MiB
        alloc 0x10000000 2097052 @forward<main
        segment_free 0x20000000 10MiB
        segment 0x10000000 20MiB
        block 0x10000000 2MiB requested=2097052
    ";

    fn page(moment: u32, top: usize) -> String {
        let trace = text::parse(TRACE).unwrap();
        let device = &trace.devices[0];
        let timeline = Timeline::new(&trace, device);
        let map = SegmentMap::at(&trace, device, &timeline.allocations, moment);
        let report = segments(&trace, device, &timeline.allocations, &map, top);
        page::page("a.pickle", &report, moment == timeline.reserved_peak().0)
    }

    #[test]
    fn each_part_stands_with_its_definition() {
        let text = page(3, 1);
        for line in [
            "30.0 MiB reserved in 2 segments after event 2\n",
            "rounding                  100 B  <0.1 %  rounded sizes minus requested sizes",
            "free segments          10.0 MiB    33 %  cached, without live blocks",
            "18.0 MiB  of 28.0 MiB free  30.0 MiB  in 2 segments  large",
            "18.0 MiB  free of 20.0 MiB  at 0x10000000  kept by 2.00 MiB in 1 allocation  forward (main.py:1)",
            "1 more",
        ] {
            assert!(text.contains(line), "{line:?} in\n{text}");
        }
        assert!(page(2, 10).contains("after event 1, the peak of reserved memory"));
        assert!(page(0, 10).contains("0 B reserved in 0 segments before the first event"));
    }
}
