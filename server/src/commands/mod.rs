//! Implements the commands that read or make snapshots at the terminal, or look after a server's data.
//!
//! Invariant: standard output carries the answer and nothing else; with `run`, the script's own output comes before it.

mod abreast;
mod ci;
mod data;
mod diagnose;
mod diff;
mod export;
mod fit;
mod host;
mod inspect;
mod itself;
mod mcp;
mod named;
mod names;
mod open;
mod own;
mod peak;
mod python;
mod range;
mod ranks;
mod record;
mod replay;
mod repro;
mod run;
mod segments;
mod source;
mod sweep;
mod text;

pub use ci::{CiArgs, CiOutput};
pub use data::DataArgs;
pub use diagnose::{DiagnoseArgs, DiagnoseOutput};
pub use diff::DiffArgs;
pub use export::ExportArgs;
pub use fit::FitArgs;
pub use host::{HostArgs, HostOutput};
pub use inspect::InspectArgs;
pub use mcp::McpArgs;
pub use open::{OpenArgs, OpenOutput};
pub use peak::PeakArgs;
pub use ranks::{RanksArgs, RanksPage};
pub use record::{RecordArgs, RecordOutput};
pub use replay::ReplayArgs;
pub use repro::ReproArgs;
pub use run::{RunArgs, RunOutput};
pub use segments::SegmentsArgs;
pub use source::SourceArgs;
pub use sweep::SweepArgs;
pub use text::printable;
