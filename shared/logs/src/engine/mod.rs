//! Reads what inference engines say about GPU memory when they start: vLLM and SGLang, of every version.

mod log;
mod options;
mod reader;
mod report;
mod sglang;
mod vllm;

pub use log::{Engine, EngineError, EngineLog, EngineWorker};
pub(crate) use options::{EngineOptions, engine_of, options_of};
pub use reader::EngineReader;
