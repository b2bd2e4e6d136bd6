//! Converts results of analyses to reports: plain data in the user's terms, without handles.
//!
//! Frames are text, events are numbers, sizes are bytes, enums have names. The page, `--json`, the server, tables and
//! the terminal render the same report, and none of them runs an analysis again.
//!
//! Invariant: a report holds no handle of a trace, and making one decides nothing that the analysis has not decided.

mod card;
mod card_shares;
mod counted;
mod diagnosis;
mod diff;
mod engine;
mod event;
mod frame;
mod framework;
mod habits;
mod headline;
mod heap;
mod host;
mod host_climb;
mod host_curves;
mod host_finding;
mod host_machine;
mod host_shared;
mod host_tables;
mod live;
mod log;
mod log_curves;
mod log_part;
mod log_table;
mod memray;
mod memray_stats;
mod memray_text;
mod nccl;
mod operators;
mod place;
mod printed;
mod profile;
mod ranks;
mod replay;
mod segments;
mod source;
mod timeline;
mod trace_curves;
mod tracemalloc;
mod tracemalloc_diff;
mod tracemalloc_growth;

pub use card_shares::{CardShares, CardSnapshot, card_shares};
pub use diagnosis::{
    Diagnosis, DiagnosisConfig, Evidence, Finding, FindingPart, Growth, GrowthGroup, HOST, NO_DEVICE, RunOfDevice,
    Target, TargetLine, UntilFull, diagnosis,
};
pub use diff::{ComparedChange, ComparedGroup, ComparedSide, ComparedStack, Comparison, comparison};
pub use event::{EventLine, EventReport, event_lines, event_report};
pub use frame::{Frame, frame, frames};
pub use headline::headlines;
pub use live::{EventRange, LiveConfig, LiveGroup, LiveGroups, live_groups};
pub use log::{LogReport, log_report};
pub use log_curves::{LogCurves, LogLane, LogLimit, LogSeries, LogSpan};
pub use log_table::{LogCell, LogNotice, LogOwner, LogOwners, LogTable};
pub use operators::{OperatorsAtPeak, operators_at_peak};
pub use ranks::{Rank, RankOutlier, Ranks, rank_outliers};
pub use replay::{Replay, ReplaySweep, ReplayTrial, RunFigures, WholeStep, sweep_config};
pub use segments::{HeldSegment, Holder, Reserved, Segment, SegmentUse, Segments, reserved, segment, segments};
pub use source::{FileLine, SourceFile, SourceReport, source_report};
pub use trace_curves::trace_curves;
pub use tracemalloc_diff::{ComparedPlace, TracedComparison, TracedSide, traced_comparison};
pub use tracemalloc_growth::traced_growth;

// These types of the analysis are plain data already.
pub use crate::analysis::{
    ClassTotal, CodeKind, Fragmentation, LineTotals, RankFigures, ReplayOom, Room, Summary, Verification,
};
