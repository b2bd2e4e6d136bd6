//! Questions that the page asks the Web Worker of a file, their answers, and the other messages between the two.
//!
//! `question` lists the questions, and a file per theme has the types of their answers. [`differences`], [`site_table`]
//! and [`stack`] have the texts that both the page and the tables saved by the engine contain.
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
    AllocationRow, Column, Columns, Found, GroupRow, MixedRow, RowFacts, Sort, SortBy, SortColumn, TablePage,
    TableRequest, TableRows, Walk, WalkRequest,
};
pub use around::{Around, BandName, EventDetails, EventPage, KindFacts, NearEvent, Toward};
pub use compare::{CompareSide, CurveData, DiffData, RankData, StepData, side_of_value, side_value};
pub use export::{CopyOptions, ExportForm, SheetOf};
pub use flame::{
    FlameBoxData, FlameBoxKind, FlameBoxes, FlameShape, FlameSites, FlameSource, FlameTree, SiteKey, SiteRow, SiteText,
};
pub use kind::{Kind, Marking};
pub use messages::{Failure, Joinable, Order, Remedy, Report, Wanted};
pub use part::{PartOrder, PartPlace, PreviewData, PreviewDevice};
pub use picture::{OutlineStep, PictureData};
pub use question::{
    Answers, Ask, AskFile, ExportOrder, FileBytes, FindAllocation, FindGroup, GetAreas, GetAround, GetBandNames,
    GetBoxes, GetCategories, GetCopyPreview, GetCourse, GetCurve, GetDetails, GetDiff, GetEvent, GetEvents, GetFacts,
    GetFindings, GetHit, GetKind, GetLargest, GetMarks, GetMoments, GetOperators, GetOutline, GetPicture, GetPlace,
    GetProfile, GetRank, GetRecordedSetup, GetReplay, GetRows, GetSegments, GetSites, GetSource, GetSourceFiles,
    GetStacks, GetSteps, GetStrip, GetSweep, Question, Readable, Reply, SetOwnCode, SheetOrder, StepAllocation,
    StepKind, WalkTo, WriteCopy, WriteReplay, Writes,
};
pub use segments::{BlockRow, Instant, Look, SegmentRow, SegmentsData};
pub use selection::{FilterData, GroupMark, NameMark, ScopeData, SelectionData, SelectionFacts};
pub use summary::{DeviceFigures, DeviceOutline, FileSummary, Notice, PartSpan, Parts, SettingText};
pub use timeline::{
    AreaRow, CategoryBytes, ColorBy, Details, Hit, HitAllocation, Mark, MarkKind, Marks, MomentFacts, Span, StripData,
    View, area_by,
};
pub use what_if::{RecordedSetup, ReplayData, SweepData, WhatIfColumn, WhatIfSetup};

// Types of the analyses that are sent without conversion.
pub use shared::analysis::{
    AllocationKey, AreaBy, Axis, DiffBy, Fragmentation, GroupBy, GroupKey, Matched, Part, Phase, PhaseBasis,
    StepSource, Tally, Weight,
};
pub use shared::trace::BlockState;
