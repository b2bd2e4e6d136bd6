//! Reports on the start of an inference engine: who has the GPU's memory, and how many tokens the KV cache holds.

mod error;

use crate::engine::{Engine, EngineError, EngineLog, EngineWorker};
use crate::source::{LogPart, Source};
use shared::analysis::FindingCode;
use shared::base::{Severity, format};
use shared::report::{Finding, LogCell, LogNotice, LogOwner, LogOwners, LogTable, NO_DEVICE};

const GIB: i64 = 1 << 30;

/// Requests of full length, in hundredths, below which a second one has to wait.
const FEW_PERCENT: u64 = 200;

impl Source for EngineLog {
    fn is_empty(&self) -> bool {
        self.workers.is_empty() && self.cache_tokens.is_none() && self.errors.is_empty()
    }

    fn part(&self) -> LogPart {
        let earlier = || {
            let starts = format::counted(self.earlier_starts, "earlier start");
            LogNotice::info(format!("The text has {starts} of the engine; the last one is shown."))
        };
        LogPart {
            title: title(self),
            owners: fullest(self).and_then(|worker| owners(self, worker)).into_iter().collect(),
            findings: match self.errors.as_slice() {
                [] => [cache(self), graphs(self), unused(self), nearly_full(self)].into_iter().flatten().collect(),
                // An engine that did not start has no use for notes about what it would do.
                errors => errors.iter().map(|error| failed(self, error)).collect(),
            },
            tables: (!self.workers.is_empty()).then(|| table(self)).into_iter().collect(),
            notices: (self.earlier_starts > 0).then(earlier).into_iter().collect(),
            ..LogPart::default()
        }
    }
}

fn name(log: &EngineLog) -> &'static str {
    log.engine.map_or("The engine", Engine::name)
}

fn title(log: &EngineLog) -> String {
    // `Worker_TP7` is the eighth, even if the lines of the others were left out.
    let rank = |worker: &EngineWorker| worker.name.split_once("TP")?.1.split('_').next()?.parse::<u64>().ok();
    let ranks = log.workers.iter().filter_map(rank).max().map_or(1, |rank| rank.saturating_add(1));
    let gpus = format::counted(ranks.max(log.workers.len() as u64), "GPU");
    let tokens = log
        .cache_tokens
        .map_or_else(String::new, |tokens| format!(", a KV cache of {}", format::counted(tokens, "token")));
    let requests = log.longest_tokens.zip(log.concurrency_percent).map_or_else(String::new, |(longest, percent)| {
        format!(", room for {} requests of {}", percent as f64 / 100.0, format::counted(longest, "token"))
    });
    // Of one process, the log may not say how many there are.
    let on = if log.workers.is_empty() { String::new() } else { format!(" on {gpus}") };
    format!("{}{on}{tokens}{requests}", name(log))
}

/// Returns the process whose GPU has the least room for the KV cache.
fn fullest(log: &EngineLog) -> Option<&EngineWorker> {
    log.workers.iter().min_by_key(|worker| (worker.cache_bytes.is_none(), worker.cache_bytes))
}

fn unsigned(bytes: i64) -> u64 {
    bytes.max(0).unsigned_abs()
}

fn text(bytes: i64) -> String {
    format::bytes(unsigned(bytes))
}

/// Returns the memory of a GPU by owner; `None` if fewer than two are known.
fn owners(log: &EngineLog, worker: &EngineWorker) -> Option<LogOwners> {
    let weights = match worker.resident_bytes {
        Some(bytes) => [(Some(bytes), "weights and memory outside PyTorch"), (None, "")],
        None => [(worker.weights_bytes, "weights"), (worker.outside_bytes, "outside PyTorch: CUDA context, NCCL")],
    };
    let others = [
        (worker.activation_bytes, "activations at their peak"),
        (worker.cache_bytes, "KV cache"),
        (worker.graph_bytes, "CUDA graphs"),
    ];
    let known = weights.into_iter().chain(others).filter_map(|(bytes, name)| Some((name, unsigned(bytes?))));
    let mut parts: Vec<LogOwner> = known.map(|(name, bytes)| LogOwner { name: name.to_owned(), bytes }).collect();
    if parts.len() < 2 {
        return None;
    }
    let owned = parts.iter().map(|part| part.bytes).fold(0, u64::saturating_add);
    let (capacity, rest) = capacity(log, worker, owned);
    parts.extend(rest.into_iter().filter(|rest| rest.bytes > 0));
    let of =
        if worker.name.is_empty() || log.workers.len() == 1 { String::new() } else { format!(" of {}", worker.name) };
    let whole = match (log.engine, worker.total_bytes) {
        (_, Some(_)) => "memory of the GPU",
        (Some(Engine::Sglang), _) if worker.start_free_bytes.is_some() => "memory that was free before it loaded",
        _ => "memory that the log names",
    };
    Some(LogOwners { title: format!("{}{of}, {whole}", name(log)), capacity_bytes: capacity, parts })
}

/// Returns the whole that the owners share, and what of it no owner has.
fn capacity(log: &EngineLog, worker: &EngineWorker, owned: u64) -> (u64, Vec<LogOwner>) {
    let part = |name: &str, bytes: u64| LogOwner { name: name.to_owned(), bytes };
    if let Some(total) = worker.total_bytes.map(unsigned) {
        return (total, vec![part("not used by the engine", total.saturating_sub(owned))]);
    }
    let free = worker.end_free_bytes.map_or(0, unsigned);
    match worker.start_free_bytes.map(unsigned).filter(|_| log.engine == Some(Engine::Sglang)) {
        Some(start) => {
            let others = start.saturating_sub(owned).saturating_sub(free);
            (start, vec![part("other buffers", others), part("free", free)])
        }
        None => (owned, Vec::new()),
    }
}

fn finding(code: FindingCode, severity: Severity, bytes: i64, title: String, shows: String, advice: String) -> Finding {
    Finding { severity, ..Finding::stated(code, NO_DEVICE, unsigned(bytes), title, shows, advice) }
}

fn failed(log: &EngineLog, error: &EngineError) -> Finding {
    let (bytes, title, shows, advice) = error::stated(log, error, name(log), &more_cache(log));
    let severity = if *error == EngineError::Preempted { Severity::Warning } else { Severity::Error };
    finding(FindingCode::KvCacheTooSmall, severity, bytes as i64, title, shows, advice)
}

/// Reports a KV cache that holds less than one or two requests of the longest kind.
fn cache(log: &EngineLog) -> Option<Finding> {
    let longest = log.longest_tokens?;
    let of_tokens = || Some(log.cache_tokens?.saturating_mul(100) / longest.max(1));
    let percent = log.concurrency_percent.or_else(of_tokens)?;
    if percent >= FEW_PERCENT {
        return None;
    }
    let requests = format!("{}.{:02}", percent / 100, percent % 100);
    let cache_bytes = fullest(log).and_then(|worker| worker.cache_bytes);
    let tokens = format::count(longest);
    let holds = match percent {
        0..100 => format!("less than one request of {tokens} tokens"),
        _ => format!("only {requests} requests of {tokens} tokens"),
    };
    // SGLang starts nevertheless.
    let is_error = percent < 100 && log.engine != Some(Engine::Sglang);
    let severity = if is_error { Severity::Error } else { Severity::Warning };
    let title = format!("The KV cache holds {holds}");
    let shows = match (log.cache_tokens.map(format::count), cache_bytes.map(text)) {
        (Some(tokens), Some(bytes)) => format!("{} keeps {bytes} for {tokens} tokens.", name(log)),
        (None, Some(bytes)) => format!("{} keeps {bytes} for it.", name(log)),
        (Some(tokens), None) => format!("It holds {tokens} tokens."),
        (None, None) => String::new(),
    };
    Some(finding(FindingCode::KvCacheTooSmall, severity, cache_bytes.unwrap_or(0), title, shows, more_cache(log)))
}

/// Returns what makes the KV cache hold more.
///
/// Options are those of vLLM's "Conserving memory" and of SGLang's "Hyperparameter tuning" and "Server arguments".
fn more_cache(log: &EngineLog) -> String {
    match log.engine {
        Some(Engine::Sglang) if log.workers.iter().all(|worker| worker.end_free_bytes.is_some_and(|free| free > 5 * GIB)) => {
            "Raise `--mem-fraction-static`, as long as `available_gpu_mem` in the log stays at 5 GB or more.\n\
             Shorten requests by `--context-length`.\nHalve a cache of 16 bits by ``--kv-cache-dtype fp8_e5m2``.\n\
             Or use more GPUs (`--tp`).\n\nSGLang cuts or \
             refuses requests that are longer than its cache."
        }
        Some(Engine::Sglang) => {
            "Shorten requests by `--context-length`.\nHalve a cache of 16 bits by ``--kv-cache-dtype fp8_e5m2``.\n\
             Capture fewer CUDA graphs by `--cuda-graph-max-bs`.\nOr use more GPUs (`--tp`).\n\nSGLang cuts or refuses requests that are longer than its cache."
        }
        _ => {
            "Lower `--max-model-len` to what requests need.\nRaise `--gpu-memory-utilization` if nothing else needs the GPU.\n\
             Halve a cache of 16 bits by ``--kv-cache-dtype fp8``.\nLower `--max-num-batched-tokens` and `--max-num-seqs` if \
             activations take much.\nOr use a quantized model or more GPUs (`--tensor-parallel-size`).\n\nRequests that find no room wait or \
             are computed again."
        }
    }
    .to_owned()
}

/// Reports CUDA graphs that take at least 1 GiB and a tenth of what the KV cache has.
fn graphs(log: &EngineLog) -> Option<Finding> {
    let worker = log.workers.iter().max_by_key(|worker| worker.graph_bytes)?;
    let (graphs, cache) = (worker.graph_bytes?, worker.cache_bytes?);
    if graphs < GIB || graphs < cache / 10 {
        return None;
    }
    let advice = match log.engine {
        Some(Engine::Sglang) => {
            "Capture graphs for smaller batches only, by ``--cuda-graph-max-bs 32`` or what your load needs.\n\
             `--disable-cuda-graph` does without them and makes decoding slower."
        }
        _ => {
            "Capture graphs for fewer batch sizes: lower `--max-num-seqs`, or set `cudagraph_capture_sizes` in \
             `--compilation-config`, such as ``{\"cudagraph_capture_sizes\": [1, 2, 4, 8, 16]}``.\n`--enforce-eager` does without \
             them and makes decoding slower."
        }
    };
    let title = format!("CUDA graphs take {} of GPU memory", text(graphs));
    let shows = format!("The KV cache has {} beside them.", text(cache));
    Some(finding(FindingCode::CudaGraphsLarge, Severity::Info, graphs, title, shows, advice.to_owned()))
}

/// Reports memory of the GPU that the engine does not use.
fn unused(log: &EngineLog) -> Option<Finding> {
    if log.engine == Some(Engine::Sglang) {
        return unused_by_sglang(log);
    }
    let worker = log.workers.iter().min_by_key(|worker| worker.beyond_bytes().unwrap_or(i64::MAX))?;
    let (total, beyond, share) = (worker.total_bytes?, worker.beyond_bytes()?, worker.share_permille?);
    // What other processes had before the start is not free for the engine, and a reserve has to stay.
    let others = worker.start_free_bytes.map_or(0, |free| total.saturating_sub(free).max(0));
    let reserve = GIB.max(total / 50).saturating_add(others);
    let more = beyond.saturating_sub(reserve);
    if more < 2 * GIB || total < GIB {
        return None;
    }
    let better = (share as i64).saturating_add(((more as f64) / (total as f64) * 1000.0) as i64) / 10;
    let title = format!("{} of the GPU's {} stay unused by vLLM", text(beyond), text(total));
    let (share, allowed) = (share as f64 / 1000.0, text(worker.allowed_bytes.unwrap_or(0)));
    let shows =
        format!("`gpu_memory_utilization` is {share}, so weights, activations and the KV cache share {allowed}.");
    let (more, free) = (text(more), text(reserve.saturating_sub(others)));
    let advice = format!(
        "If nothing else needs the GPU, ``--gpu-memory-utilization 0.{better:02}`` gives the KV cache about {more} \
         more, and leaves {free} free.\nKeep the present value if the cache is large enough."
    );
    (better < 100).then(|| finding(FindingCode::RoomOfEngineUnused, Severity::Info, beyond, title, shows, advice))
}

/// Reports more than 10 GB free: SGLang's "Hyperparameter tuning" calls 5 to 8 GB good and 10 to 20 GB too much.
fn unused_by_sglang(log: &EngineLog) -> Option<Finding> {
    const MUCH: i64 = 10 * GIB;
    let free = log.workers.iter().filter_map(|worker| worker.end_free_bytes).min()?;
    log.cache_tokens.filter(|_| free > MUCH)?;
    let title = format!("{} stay free after SGLang's start", text(free));
    let shows = "SGLang's guide calls 5 to 8 GB right for activations, and 10 to 20 GB too much.".to_owned();
    let advice = "Raise `--mem-fraction-static` in steps of 0.01 until `available_gpu_mem` in the log is 5 to 8 GB, for a larger \
                  KV cache."
        .to_owned();
    Some(finding(FindingCode::RoomOfEngineUnused, Severity::Info, free, title, shows, advice))
}

/// Reports less than 1 GiB free after SGLang's start, from which activations are taken.
///
/// vLLM measures activations before it creates its cache, so that it needs no such room.
fn nearly_full(log: &EngineLog) -> Option<Finding> {
    log.cache_tokens.filter(|_| log.engine == Some(Engine::Sglang))?;
    let free = log.workers.iter().filter_map(|worker| worker.end_free_bytes).min().filter(|free| *free < GIB)?;
    let title = format!("Only {} stay free after SGLang's start", text(free));
    let shows = "Activations of long prompts and of large batches need memory beside weights and KV cache.".to_owned();
    let advice = "Lower `--mem-fraction-static` in steps of 0.01, or `--chunked-prefill-size` (such as 2048) and \
                  `--cuda-graph-max-bs`, before requests run out of memory."
        .to_owned();
    Some(finding(FindingCode::CardNearlyFull, Severity::Warning, free, title, shows, advice))
}

fn table(log: &EngineLog) -> LogTable {
    let cell = |bytes: Option<i64>| bytes.map_or(LogCell::Nothing, |bytes| LogCell::Bytes(unsigned(bytes)));
    let row = |worker: &EngineWorker| {
        let name = if worker.name.is_empty() { LogCell::Nothing } else { LogCell::Text(worker.name.clone()) };
        vec![
            name,
            cell(worker.weights_bytes.or(worker.resident_bytes)),
            cell(worker.outside_bytes),
            cell(worker.activation_bytes),
            cell(worker.cache_bytes),
            cell(worker.graph_bytes),
            cell(worker.end_free_bytes),
            cell(worker.total_bytes),
        ]
    };
    let columns = ["Process", "Weights", "Outside PyTorch", "Activations", "KV cache", "CUDA graphs", "Free", "GPU"];
    LogTable::new(format!("GPU memory of {}", name(log)), columns, log.workers.iter().map(row))
}

#[cfg(test)]
mod tests;
