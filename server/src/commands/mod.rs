//! Implements the commands that read or make snapshots at the terminal, or look after a server's data.

mod abreast;
mod data;
mod diagnose;
mod diff;
mod export;
mod fit;
mod host;
mod inspect;
mod names;
mod own;
mod peak;
mod range;
mod ranks;
mod replay;
mod repro;
mod run;
mod segments;
mod source;
mod sweep;
mod text;

pub use data::DataArgs;
pub use diagnose::{DiagnoseArgs, DiagnoseOutput};
pub use diff::DiffArgs;
pub use export::ExportArgs;
pub use fit::FitArgs;
pub use host::{HostArgs, HostOutput};
pub use inspect::InspectArgs;
pub use peak::PeakArgs;
pub use ranks::{RanksArgs, RanksPage};
pub use replay::ReplayArgs;
pub use repro::ReproArgs;
pub use run::{RunArgs, RunOutput};
pub use segments::SegmentsArgs;
pub use source::SourceArgs;
pub use sweep::SweepArgs;
pub use text::printable;
