//! Reads logs for the Web Worker of a file.
//!
//! It is a WebAssembly module of its own, because most files are snapshots: the worker loads it for a file that is none.

use frontend::ask::{Failure, Joinable, Report};
use frontend::platform::to_buffer;
use js_sys::ArrayBuffer;
use logs::torch_profiler::Makers;
use logs::{Document, Log, LogReader, ReadsLogs, log_report};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::DedicatedWorkerGlobalScope;

/// Returns true if a file with this beginning is a log that says something about memory.
#[wasm_bindgen]
pub fn is_log(head: &[u8]) -> bool {
    logs::is_log(head)
}

/// Log that arrives in chunks of any size.
#[wasm_bindgen]
pub struct LogFile(LogReader);

/// Begins a log.
#[wasm_bindgen]
pub fn begin_log() -> LogFile {
    std::panic::set_hook(Box::new(|info| {
        let worker: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
        worker
            .post_message(&to_buffer(&Report::Failed(Failure::of_panic(&info.to_string()))))
            .expect("a buffer can be posted");
    }));
    LogFile(LogReader::default())
}

#[wasm_bindgen]
impl LogFile {
    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.push(bytes);
    }

    /// Returns the report for the page after the last bytes.
    ///
    /// # Errors
    /// Returns a message and a hint if the log says nothing about memory.
    pub fn finish(self) -> Result<ArrayBuffer, Vec<String>> {
        match ReadsLogs::finish(self.0) {
            Ok(log) => Ok(to_buffer(&report(*log))),
            Err((message, hint)) => Err(vec![message, hint]),
        }
    }
}

fn report(log: Log) -> Report {
    let told = Box::new(log_report(&log));
    let joinable = match log.document {
        Some(Document::Profile(trace)) => Makers::of(&trace).map(Joinable::Makers),
        Some(Document::Tracemalloc(snapshot)) => Some(Joinable::Tracemalloc(*snapshot)),
        None => None,
    };
    Report::Log(told, joinable.map(Box::new))
}
