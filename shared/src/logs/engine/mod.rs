//! Reads what inference engines say about GPU memory when they start: vLLM and SGLang, of every version.

mod error;
mod log;
mod reader;
mod report;
mod sglang;
mod value;
mod vllm;

pub use error::EngineError;
pub use log::{Engine, EngineLog, EngineWorker};
pub use reader::EngineReader;
