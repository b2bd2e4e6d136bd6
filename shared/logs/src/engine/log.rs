//! Stores the GPU memory of an inference engine by owner, and reads errors of engines without memory for a KV cache.

use shared::base::size::{self, leading_number};

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

/// Reason why an engine did not start, or computes requests again; sizes are in bytes, shares in thousandths, `None` where the message does not state
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// The KV cache is smaller than one request of the longest kind.
    LongRequest {
        needed_bytes: Option<u64>,
        available_bytes: Option<u64>,
        longest_tokens: Option<u64>,
        /// Tokens of the longest request that would fit.
        possible_tokens: Option<u64>,
    },
    /// Less memory was free than the engine was told to use.
    FewFree { free_bytes: u64, total_bytes: u64, share_permille: u64, wanted_bytes: u64 },
    /// Weights and activations leave nothing of the share for the KV cache.
    NoCache {
        share_permille: Option<u64>,
        /// Least share that would do.
        least_permille: Option<u64>,
    },
    /// The KV cache was full while requests ran, and some of them were put back.
    Preempted,
}

impl EngineError {
    pub(super) fn of(line: &str) -> Option<Self> {
        // "To serve at least one request with the models's max seq len (262144), (18.35 GiB KV cache is needed, which is
        // larger than the available KV cache memory (8.72 GiB). … the estimated maximum model length is 121840."
        // "The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in KV cache (2048)."
        let longest_tokens = number(line, "max seq len ");
        if line.contains("KV cache is needed") {
            return Some(Self::LongRequest {
                needed_bytes: size::before(line, " KV cache is needed"),
                available_bytes: size::after(line, "available KV cache memory "),
                longest_tokens,
                possible_tokens: number(line, "estimated maximum model length is "),
            });
        }
        if line.contains("number of tokens that can be stored in KV cache") {
            let possible_tokens = number(line, "stored in KV cache ");
            return Some(Self::LongRequest {
                needed_bytes: None,
                available_bytes: None,
                longest_tokens,
                possible_tokens,
            });
        }
        // "Free memory on device (67.24/79.25 GiB) on startup is less than desired GPU memory utilization (0.9, 71.33 GiB)."
        // Later versions name the device in between.
        if line.contains("on startup is less than desired GPU memory utilization") {
            let (_, device) = line.split_once("Free memory on device")?;
            let (free, rest) = device.split_once('/')?;
            let (_, free) = free.rsplit_once('(')?;
            let (_, share) = rest.split_once("GPU memory utilization ")?;
            return Some(Self::FewFree {
                free_bytes: size::leading(&format!("{free} GiB"))?,
                total_bytes: size::leading(rest)?,
                share_permille: fraction(share, "", 1000.0)?,
                wanted_bytes: size::after(share, ", ")?,
            });
        }
        // SGLang's two wordings, and that of vLLM until 0.8.
        const FULL: [&str; 3] =
            ["Decode out of memory happened", "KV cache pool is full. Retract requests", "preempted by PreemptionMode"];
        if FULL.iter().any(|words| line.contains(words)) {
            return Some(Self::Preempted);
        }
        // "Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.88. Raise --mem-fraction-static
        // to at least 0.9113."
        const WORDS: [&str; 4] = [
            "No available memory for the cache blocks",
            // As it was spelled at first.
            "Not enought memory. Please try to increase --mem-fraction-static",
            "Not enough memory. Please try to increase --mem-fraction-static",
            "leave no GPU memory for the KV cache",
        ];
        WORDS.iter().any(|words| line.contains(words)).then(|| Self::NoCache {
            share_permille: fraction(line, "--mem-fraction-static=", 1000.0),
            least_permille: fraction(line, "to at least ", 1000.0),
        })
    }
}

/// Returns the number behind the first of these words, without separators of thousands.
pub(super) fn number(text: &str, words: &str) -> Option<u64> {
    let (number, _) = leading_number(text.split_once(words)?.1);
    number.parse().ok()
}

/// Returns the number behind the first of these words in a fraction of one, such as 100 for hundredths.
pub(super) fn fraction(text: &str, words: &str, of: f64) -> Option<u64> {
    let (number, _) = leading_number(text.split_once(words)?.1);
    let value: f64 = number.parse().ok()?;
    (0.0..1e12).contains(&value).then(|| (value * of).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_and_ends() {
        assert_eq!(number("GPU KV cache size: 158,656 tokens", "size: "), Some(158_656));
        assert_eq!(number("max_total_num_tokens=834615, chunked", "tokens="), Some(834_615));
        assert_eq!(fraction("per request: 4.84x", "request: ", 100.0), Some(484));
        assert_eq!(fraction("is (0.9, 71.27 GiB)", "is ", 1000.0), Some(900));
        assert_eq!([number("a: ", "a: "), number("b", "a: "), number("a: x1", "a: ")], [None; 3]);
    }
}
