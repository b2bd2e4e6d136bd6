//! Reads logs of runs: what tools and trainings print about memory, in whatever mixture.
//!
//! A source is a folder: what it reads, its judgement, and its part of the report. `sources.rs` lists them.
//! Lines about processes go to [`host`], all others to [`nvidia_smi`], [`nccl`], [`engine`] and [`printed`], so that a loop
//! of `ps` and `nvidia-smi` and the training's own output may share a file. A file that one tool wrote as a whole, such as
//! a trace of torch.profiler, is a [`Document`].

pub mod engine;
pub mod host;
pub mod nccl;
pub mod nvidia_smi;
pub mod printed;

pub mod torch_profiler;
pub mod tracemalloc;

mod card_shares;
mod clues;
mod nearest;
mod open;
mod pasted;
mod reader;
mod sampled;
mod source;
mod sources;

pub use card_shares::{CardShares, CardSnapshot, card_shares};
pub use nearest::Nearest;
pub use open::{Content, Opener, OpenerBy, ReadsLogs, Unread, is_snapshot};
pub use reader::{LogReader, is_log};
pub use sampled::Sample;
pub use sources::{Document, Log, log_report};
pub use torch_profiler::{OperatorsAtPeak, operators_at_peak};
pub use tracemalloc::{ComparedPlace, TracedComparison, TracedSide, traced_comparison, traced_growth};
