//! Builds findings on errors of engines: what was missing, and the setting that would do.

use crate::engine::{EngineError, EngineLog, options_of};
use shared::base::format;

/// States an error of the engine `name` as the bytes that were missing (0 if they are not known), a title, what shows
/// it, and advice; `more_cache` is what makes its KV cache hold more.
pub(super) fn stated(
    log: &EngineLog,
    error: &EngineError,
    name: &str,
    more_cache: &str,
) -> (u64, String, String, String) {
    match *error {
        EngineError::LongRequest { needed_bytes, available_bytes, longest_tokens, possible_tokens } => {
            let tokens =
                longest_tokens.map_or_else(|| "full length".to_owned(), |tokens| format::counted(tokens, "token"));
            let title = match [needed_bytes, available_bytes].map(|bytes| bytes.map(format::bytes)) {
                [Some(needed), Some(left)] => {
                    format!("One request of {tokens} needs {needed} of KV cache; {left} is left")
                }
                _ => format!("The KV cache has no room for one request of {tokens}"),
            };
            let first = possible_tokens.map_or_else(String::new, |tokens| {
                format!("Set ``--max-model-len {tokens}`` or less: so many tokens of one request fit.\n")
            });
            let shows = "Weights, activations and CUDA graphs come first, and the KV cache gets the rest of the share.";
            (needed_bytes.unwrap_or(0), title, shows.to_owned(), first + more_cache)
        }
        EngineError::FewFree { free_bytes, total_bytes, share_permille, wanted_bytes } => {
            let others = format::bytes(total_bytes.saturating_sub(free_bytes));
            let [free, total, wanted] = [free_bytes, total_bytes, wanted_bytes].map(format::bytes);
            let share = share_permille as f64 / 1000.0;
            // Two digits, rounded down: more is refused again.
            let possible = (free_bytes as f64 / total_bytes.max(1) as f64 * 100.0).floor() / 100.0;
            /// Share in which hardly a model has room.
            const LEAST_SHARE: f64 = 0.1;
            let lower = format!("Or lower the share to what is free: ``--gpu-memory-utilization {possible:.2}``.\n");
            let lower = if possible >= LEAST_SHARE { lower } else { String::new() };
            (
                wanted_bytes.saturating_sub(free_bytes),
                format!("{name} wants {wanted} of the GPU, of which {free} was free at its start"),
                format!("Others held {others} of {total} when it started. It may use {share} of the GPU."),
                format!(
                    "End what else runs on the GPU: ``nvidia-smi`` lists it, such as engines and notebooks that crashed.\n\
                     {lower}Or choose another GPU by `CUDA_VISIBLE_DEVICES`."
                ),
            )
        }
        EngineError::NoCache { .. } if log.host_cache_bytes.is_some() => {
            let (set, node) = log.host_cache_bytes.unwrap_or_default();
            (
                set,
                format!("vLLM's CPU backend has {} for its KV cache", format::bytes(set)),
                format!("The node has {} of memory. No GPU takes part.", format::bytes(node)),
                "Set ``VLLM_CPU_KVCACHE_SPACE=4`` to the GiB of host memory that the KV cache may have, below what the \
                 weights leave.\nShorten requests by `--max-model-len`, or use a smaller model."
                    .to_owned(),
            )
        }
        EngineError::NoCache { share_permille, least_permille } => {
            let share = |permille: u64| permille as f64 / 1000.0;
            let under =
                share_permille.map_or_else(String::new, |permille| format!(" of a share of {}", share(permille)));
            let option = options_of(name).share;
            let first = match least_permille {
                // Rounded up, since less is refused again.
                Some(least) => format!("Raise the share: ``{option} {:.2}``.\n", (share(least) * 100.0).ceil() / 100.0),
                None => format!("Raise `{option}` if nothing else needs the GPU.\n"),
            };
            /// Weights that fill none of the GPUs that engines run on.
            const SMALL_BYTES: i64 = 2 << 30;
            let weights = log.workers.iter().filter_map(|worker| worker.weights_bytes).max();
            if let Some(weights) = weights.filter(|bytes| *bytes < SMALL_BYTES) {
                let title = format!("Nothing{under} is left for the KV cache");
                let shows = format!("The weights take only {}.", format::bytes(weights.unsigned_abs()));
                let others = "End what else runs on the GPU: ``nvidia-smi`` lists it, such as an engine that was just stopped. \
                              What others hold counts for the share.";
                return (0, title, shows, first + others);
            }
            if weights.is_none() || share_permille.is_none() && name == "vLLM" {
                let title = format!("Nothing{under} is left for the KV cache");
                let taken = weights.map(|bytes| format!("The weights take {}. ", format::bytes(bytes.unsigned_abs())));
                let shows = "Weights, activations and CUDA graphs come first, and what others hold on the GPU counts for the share.";
                let shows = taken.unwrap_or_default() + shows;
                let others = "If another engine runs on the GPU, give this one a share that has room for both: ``nvidia-smi`` lists \
                              what they hold.\n\
                              Or use a quantized model, more GPUs (`--tensor-parallel-size`, `--tp`), or a shorter context.";
                return (0, title, shows, first + others);
            }
            let most = "Or use a quantized model, or more GPUs (`--tensor-parallel-size`, `--tp`).\nMake activations and graphs smaller: a shorter context, fewer tokens and \
                        requests at a time, no CUDA graphs.";
            let title = format!("The weights leave nothing{under} for the KV cache");
            (0, title, "Weights, activations and CUDA graphs come first.".to_owned(), first + most)
        }
        EngineError::Preempted => (
            0,
            "The KV cache was full: requests were put back and computed again".to_owned(),
            "What was computed for them is lost.".to_owned(),
            format!("Let fewer requests run at a time: `{}`.\n{more_cache}", options_of(name).requests),
        ),
    }
}
