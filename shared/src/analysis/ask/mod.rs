//! Questions: findings, selections, call trees, differences, ranks, segments and replays.
//!
//! Invariant: no question changes what another one is answered from.

pub(super) mod call_tree;
pub(super) mod diff;
pub(super) mod findings;
pub(super) mod fragmentation;
pub(super) mod ranks;
pub(super) mod replay;
pub(super) mod script;
pub(super) mod segment_map;
pub(super) mod selection;
pub(super) mod source_lines;
#[cfg(test)]
mod tests;
pub(super) mod until_full;

pub use call_tree::{
    CallNode, CallTree, Calls, Cut, CutContent, MergeBy, NodeOrder, PathConfig, Sandwich, Site, SiteTotal, Tally,
    TreeConfig, cut,
};
pub use diff::{
    Change, Diff, DiffBy, DiffRow, DiffStack, Matched, Profile, ProfileFrame, ProfileRow, Side, diff, diff_labels,
};
pub use findings::{
    Advice, AdviceStep, AtPeak, Confidence, Evidence, Finding, FindingCode, FindingPart, FindingTarget, FindingsConfig,
    LONGEST_TITLE, Rank, SourceLine, StepKind, finding_parts, finding_target, findings, findings_of, part_text,
    studies, title_of_parts,
};
pub use fragmentation::Fragmentation;
pub use ranks::{Outlier, RankFigures, Unlike, order_of_ranks, outliers, rank_of_name};
pub use replay::{
    BatchScale, BatchSearch, CONTEXT_BYTES, CardChoice, Difference, Outlook, RecordedColumn, RecordedEvent,
    ReplayColumn, ReplayConfig, ReplayOom, ReplayReport, Replayer, StepBasis, Stuck, Sweep, SweepConfig, SweepReport,
    Trial, Verification, VerifyError, WholeStep, default_settings, recorded_calls, recorded_capacity, recorded_course,
    recorded_settings, recorded_version, replay, settings_variable, verify,
};
pub use script::script_of;
pub use segment_map::{Held, MapBlock, MapSegment, Room, SegmentHistory, SegmentMap, held_segments, rooms};
pub use selection::{
    Area, AreaBy, AreaGroup, Areas, Filter, Group, GroupBy, GroupKey, Groups, Label, Part, PatternError, Population,
    REST_COLOR, Scope, TextFilter, Totals, Weigher, Weight, former_label, group, label, pool_of, select, stack_group,
    stream_of, streams_and_pools,
};
pub use source_lines::{
    CodeFile, CodeKind, CodeLine, LineTotals, SourceConfig, SourceLines, source_files, source_lines,
};
pub use until_full::{Budget, BudgetSource, UntilFull, outside_bytes, until_full};
