//! Lists the questions that the page asks the Web Worker of a file.
//!
//! Each question is a type that names the type of its answer ([`Ask`]) or asks for a file ([`AskFile`]).
//! A new one needs its type, a line in the list of this module, and an implementation of [`Answers`] or [`Writes`] by
//! the engine, which the compiler demands.
//! `device` is always a position in [`FileSummary::devices`](super::FileSummary), not a CUDA index.

use super::allocations::{FindGroup, Found, GetFacts, GetRows, TablePage, WalkTo};
use super::areas::{AreaRow, CategoryBytes, GetAreas, GetCategories};
use super::around::{
    Around, BandName, EventDetails, EventPage, GetAround, GetBandNames, GetEvent, GetEvents, GetKind, KindFacts,
    KindStep, StepAllocation, StepHit, StepKind,
};
use super::compare::{CurveData, DiffData, GetCurve, GetDiff, GetProfile, GetRank, GetSteps, RankData, StepData};
use super::export::{ExportOrder, GetCopyPreview, SheetOrder, WriteCopy};
use super::flame::{FlameBoxes, FlameSites, GetBoxes, GetLargest, GetSites, GetSource, GetSourceFiles};
use super::picture::PictureData;
use super::segments::{GetSegments, SegmentsData};
use super::selection::{GroupKeyData, SelectionFacts};
use super::timeline::{
    Details, FindAllocation, GetCourse, GetDetails, GetFindings, GetHit, GetMarks, GetMoments, GetOperators,
    GetOutline, GetPicture, GetPlace, GetStacks, GetStrip, Hit, Marks, MomentFacts, SetOwnCode, StripData,
};
use super::what_if::{GetRecordedSetup, GetReplay, GetSweep, RecordedSetup, ReplayData, SweepData, WriteReplay};
use super::wire;
use logs::OperatorsAtPeak;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::analysis::Profile;
use shared::export::SanitizeReport;
use shared::report::{Diagnosis, LiveGroups, LogCurves, SourceReport};

/// Question with an answer of one type.
pub trait Ask: Into<Question> {
    type Answer: Serialize + DeserializeOwned;
}

/// Question whose answer is a file, which is sent as a `Blob`.
pub trait AskFile: Into<Question> {}

/// Answers one kind of question.
pub trait Answers<A: Ask> {
    /// Answers a question.
    ///
    /// # Errors
    /// Returns the reason for which there is no answer.
    fn answer(&mut self, ask: &A) -> Result<A::Answer, String>;
}

/// Writes one kind of file.
pub trait Writes<A: AskFile> {
    /// Writes the file; `progress` receives the completed fraction (0 to 1) from time to time.
    ///
    /// # Errors
    /// Returns the reason for which there is no file.
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

macro_rules! questions {
    (answers { $($ask:ident -> $answer:ty, $replaces:expr;)* } files { $($file:ident, $file_replaces:expr;)* }) => {
        /// Question of any kind.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Question {
            $($ask(Box<$ask>),)*
            $($file(Box<$file>),)*
        }

        $(impl Ask for $ask {
            type Answer = $answer;
        }

        impl From<$ask> for Question {
            fn from(ask: $ask) -> Self {
                Self::$ask(Box::new(ask))
            }
        })*

        $(impl AskFile for $file {}

        impl From<$file> for Question {
            fn from(file: $file) -> Self {
                Self::$file(Box::new(file))
            }
        })*

        impl Question {
            /// Returns true if this question makes the answer to an older one unnecessary.
            pub fn replaces(&self, older: &Self) -> bool {
                match (self, older) {
                    $((Self::$ask(newer), Self::$ask(older)) => $replaces(newer, older),)*
                    $((Self::$file(newer), Self::$file(older)) => $file_replaces(newer, older),)*
                    _ => false,
                }
            }

            /// Has an engine reply to the question; `progress` receives the completed fraction (0 to 1) of a file.
            ///
            /// # Errors
            /// Returns the reason for which there is no answer.
            pub fn reply<E>(&self, engine: &mut E, progress: &mut dyn FnMut(f64)) -> Result<Reply, String>
            where
                E: $(Answers<$ask> +)* $(Writes<$file> +)*
            {
                match self {
                    $(Self::$ask(ask) => engine.answer(ask.as_ref()).map(|answer| Reply::Answer(wire::write(&answer))),)*
                    $(Self::$file(file) => engine.write(file.as_ref(), progress).map(Reply::File),)*
                }
            }
        }
    };
}

questions! {
    answers {
        GetPicture -> PictureData, newest;
        GetOutline -> PictureData, each;
        GetCourse -> LogCurves, each;
        GetOperators -> Option<OperatorsAtPeak>, each;
        GetHit -> Hit, GetHit::replaces;
        GetAreas -> Vec<AreaRow>, each;
        GetPlace -> f64, each;
        GetMoments -> Vec<MomentFacts>, each;
        FindAllocation -> Hit, each;
        GetDetails -> Details, each;
        GetStacks -> LiveGroups, each;
        GetMarks -> Marks, each;
        GetEvents -> EventPage, newest;
        GetEvent -> EventDetails, newest;
        GetCategories -> CategoryBytes, each;
        GetBoxes -> Readable<FlameBoxes>, GetBoxes::replaces;
        GetSites -> Readable<FlameSites>, newest;
        GetLargest -> Readable<Option<Hit>>, each;
        GetFacts -> SelectionFacts, each;
        GetRows -> Readable<TablePage>, newest;
        WalkTo -> Readable<Option<Found>>, each;
        FindGroup -> Option<(GroupKeyData, String)>, each;
        GetAround -> Around, newest;
        StepAllocation -> StepHit, each;
        GetBandNames -> Vec<BandName>, newest;
        GetKind -> Readable<KindFacts>, newest;
        StepKind -> Readable<KindStep>, each;
        GetSegments -> SegmentsData, newest;
        GetSource -> Readable<SourceReport>, newest;
        GetSourceFiles -> Vec<String>, each;
        GetStrip -> StripData, each;
        GetSteps -> Vec<StepData>, each;
        GetProfile -> Profile, each;
        GetDiff -> DiffData, each;
        GetCurve -> CurveData, each;
        GetRank -> RankData, each;
        GetRecordedSetup -> RecordedSetup, each;
        GetReplay -> ReplayData, newest;
        GetSweep -> SweepData, each;
        GetFindings -> Diagnosis, newest;
        SetOwnCode -> Diagnosis, newest;
        GetCopyPreview -> SanitizeReport, newest;
    }
    files {
        WriteCopy, newest;
        WriteReplay, each;
        ExportOrder, each;
        SheetOrder, each;
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
