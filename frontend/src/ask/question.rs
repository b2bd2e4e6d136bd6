//! Lists the questions that the page asks the Web Worker of a file.
//!
//! Each question is a type that names the type of its answer ([`Ask`]) or asks for a file ([`AskFile`]).
//! A new one needs an entry in the list of this module, and an implementation of [`Answers`] or [`Writes`] by the
//! engine, which the compiler demands.
//! `device` is always a position in [`FileSummary::devices`](super::FileSummary), not a CUDA index.

use super::allocations::{Found, TablePage, TableRequest, WalkRequest};
use super::around::{Around, BandName, EventDetails, EventPage, KindFacts, Toward};
use super::compare::{CompareSide, CurveData, DiffData, RankData, StepData};
use super::export::{CopyOptions, ExportForm, SheetOf};
use super::flame::{FlameBoxes, FlameSites, FlameSource, FlameTree};
use super::kind::Kind;
use super::picture::PictureData;
use super::segments::{Instant, SegmentsData};
use super::selection::{GroupMark, SelectionData, SelectionFacts};
use super::timeline::{AreaRow, CategoryBytes, Details, Hit, Marks, MomentFacts, StripData, View};
use super::what_if::{RecordedSetup, ReplayData, SweepData, WhatIfSetup};
use super::wire;
use logs::OperatorsAtPeak;
use logs::torch_profiler::Makers;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::analysis::{AllocationKey, AreaBy, Axis, GroupKey, Profile};
use shared::export::{SanitizeReport, TableFormat};
use shared::report::{Diagnosis, LiveGroups, LogCurves, SourceReport};

/// Question with an answer of one type.
pub trait Ask: Into<Question> {
    type Answer: Serialize + DeserializeOwned;
}

/// Question whose answer is a file, which is sent as a `Blob`.
pub trait AskFile: Into<Question> {}

/// Answers one kind of question.
pub trait Answers<A: Ask> {
    /// Answers a question, or returns the reason for which there is no answer.
    fn answer(&mut self, ask: &A) -> Result<A::Answer, String>;
}

/// Writes one kind of file.
pub trait Writes<A: AskFile> {
    /// Writes the file, or returns the reason for which there is none; `progress` receives the completed fraction (0 to
    /// 1) from time to time.
    fn write(&mut self, ask: &A, progress: &mut dyn FnMut(f64)) -> Result<FileBytes, String>;
}

/// Content of a file for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBytes {
    pub bytes: Vec<u8>,
    pub media_type: &'static str,
}

/// Answer to any question, as the page receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Encoded answer; see [`wire`].
    Answer(Vec<u8>),
    File(FileBytes),
}

/// Answer to a question with a search text: if the text is not valid, a message for the user.
pub type Readable<T> = Result<T, String>;

/// Declares the types of questions, and makes each a [`Question`].
macro_rules! question_types {
    ($($(#[$about:meta])* $ask:ident { $($(#[$field_about:meta])* $field:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct $ask {
            $($(#[$field_about])* pub $field: $type,)*
        }

        impl From<$ask> for Question {
            fn from(ask: $ask) -> Self {
                Self::$ask(Box::new(ask))
            }
        }
    )*};
}

/// Lists questions about one `device` of the file and questions about the file, each with its answer, and files.
///
/// Each says at last whether it makes the answer to an older one unnecessary.
macro_rules! questions {
    (
        devices { $($(#[$about:meta])* $ask:ident { $($fields:tt)* } -> $answer:ty, $replaces:expr;)* }
        file { $($(#[$whole_about:meta])* $whole:ident { $($whole_fields:tt)* } -> $whole_answer:ty;)* }
        files { $($(#[$file_about:meta])* $file:ident { $($file_fields:tt)* }, $file_replaces:expr;)* }
    ) => {
        question_types! {
            $($(#[$about])* $ask { device: u32, $($fields)* })*
            $($(#[$whole_about])* $whole { $($whole_fields)* })*
            $($(#[$file_about])* $file { $($file_fields)* })*
        }

        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Question {
            $($ask(Box<$ask>),)*
            $($whole(Box<$whole>),)*
            $($file(Box<$file>),)*
        }

        $(impl Ask for $ask {
            type Answer = $answer;
        })*

        $(impl Ask for $whole {
            type Answer = $whole_answer;
        })*

        $(impl AskFile for $file {})*

        impl Question {
            /// Returns true if this question makes the answer to an older one unnecessary.
            pub fn replaces(&self, older: &Self) -> bool {
                match (self, older) {
                    $((Self::$ask(newer), Self::$ask(older)) => $replaces(newer, older),)*
                    $((Self::$whole(newer), Self::$whole(older)) => newest(newer, older),)*
                    $((Self::$file(newer), Self::$file(older)) => $file_replaces(newer, older),)*
                    _ => false,
                }
            }

            /// Has an engine reply to the question, or say why not; `progress` receives the completed fraction (0 to 1)
            /// of a file.
            pub fn reply<E>(&self, engine: &mut E, progress: &mut dyn FnMut(f64)) -> Result<Reply, String>
            where
                E: $(Answers<$ask> +)* $(Answers<$whole> +)* $(Writes<$file> +)*
            {
                let answered = match self {
                    $(Self::$ask(ask) => engine.answer(ask.as_ref()).map(|answer| wire::write(&answer)),)*
                    $(Self::$whole(ask) => engine.answer(ask.as_ref()).map(|answer| wire::write(&answer)),)*
                    $(Self::$file(file) => return engine.write(file.as_ref(), progress).map(Reply::File),)*
                };
                answered.map(Reply::Answer)
            }
        }
    };
}

questions! {
    devices {
        /// Asks for the bands of a view.
        GetPicture {
            view: View,
            /// Kind whose number is in the view's marking.
            kind: Option<Kind>,
        } -> PictureData, newest;
        /// Asks for the live and reserved outline of the whole trace, as a picture without bands; `columns` is its
        /// number of device pixels.
        GetOutline { axis: Axis, columns: u32 } -> PictureData, each;
        /// Asks for the live and reserved bytes over the time of day, to be shown beside logs.
        GetCourse {} -> LogCurves, each;
        /// Asks for the operators behind the peak, given a trace of torch.profiler of the same run; the answer is
        /// `None` if the trace has no allocations on the device.
        GetOperators { makers: Makers } -> Option<OperatorsAtPeak>, each;
        /// Asks for the moment under a point, and the allocation or the area there.
        GetHit {
            /// Areas of the picture; without them it shows allocations.
            areas: Option<AreaBy>,
            axis: Axis,
            x: f64,
            bytes: f64,
            /// Units of the axis per device pixel of the picture.
            units_per_px: f64,
            /// True for a click or a key, which is answered even if the pointer moves on; false for a pointer that
            /// rests.
            is_click: bool,
        } -> Hit, GetHit::replaces;
        /// Asks for the areas of a device, and their bytes at a moment.
        GetAreas { by: AreaBy, moment: u32, selected: Option<Kind> } -> Vec<AreaRow>, each;
        /// Asks for the position of a moment: its middle, in units of the axis.
        GetPlace { axis: Axis, moment: u32 } -> f64, each;
        /// Asks for the facts of some moments.
        GetMoments { axis: Axis, moments: Vec<u32> } -> Vec<MomentFacts>, each;
        /// Asks for the answer that a point on an allocation at a moment would get.
        FindAllocation { key: AllocationKey, moment: u32 } -> Hit, each;
        /// Asks for the details of one allocation, by its position as in bands and hits.
        GetDetails { allocation: u32 } -> Details, each;
        /// Asks for the stacks that hold the live bytes of a moment, the largest first.
        GetStacks { moment: u32, limit: u32 } -> LiveGroups, each;
        /// Asks for the annotated spans and single marks of a device.
        GetMarks {} -> Marks, each;
        /// Asks for a range of a device's events from the index `first` on.
        GetEvents { first: u32, count: u32 } -> EventPage, newest;
        /// Asks for all about one event.
        GetEvent { event: u32 } -> EventDetails, newest;
        /// Asks for the live bytes of a moment by category.
        GetCategories { moment: u32 } -> CategoryBytes, each;
        /// Asks for the boxes in a range of weight.
        GetBoxes {
            tree: FlameTree,
            /// Left and right edge in units of weight; `None` for the whole range.
            range: Option<(f64, f64)>,
            /// Text to search for in names and places, or empty.
            search: String,
        } -> Readable<FlameBoxes>, GetBoxes::replaces;
        /// Asks for all sites of some stacks.
        GetSites { source: FlameSource } -> Readable<FlameSites>, newest;
        /// Asks for the largest allocation of a node: a point on it, `None` if the node has none.
        GetLargest { tree: FlameTree, node: u32 } -> Readable<Option<Hit>>, each;
        /// Asks for the streams and pools by which allocations can be filtered.
        GetFacts {} -> SelectionFacts, each;
        /// Asks for a range of rows of a table.
        GetRows { request: TableRequest } -> Readable<TablePage>, newest;
        /// Asks for the next or previous allocation of a selection, in the order of births; `None` if nothing is found.
        WalkTo { request: WalkRequest } -> Readable<Option<Found>>, each;
        /// Asks for the group that a mark stands for, and its title; `None` if no group has the mark.
        FindGroup { group: GroupMark } -> Option<(GroupKey, String)>, each;
        /// Asks for what an allocation was for, and what happened around it; the bytes of its kind are summed at a
        /// moment.
        GetAround { allocation: u32, moment: u32 } -> Around, newest;
        /// Asks for the allocation next to another one; `None` if there is none.
        StepAllocation {
            /// Position of the allocation; `None` leads to the largest one at the moment.
            from: Option<u32>,
            /// Moment at which the stack of allocations is looked at.
            moment: u32,
            toward: Toward,
            /// Size below which allocations are passed over, because they are not drawn by themselves.
            min_bytes: u64,
        } -> Option<Hit>, each;
        /// Asks for the stacks that hold the most bytes at a moment, with their colours.
        GetBandNames { moment: u32, limit: u32 } -> Vec<BandName>, newest;
        /// Asks for the totals of a kind, with its bytes at a moment.
        GetKind { kind: Kind, moment: u32 } -> Readable<KindFacts>, newest;
        /// Asks for the next or previous allocation of a kind, in the order of births; it wraps around at both ends.
        StepKind {
            kind: Kind,
            /// Allocation to start from; `None` starts at the largest one at `moment`.
            from: Option<u32>,
            is_back: bool,
            /// Moment at which an allocation is shown if it is alive then.
            moment: u32,
        } -> Readable<Option<Found>>, each;
        /// Asks for the segments of a moment with their blocks; those outside of a selected kind are grey.
        GetSegments { instant: Instant, kind: Option<Kind> } -> SegmentsData, newest;
        /// Asks for the memory of source lines.
        GetSource {
            selection: SelectionData,
            /// Files whose lines own allocations, as stacks name them; `None` for the program and its libraries.
            focus: Option<Vec<String>>,
        } -> Readable<SourceReport>, newest;
        /// Asks for the paths of the source files in the stacks of all devices.
        GetSourceFiles {} -> Vec<String>, each;
        /// Asks for the live bytes over a whole trace, in columns of equal time.
        GetStrip { columns: u32 } -> StripData, each;
        /// Asks for the steps that can be chosen, in their order; the answer is empty if no steps were found.
        GetSteps {} -> Vec<StepData>, each;
        /// Asks for the profile of a side.
        GetProfile { side: CompareSide } -> Profile, each;
        /// Asks for the difference between a side of this device and a profile, which may be of another file.
        GetDiff { side: CompareSide, other: Profile } -> DiffData, each;
        /// Asks for the live bytes of a step by its position, or of the whole trace, as this many maxima.
        GetCurve { step: Option<u32>, columns: u32 } -> CurveData, each;
        /// Asks for the figures of this rank for a comparison, with a curve of this many maxima.
        GetRank { columns: u32 } -> RankData, each;
        /// Asks for the settings and the card of the recording.
        GetRecordedSetup {} -> RecordedSetup, each;
        /// Asks for a replay of a device's requests; a setting that can't be applied is refused by its name.
        GetReplay { setup: WhatIfSetup } -> ReplayData, newest;
        /// Performs one part of a sweep over settings, cards and batches, and asks for the results so far.
        GetSweep {
            /// Card on which they are tried; its settings are ignored.
            setup: WhatIfSetup,
            /// True to discard an earlier sweep and begin a new one.
            is_new: bool,
        } -> SweepData, each;
    }
    file {
        /// Asks for the findings for a card with this memory, `None` for an unknown card.
        GetFindings { capacity_bytes: Option<u64> } -> Diagnosis;
        /// Changes what counts as the user's own code, by a rule as [`OwnCode`](shared::base::OwnCode) reads it, and
        /// asks for the findings again; later answers follow it.
        SetOwnCode { own: String } -> Diagnosis;
        /// Asks for a summary of what a clean copy of the file would leave out.
        GetCopyPreview { options: CopyOptions } -> SanitizeReport;
    }
    files {
        /// Asks for a clean copy of the file, compressed.
        WriteCopy { options: CopyOptions }, newest;
        /// Asks for a replay as a compressed snapshot.
        WriteReplay { device: u32, setup: WhatIfSetup }, each;
        /// Asks for the file in another format.
        ExportOrder {
            form: ExportForm,
            file: String,
            /// Position of the device for a picture, a table or a profile.
            device: u32,
            /// Moment of tables and profiles of a single moment; `None` for the peak.
            moment: Option<u32>,
            /// Horizontal axis of a picture.
            axis: Axis,
            /// Range of the axis that a picture shows; `None` for all of it.
            range: Option<(f64, f64)>,
            /// True for a picture with a nearly black background.
            is_dark: bool,
            /// True if names of people and machines, paths and metadata are left out.
            is_clean: bool,
        }, each;
        /// Asks for a table with all rows that the filter leaves.
        SheetOrder { device: u32, file: String, format: TableFormat, of: SheetOf }, each;
    }
}

impl GetHit {
    fn replaces(&self, older: &Self) -> bool {
        !older.is_click
    }
}

impl GetBoxes {
    /// Trees of different shapes do not supersede each other, because the page shows both trees of a sandwich at once.
    fn replaces(&self, older: &Self) -> bool {
        std::mem::discriminant(&self.tree.shape) == std::mem::discriminant(&older.tree.shape)
    }
}

/// Answers only the newest of the questions that wait.
///
/// During a drag the worker would otherwise draw every position that the pointer has passed.
fn newest<A>(_: &A, _: &A) -> bool {
    true
}

/// Answers every question.
fn each<A>(_: &A, _: &A) -> bool {
    false
}
