//! Reads the errors of engines that find no memory for their KV cache.

use super::value::{fraction, number};
use crate::base::size;

/// Reason why an engine did not start; sizes are in bytes, shares in thousandths, `None` where the message does not state
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
}

impl EngineError {
    /// Reads the error that a line contains.
    pub(super) fn of(line: &str) -> Option<Self> {
        // "To serve at least one request with the models's max seq len (262144), (18.35 GiB KV cache is needed, which is
        // larger than the available KV cache memory (8.72 GiB). … the estimated maximum model length is 121840."
        if line.contains("KV cache is needed") {
            return Some(Self::LongRequest {
                needed_bytes: size::before(line, " KV cache is needed"),
                available_bytes: size::after(line, "available KV cache memory "),
                longest_tokens: number(line, "max seq len "),
                possible_tokens: number(line, "estimated maximum model length is "),
            });
        }
        // "The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in KV cache (2048)."
        if line.contains("number of tokens that can be stored in KV cache") {
            return Some(Self::LongRequest {
                needed_bytes: None,
                available_bytes: None,
                longest_tokens: number(line, "max seq len "),
                possible_tokens: number(line, "stored in KV cache "),
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
        // "Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.88. Raise --mem-fraction-static
        // to at least 0.9113."
        const WORDS: [&str; 3] = [
            "No available memory for the cache blocks",
            "Not enough memory. Please try to increase --mem-fraction-static",
            "leave no GPU memory for the KV cache",
        ];
        WORDS.iter().any(|words| line.contains(words)).then(|| Self::NoCache {
            share_permille: fraction(line, "--mem-fraction-static=", 1000.0),
            least_permille: fraction(line, "to at least ", 1000.0),
        })
    }
}
