//! Reads what programs print about GPU memory, among whatever else they print.
//!
//! That is out-of-memory errors of every version of PyTorch, its tables of `memory_summary`, its counters of
//! `memory_stats`, tables of memory_profiler and of torch.profiler's operators, errors of other frameworks, and errors of
//! host memory that end trainings. A whole log of a training may be read, or a few pasted lines.

mod counters;
mod framework;
mod framework_reader;
mod host_error;
mod oom;
mod operators;
mod progress;
mod reader;
mod report;

pub use counters::{Counters, LineUse, Usage};
pub use framework::{Framework, FrameworkOom};
pub use framework_reader::Repeated;
pub use host_error::{HostError, HostErrorKind};
pub use oom::{Age, Call, Holder, Oom, OomApi, OomCause, Work};
pub use operators::OperatorUse;
pub use progress::{Progress, Series};
pub use reader::{Printed, PrintedReader};
pub(crate) use report::OTHER_RANKS;
