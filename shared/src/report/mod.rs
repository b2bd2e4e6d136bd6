//! Converts results of analyses to reports: plain data in the user's terms, without handles.
//!
//! Frames are text, events are numbers, sizes are bytes, enums have names. The page, `--json`, the server, tables and
//! the terminal render the same report, and none of them runs an analysis again.
//!
//! Invariant: a report holds no handle of a trace, and making one decides nothing that the analysis has not decided.

mod diagnosis;
mod diff;
mod event;
mod headline;
mod live;
mod log;
mod replay;
mod segments;
mod source;

pub use diagnosis::{
    Diagnosis, DiagnosisConfig, Evidence, Finding, FindingPart, Growth, GrowthGroup, HOST, NO_DEVICE, RunOfDevice,
    Target, TargetLine, diagnosis,
};
pub use diff::{
    ComparedChange, ComparedGroup, ComparedSide, ComparedStack, Comparison, Rank, RankOutlier, Ranks, comparison,
    rank_outliers,
};
pub use event::{EventLine, EventReport, Frame, event_lines, event_report, frame, frames};
pub use headline::headlines;
pub use live::{EventRange, LiveConfig, LiveGroup, LiveGroups, live_groups};
pub use log::{
    LogCell, LogCurves, LogLane, LogLimit, LogNotice, LogOwner, LogOwners, LogReport, LogSeries, LogSpan, LogTable,
    MOST_TIMES, extremes, trace_curves,
};
pub use replay::{Replay, ReplaySweep, ReplayTrial, RunFigures, WholeStep, sweep_config};
pub use segments::{HeldSegment, Holder, Reserved, Segment, SegmentUse, Segments, reserved, segment, segments};
pub use source::{FileLine, SourceFile, SourceReport, source_report};

// These types of the analysis are plain data already.
pub use crate::analysis::{
    ClassTotal, CodeKind, Fragmentation, LineTotals, RankFigures, ReplayOom, Room, Summary, UntilFull, Verification,
};
