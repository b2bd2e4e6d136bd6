//! Reads the lines of SGLang, as `model_runner.py`, `memory_pool.py` and `scheduler.py` print them.
//!
//! ```text
//! [2025-07-14 05:48:43 TP0] Load weight end. type=…, dtype=torch.bfloat16, avail mem=7.37 GB, mem usage=15.02 GB.
//! [2025-07-14 05:48:43 TP0] KV Cache is allocated. #tokens: 38141, K size: 2.33 GB, V size: 2.33 GB
//! [2025-07-14 05:48:43 TP0] Memory pool end. avail mem=1.46 GB
//! [2025-07-14 05:49:02 TP0] Capture cuda graph end. Time elapsed: 18.07 s. mem usage=0.11 GB. avail mem=0.83 GB.
//! [2025-07-14 05:49:02 TP0] max_total_num_tokens=38141, …, context_len=131072, available_gpu_mem=0.83 GB
//! ```

use super::log::{EngineLog, EngineWorker, number};
use shared::base::size;

/// Words that only a line at the beginning of a start has.
pub(super) fn begins(line: &str) -> bool {
    line.contains("server_args=ServerArgs(")
}

/// Returns the name of the process that printed a line, such as `TP0`; empty for the only one.
pub(super) fn name(line: &str) -> &str {
    let stamp = line.split_once("[20").and_then(|(_, rest)| rest.split_once(']'));
    stamp.and_then(|(stamp, _)| stamp.splitn(3, ' ').nth(2)).unwrap_or_default()
}

/// Reads a line about the whole engine; returns true if it is one.
pub(super) fn of_engine(line: &str, log: &mut EngineLog) -> bool {
    let Some(tokens) = number(line, "max_total_num_tokens=") else { return false };
    log.cache_tokens = Some(log.cache_tokens.map_or(tokens, |known| known.min(tokens)));
    log.longest_tokens = number(line, "context_len=").or(log.longest_tokens);
    true
}

/// Returns true for lines about one process.
pub(super) fn is_of_worker(line: &str) -> bool {
    let is_graph = line.contains("Capture ") && (line.contains("raph begin. ") || line.contains("raph end. "));
    const WORDS: [&str; 5] = [
        "Load weight begin. ",
        "Load weight end. ",
        "KV Cache is allocated. ",
        "Memory pool end. ",
        "available_gpu_mem=",
    ];
    is_graph || WORDS.iter().any(|words| line.contains(words))
}

/// Reads a line about one process; returns true if it states a size.
pub(super) fn of_worker(line: &str, worker: &mut EngineWorker) -> bool {
    let free = size::after(line, "avail mem=").or_else(|| size::after(line, "available_gpu_mem="));
    let before = worker.end_free_bytes;
    let used = size::after(line, "mem usage=").or_else(|| Some(before?.saturating_sub(free?)));
    let cache = ["K size: ", "V size: ", "KV size: "].map(|words| size::after::<i64>(line, words));
    let cache = match cache {
        // `V size` is a part of `KV size`.
        [_, _, Some(both)] => Some(both),
        [Some(keys), Some(values), None] => Some(keys.saturating_add(values)),
        _ => None,
    };
    let add = |place: &mut Option<i64>, bytes: Option<i64>| {
        *place = bytes.map(|bytes| place.unwrap_or(0).saturating_add(bytes)).or(*place);
    };
    // A draft model has its own weights, cache and graphs.
    if line.contains("Load weight end. ") {
        worker.start_free_bytes = worker.start_free_bytes.or_else(|| Some(free?.saturating_add(used?)));
        add(&mut worker.weights_bytes, used);
    } else if line.contains("KV Cache is allocated. ") {
        add(&mut worker.cache_bytes, cache);
    } else if line.contains("raph end. ") {
        add(&mut worker.graph_bytes, used);
    } else if line.contains("Load weight begin. ") {
        worker.start_free_bytes = worker.start_free_bytes.or(free);
    }
    worker.end_free_bytes = free.or(worker.end_free_bytes);
    free.or(cache).or(used).is_some()
}
