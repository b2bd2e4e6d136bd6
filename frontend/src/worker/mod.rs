//! Defines the messages between the page and the Web Worker of a file, and the engine that answers them.
//!
//! This module does not depend on the browser: `platform` carries the messages.

mod allocations_data;
mod ask;
mod categories_data;
mod compare_data;
mod copy;
mod export_data;
mod first_picture;
mod flame_data;
mod name_mark;
mod part_data;
mod parts_data;
mod picture_data;
mod protocol;
mod segments_data;
mod selection_data;
mod sheet_data;
mod summary;
mod what_if_data;

pub mod wire;

mod queue;

mod keeping;

mod engine;

pub use allocations_data::{
    AllocationRow, Column, FindGroup, Found, GetFacts, GetRows, GroupRow, Sort, TablePage, TableRequest, TableRows,
    Walk, WalkRequest, WalkTo,
};
pub use ask::{Answers, Ask, AskFile, FileBytes, Question, Readable, Reply, Writes};
pub use categories_data::{CategoryBytes, ColorBy, GetCategories};
pub use compare_data::{
    ChangeData, CompareSide, CurveData, DiffData, DiffRowData, GetCurve, GetDiff, GetProfile, GetRank, GetSteps,
    GroupData, ProfileData, ProfileRowData, RankData, StepData, category_at,
};
pub use copy::{CopyOptions, CopyPreview, GetCopyPreview, PackageRow, TextChange, TextGroup, WriteCopy};
pub use engine::Engine;
pub use export_data::{ExportForm, ExportOrder};
pub use first_picture::FirstPicture;
pub use flame_data::{
    FlameBoxData, FlameBoxKind, FlameBoxes, FlameShape, FlameSites, FlameSource, FlameTally, FlameTree, GetBoxes,
    GetLargest, GetSites, SiteKey, SiteRow, SiteText,
};
pub use keeping::{KeptCopy, room_for};
pub use name_mark::NameMark;
pub use part_data::{PartOrder, PartPlace, PreviewData, PreviewDevice};
pub use parts_data::{PartSpan, Parts};
pub use picture_data::{OutlineStep, PictureData};
pub use protocol::{
    AllocationKey, Details, FindAllocation, GetDetails, GetFindings, GetHit, GetMarks, GetOutline, GetPicture,
    GetPlace, GetStacks, Hit, HitAllocation, Mark, MarkKind, Marks, Order, Report, Span, StackRow, Stacks, View,
};
pub use queue::Queue;
pub use segments_data::{BlockRow, GetSegments, HeldRow, Instant, Look, SegmentRow, SegmentsData};
pub use selection_data::{FilterData, GroupKeyData, GroupMark, ScopeData, SelectionData, SelectionFacts};
pub use sheet_data::{SheetOf, SheetOrder};
pub use summary::{DeviceFigures, DeviceOutline, FileSummary, Notice, SettingText};
pub use what_if_data::{
    GetRecordedSetup, GetReplay, GetSweep, RecordedSetup, ReplayData, RunFigures, SweepData, TrialRow, WhatIfColumn,
    WhatIfSetup, WriteReplay,
};

// Types of the analyses that are sent without conversion.
pub use shared::analysis::{Axis, Fragmentation, GroupBy, Matched, Part, Phase, PhaseBasis, StepSource, Weight};
pub use shared::trace::BlockState;
