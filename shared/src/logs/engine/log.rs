//! Stores the GPU memory of an inference engine by owner.

use super::error::EngineError;

/// Inference engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Vllm,
    Sglang,
}

impl Engine {
    /// Returns the name as its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vLLM",
            Self::Sglang => "SGLang",
        }
    }
}

/// What an engine says about memory at its last start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineLog {
    pub engine: Option<Engine>,
    /// Processes in the order of their first lines, one for each GPU.
    pub workers: Vec<EngineWorker>,
    /// Tokens that the KV cache holds; the fewest, if several engines state them.
    pub cache_tokens: Option<u64>,
    /// Most tokens of one request.
    pub longest_tokens: Option<u64>,
    /// Requests of the longest kind that the cache holds at once, in hundredths.
    ///
    /// It is not [`cache_tokens`](Self::cache_tokens) by [`longest_tokens`](Self::longest_tokens) for models whose layers
    /// do not all keep all tokens.
    pub concurrency_percent: Option<u64>,
    /// Errors that ended it, without repetitions.
    pub errors: Vec<EngineError>,
    /// Memory of the host that a CPU backend may use for its KV cache, and the memory of the host's node.
    pub host_cache_bytes: Option<(u64, u64)>,
    /// Starts before the last one.
    pub earlier_starts: u64,
}

/// Memory of one GPU by owner; sizes are in bytes, `None` where the log does not state them.
///
/// Differences of measurements can be negative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineWorker {
    /// Name of the process as the engine has it, such as `TP0`, or empty.
    pub name: String,
    /// Memory of the GPU.
    pub total_bytes: Option<i64>,
    /// Memory of the GPU that was free when the engine began.
    pub start_free_bytes: Option<i64>,
    /// Share of the GPU that the engine may use, in thousandths.
    pub share_permille: Option<u64>,
    /// Memory that the engine may use.
    pub allowed_bytes: Option<i64>,
    pub weights_bytes: Option<i64>,
    /// Weights and memory outside PyTorch together, where only their sum is stated.
    pub resident_bytes: Option<i64>,
    /// Memory outside PyTorch's allocator.
    pub outside_bytes: Option<i64>,
    /// Most memory of activations in a run of the largest batch.
    pub activation_bytes: Option<i64>,
    pub cache_bytes: Option<i64>,
    pub graph_bytes: Option<i64>,
    /// Memory of the GPU that was free at the end of the start.
    pub end_free_bytes: Option<i64>,
}

impl EngineWorker {
    /// Returns the memory of all owners that are known.
    pub fn owned_bytes(&self) -> i64 {
        let weights = self.resident_bytes.or_else(|| Some(self.weights_bytes?.saturating_add(self.outside())));
        [weights, self.activation_bytes, self.cache_bytes, self.graph_bytes]
            .into_iter()
            .flatten()
            .fold(0, |sum: i64, bytes| sum.saturating_add(bytes.max(0)))
    }

    fn outside(&self) -> i64 {
        self.outside_bytes.unwrap_or(0).max(0)
    }

    /// Returns the memory of the GPU beyond that of all known owners.
    pub fn beyond_bytes(&self) -> Option<i64> {
        let used = self.allowed_bytes.unwrap_or(0).max(self.owned_bytes());
        self.total_bytes.map(|total| total.saturating_sub(used).max(0))
    }
}
