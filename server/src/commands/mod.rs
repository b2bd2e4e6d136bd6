//! Implements the commands that read or make snapshots at the terminal, or look after a server's data.
//!
//! The options of a command are a struct whose `run` returns what to print, or a [`Failure`](crate::Failure) that says
//! which option, file or setting is wrong or missing, and what to do.
//!
//! Invariant: standard output carries the answer and nothing else; with `run`, the script's own output comes before it.

mod abreast;
mod ci;
mod data;
mod diagnose;
mod diff;
mod export;
mod fit;
mod fix;
mod guide;
mod host;
mod inspect;
mod itself;
mod mcp;
mod named;
mod names;
mod open;
mod output;
mod peak;
mod python;
mod range;
mod ranks;
mod record;
mod replay;
mod report;
mod repro;
mod run;
mod segments;
mod source;
mod sweep;
mod text;

pub use ci::CiArgs;
pub use data::DataArgs;
pub use diagnose::DiagnoseArgs;
pub use diff::DiffArgs;
pub use export::ExportArgs;
pub use fit::FitArgs;
pub use fix::FixArgs;
pub use guide::{cards, completions, guided, manual};
pub use host::HostArgs;
pub use inspect::InspectArgs;
pub use mcp::McpArgs;
pub use open::{DemoArgs, OpenArgs};
pub use output::{Output, colored};
pub use peak::PeakArgs;
pub use ranks::RanksArgs;
pub use record::RecordArgs;
pub use replay::ReplayArgs;
pub use report::ReportArgs;
pub use repro::ReproArgs;
pub use run::{BehindWallsArgs, RunArgs};
pub use segments::SegmentsArgs;
pub use source::SourceArgs;
pub use sweep::SweepArgs;
pub use text::printable;
