//! Reads what nvidia-smi prints about the memory of whole GPUs and of the processes on them.
//!
//! That is its table, the rows of `--query-gpu=… --format=csv`, and the output of `-q`, each once or
//! in a loop. Weights & Biases exports the same figures as tables.

mod others;
mod query_text;
mod reader;
mod report;
mod table;

pub use query_text::{Card, CardLog, CardProcess, CardSlice};
pub use reader::CardReader;
