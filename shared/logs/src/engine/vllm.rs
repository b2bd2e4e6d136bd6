//! Reads the lines of vLLM, as `worker.py`, `gpu_worker.py`, `model_runner.py` and `kv_cache_utils.py` print them.
//!
//! ```text
//! 0.2   Loading model weights took 2.8797 GB                              0.8  Model loading took 14.9889 GiB and 3.65 seconds
//! 0.6.4 Memory profiling results: total_gpu_memory=79.22GiB … peak_torch_memory=16.2GiB … kv_cache_size=53.29GiB …
//! 0.6.6 the current vLLM instance can use total_gpu_memory (22.06GiB) x gpu_memory_utilization (0.90) = 19.85GiB
//!       model weights take 2.88GiB; non_torch_memory takes 0.05GiB; PyTorch activation peak memory takes 1.40GiB; the rest
//!       of the memory reserved for KV Cache is 15.52GiB.
//! 0.9   Available KV cache memory: 8.11 GiB          GPU KV cache size: 158,656 tokens
//! 0.10  Free memory on device (78.66/79.19 GiB) on startup. Desired GPU memory utilization is (0.9, 71.27 GiB). Actual usage
//!       is 14.08 GiB for weight, 1.97 GiB for peak activation, 0.07 GiB for non-torch memory, and 0.67 GiB for CUDAGraph
//!       memory. … Current kv cache memory in use is 59212694937 bytes.
//! ```

use super::log::{EngineLog, EngineWorker, fraction, number};
use shared::base::size;

/// Words that only a line at the beginning of a start has.
pub(super) fn begins(line: &str) -> bool {
    line.contains("vLLM API server version") || line.contains(" LLM engine (v")
}

/// Returns true if a line says that weights were loaded.
pub(super) fn loads(line: &str) -> bool {
    line.contains("Model loading took ") || line.contains("Loading model weights took ")
}

/// Returns the name of the process that printed a line, such as `Worker_TP0`; empty for the only one.
///
/// Workers of version 0 and of Ray differ by their process ids only: `(RayWorkerWrapper pid=17, ip=10.0.0.2) INFO …`.
pub(super) fn name(line: &str) -> &str {
    let named = || {
        // The process within that of its engine: `(EngineCore_DP0 pid=1101) (Worker_PP0 pid=1140)`.
        let at = line.rfind(" pid=")?;
        let start = line[..at].rfind('(')? + 1;
        let end = start + line[start..].find([',', ')'])?;
        let has_number = line[start..at].contains(|c: char| c.is_ascii_digit());
        line.get(start..if has_number { at } else { end })
    };
    named().unwrap_or_default()
}

/// Reads a line about the whole engine; returns true if it is one.
pub(super) fn of_engine(line: &str, log: &mut EngineLog) -> bool {
    let tokens = number(line, "GPU KV cache size: ").filter(|_| line.contains(" tokens"));
    log.cache_tokens = least(log.cache_tokens, tokens);
    let longest = number(line, "Maximum concurrency for ");
    let concurrency = longest.and_then(|_| fraction(line, "tokens per request: ", 100.0));
    if concurrency.is_some() {
        log.longest_tokens = longest;
        log.concurrency_percent = least(log.concurrency_percent, concurrency);
    }
    // "Explicitly set (0.0/11.65) GiB for KV cache on node 0."
    let of_host = || {
        let (set, node) = line.split_once("GiB for KV cache on node")?.0.rsplit_once('(')?.1.split_once('/')?;
        let gib = |text: &str| size::leading(&format!("{} GiB", text.trim_end_matches([')', ' '])));
        gib(set).zip(gib(node))
    };
    log.host_cache_bytes = of_host().or(log.host_cache_bytes);
    tokens.or(concurrency).is_some()
}

fn least(known: Option<u64>, new: Option<u64>) -> Option<u64> {
    known.into_iter().chain(new).min()
}

/// Reads a line about one process; returns true if it is one.
pub(super) fn of_worker(line: &str, worker: &mut EngineWorker) -> bool {
    let loaded = size::after(line, "Loading model weights took ").or_else(|| size::after(line, "Model loading took "));
    if let Some(bytes) = loaded {
        // A draft model is loaded after the model.
        worker.weights_bytes = Some(worker.weights_bytes.unwrap_or(0).saturating_add(bytes));
        return true;
    }
    if line.contains("Memory profiling results: ") {
        return of_results(line, worker);
    }
    if line.contains("Free memory on device (") {
        return of_banner(line, worker);
    }
    let mut is_known = false;
    let mut set = |place: &mut Option<i64>, value: Option<i64>| {
        is_known |= value.is_some();
        *place = value.or(*place);
    };
    set(&mut worker.total_bytes, size::after(line, "instance can use total_gpu_memory "));
    set(
        &mut worker.allowed_bytes,
        line.split_once("x gpu_memory_utilization ").and_then(|(_, rest)| size::after(rest, ") = ")),
    );
    set(&mut worker.weights_bytes, size::after(line, "model weights take "));
    set(&mut worker.outside_bytes, size::after(line, "non_torch_memory takes "));
    set(&mut worker.activation_bytes, size::after(line, "PyTorch activation peak memory takes "));
    set(&mut worker.cache_bytes, size::after(line, "memory reserved for KV Cache is "));
    set(&mut worker.cache_bytes, size::after(line, "Available KV cache memory: "));
    let graphs = line.contains("Graph capturing finished in ").then(|| size::after(line, " took ")).flatten();
    set(&mut worker.graph_bytes, graphs);
    set(&mut worker.graph_bytes, size::after(line, "CUDA graph pool memory: "));
    worker.share_permille = fraction(line, "x gpu_memory_utilization ", 1000.0).or(worker.share_permille);
    is_known
}

/// Reads the line of versions 0.6.4 and 0.6.5.
fn of_results(line: &str, worker: &mut EngineWorker) -> bool {
    let Some(total) = size::after(line, "total_gpu_memory=") else { return false };
    worker.total_bytes = Some(total);
    worker.outside_bytes = size::after(line, "non_torch_memory=");
    worker.cache_bytes = size::after(line, "kv_cache_size=");
    let peak = size::after::<i64>(line, "peak_torch_memory=").zip(worker.weights_bytes);
    worker.activation_bytes = peak.map(|(peak, weights)| peak.saturating_sub(weights));
    worker.share_permille = fraction(line, "gpu_memory_utilization=", 1000.0);
    worker.allowed_bytes = worker.share_permille.map(|share| (total as f64 * share as f64 / 1000.0) as i64);
    true
}

/// Reads the sum at the end of a start, since version 0.10.
fn of_banner(line: &str, worker: &mut EngineWorker) -> bool {
    let Some((_, rest)) = line.split_once("Free memory on device (") else { return false };
    let Some((free, total)) = rest.split_once('/') else { return false };
    // An error begins in the same way.
    if !rest.contains("Actual usage is ") {
        return false;
    }
    worker.start_free_bytes = size::leading(&format!("{free} GiB"));
    worker.total_bytes = size::leading(total);
    if let Some((_, desired)) = rest.split_once("utilization is (") {
        worker.share_permille = fraction(desired, "", 1000.0);
        worker.allowed_bytes = size::after(desired, ", ");
    }
    worker.weights_bytes = size::before(rest, " for weight").or(worker.weights_bytes);
    worker.resident_bytes = size::before(rest, " for consumed memory");
    worker.activation_bytes = size::before(rest, " for peak activation");
    worker.outside_bytes = size::before(rest, " for non-torch memory").or(worker.outside_bytes);
    worker.graph_bytes = size::before(rest, " for CUDAGraph memory").or(worker.graph_bytes);
    worker.cache_bytes = size::after(rest, "kv cache memory in use is ").or(worker.cache_bytes);
    true
}
