//! Defines the messages between the page and the Web Worker of a file, and the engine that answers them.
//!
//! This module does not depend on the browser: `platform` carries the messages.

mod allocations_data;
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
    AllocationRow, AllocationsAnswer, AllocationsQuestion, Column, Found, GroupRow, Sort, TablePage, TableRequest,
    TableRows, Walk, WalkRequest,
};
pub use categories_data::{CategoryBytes, ColorBy};
pub use compare_data::{
    ChangeData, CompareAnswer, CompareQuestion, CompareSide, CurveData, DiffData, DiffRowData, GroupData, ProfileData,
    ProfileRowData, RankData, StepData, category_at,
};
pub use copy::{CopyOptions, CopyPreview, PackageRow, TextChange, TextGroup};
pub use engine::Engine;
pub use export_data::{ExportForm, ExportOrder};
pub use first_picture::FirstPicture;
pub use flame_data::{
    FlameAnswer, FlameBoxData, FlameBoxKind, FlameBoxes, FlameQuestion, FlameShape, FlameSites, FlameSource,
    FlameTally, FlameTree, SiteKey, SiteRow, SiteText,
};
pub use keeping::{KeptCopy, room_for};
pub use name_mark::NameMark;
pub use part_data::{PartOrder, PartPlace, PreviewData, PreviewDevice};
pub use parts_data::{PartSpan, Parts};
pub use picture_data::{OutlineStep, PictureData};
pub use protocol::{
    AllocationKey, Answer, Details, Hit, HitAllocation, Mark, MarkKind, Marks, Order, Question, Report, Span, StackRow,
    Stacks, View,
};
pub use queue::Queue;
pub use segments_data::{BlockRow, HeldRow, Instant, Look, SegmentRow, SegmentsData};
pub use selection_data::{FilterData, GroupKeyData, GroupMark, ScopeData, SelectionData, SelectionFacts};
pub use sheet_data::{SheetOf, SheetOrder};
pub use summary::{DeviceFigures, DeviceOutline, FileSummary, Notice, SettingText};
pub use what_if_data::{
    RecordedSetup, ReplayData, RunFigures, SweepData, TrialRow, WhatIfAnswer, WhatIfColumn, WhatIfQuestion, WhatIfSetup,
};

// Types of the analyses that are sent without conversion.
pub use shared::analysis::{Axis, Fragmentation, GroupBy, Matched, Part, Phase, PhaseBasis, StepSource, Weight};
pub use shared::trace::BlockState;
