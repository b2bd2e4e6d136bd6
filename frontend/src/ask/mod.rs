//! Questions that the page asks the Web Worker of a file, their answers, and the other messages between the two.
//!
//! A file per theme has the types of its questions and of their answers; [`Question`] lists them. [`differences`],
//! [`site_table`] and [`stack`] have the texts that both the page and the tables saved by the engine contain.
//! Nothing here depends on the browser: `platform` carries the messages, and the crate `engine` answers.
//!
//! Messages travel in one transferred buffer; a file is a `Blob` and never in the page's memory.
//! The tables of sites and of differences are sorted and filtered here, because the page shows and the engine saves
//! them.
//!
//! Invariant: the engine does not compile if it leaves a question of the list unanswered.

mod question;

mod messages;
mod part;
mod summary;

mod allocations;
mod areas;
mod around;
mod compare;
mod export;
mod flame;
mod kind;
mod picture;
pub mod raster;
mod segments;
mod selection;
mod timeline;
mod what_if;

pub mod differences;
pub mod site_table;
pub mod stack;

pub mod wire;

pub use allocations::{
    AllocationRow, Column, Columns, FindGroup, Found, GetFacts, GetRows, GroupRow, MixedRow, RowFacts, Sort, SortBy,
    SortColumn, TablePage, TableRequest, TableRows, Walk, WalkRequest, WalkTo,
};
pub use areas::{AreaRow, CategoryBytes, ColorBy, GetAreas, GetCategories, area_by};
pub use around::{
    Around, BandName, EventDetails, EventPage, GetAround, GetBandNames, GetEvent, GetEvents, GetKind, KindFacts,
    KindStep, NearEvent, StepAllocation, StepHit, StepKind, Toward,
};
pub use compare::{
    CompareSide, CurveData, DiffData, GetCurve, GetDiff, GetProfile, GetRank, GetSteps, RankData, StepData,
    side_of_value, side_value,
};
pub use export::{CopyOptions, ExportForm, ExportOrder, GetCopyPreview, SheetOf, SheetOrder, WriteCopy};
pub use flame::{
    FlameBoxData, FlameBoxKind, FlameBoxes, FlameShape, FlameSites, FlameSource, FlameTally, FlameTree, GetBoxes,
    GetLargest, GetSites, GetSource, GetSourceFiles, SiteKey, SiteRow, SiteText,
};
pub use kind::{Kind, Marking};
pub use messages::{Joinable, Order, Report};
pub use part::{PartOrder, PartPlace, PreviewData, PreviewDevice};
pub use picture::{OutlineStep, PictureData};
pub use question::{Answers, Ask, AskFile, FileBytes, Question, Readable, Reply, Writes};
pub use segments::{BlockRow, GetSegments, Instant, Look, SegmentRow, SegmentsData};
pub use selection::{FilterData, GroupKeyData, GroupMark, NameMark, ScopeData, SelectionData, SelectionFacts};
pub use summary::{DeviceFigures, DeviceOutline, FileSummary, Notice, PartSpan, Parts, SettingText};
pub use timeline::{
    Details, FindAllocation, GetCourse, GetDetails, GetFindings, GetHit, GetMarks, GetMoments, GetOperators,
    GetOutline, GetPicture, GetPlace, GetStacks, GetStrip, Hit, HitAllocation, Mark, MarkKind, Marks, MomentFacts,
    SetOwnCode, Span, StripData, View,
};
pub use what_if::{
    GetRecordedSetup, GetReplay, GetSweep, RecordedSetup, ReplayData, SweepData, WhatIfColumn, WhatIfSetup, WriteReplay,
};

// Types of the analyses that are sent without conversion.
pub use shared::analysis::{
    AllocationKey, AreaBy, Axis, DiffBy, Fragmentation, GroupBy, Matched, Part, Phase, PhaseBasis, StepSource, Weight,
};
pub use shared::trace::BlockState;
