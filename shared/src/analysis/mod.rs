//! Analyses traces: lifetimes, curves, peaks, the picture of the timeline, steps, phases, findings and replays.

mod size_limit;

mod allocations;
mod endings;
mod pairing;

mod changes;
mod clock;
mod curve;

mod colors;
#[cfg(test)]
pub(crate) mod naive;
mod picture;
mod timeline;
mod together;

mod distinct;
mod outline;
mod peak;
mod recording;
mod replay;
mod spans;
mod summary;

mod by_design;
mod call_tree;
mod categories;
mod category_bytes;
mod findings;
mod flat_buffers;
mod forward_pass;
mod fragmentation;
mod growth;
mod older;
mod period;
mod phases;
mod run_kind;
mod segment_map;
mod segments_at;
mod selection;
mod sites;
mod stack_title;
mod steps;
mod study;
mod until_full;

mod diff;
mod ranks;

pub use allocations::{Allocation, AllocationId, Allocations, Origin};
pub use call_tree::{
    CallNode, CallTree, Calls, Cut, CutContent, MergeBy, NodeOrder, PathConfig, Sandwich, Site, SiteTotal, Tally,
    TreeConfig, cut,
};
pub use categories::{Category, categories};
pub use category_bytes::{CategoryBytes, live_by_category, live_by_given_category};
pub use colors::Coloring;
pub use diff::{Change, Diff, DiffRow, DiffStack, Matched, Profile, ProfileFrame, ProfileRow, Side, diff};
pub use distinct::DistinctStacks;
pub use findings::{Confidence, Evidence, Finding, FindingsConfig, Rank, SourceLine, findings, findings_of, studies};
pub use forward_pass::{ForwardPass, PassRow};
pub use fragmentation::Fragmentation;
pub use growth::{ClassTotal, Course, Growth, GrowthClass, Kept};
pub use outline::Outline;
pub use peak::{StackBytes, live_by_stack};
pub use phases::{Phase, PhaseBasis, Phases};
pub use picture::{Axis, Band, BandOwner, CurveStep, Picture, PictureRequest};
pub use ranks::{Outlier, RankFigures, Unlike, order_of_ranks, outliers, rank_of_name};
pub use recording::{device_diagnostics, file_diagnostics, recording_diagnostics};
pub use replay::{
    BatchScale, BatchSearch, CardChoice, Difference, RecordedColumn, RecordedEvent, ReplayColumn, ReplayConfig,
    ReplayOom, ReplayReport, Replayer, Stuck, Sweep, SweepConfig, SweepReport, Trial, Verification, VerifyError,
    recorded_capacity, recorded_course, recorded_settings, recorded_version, replay, verify,
};
pub use run_kind::RunKind;
pub use segment_map::{Held, MapBlock, MapSegment, Room, SegmentHistory, SegmentMap, held_segments, rooms};
pub use segments_at::SegmentAt;
pub use selection::{
    Filter, Group, GroupBy, GroupKey, Groups, Label, Part, PatternError, Population, Scope, TextFilter, Totals,
    Weigher, Weight, group, label, pool_of, select, stream_of, streams_and_pools,
};
pub use spans::{Span, spans};
use stack_title::own_frame;
pub use stack_title::{own_place, place, stack_callers, stack_title};
pub use steps::{Step, StepSource, Steps};
pub use study::{Studied, Study};
pub use summary::Summary;
pub use timeline::{Hit, Timeline};
pub use until_full::{Budget, BudgetSource, UntilFull, outside_bytes, until_full};
