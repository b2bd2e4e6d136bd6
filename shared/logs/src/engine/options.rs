//! The options by which inference engines limit what they take of a GPU, and the words that name them in a log.

/// Options of an engine, as on its command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EngineOptions {
    /// Its share of the GPU.
    pub(crate) share: &'static str,
    /// Tokens of a pass, and requests at a time.
    pub(crate) tokens: &'static str,
    pub(crate) requests: &'static str,
    /// Number of GPUs.
    pub(crate) gpus: &'static str,
    /// What turns CUDA graphs off.
    pub(crate) without_graphs: &'static str,
}

/// Words in a line of a log or a traceback, with the engine that they name.
const WORDS: [(&str, &str); 6] = [
    ("vllm", "vLLM"),
    ("EngineCore", "vLLM"),
    ("VllmWorker", "vLLM"),
    ("sglang", "SGLang"),
    ("text_generation_", "TGI"),
    ("lmdeploy", "LMDeploy"),
];

/// Returns the inference engine that a line names.
pub(crate) fn engine_of(line: &str) -> Option<&'static str> {
    WORDS.iter().find_map(|(words, name)| line.contains(words).then_some(*name))
}

/// Returns the options of an engine by its name; those of vLLM for others, which follow it.
pub(crate) fn options_of(engine: &str) -> EngineOptions {
    match engine {
        "SGLang" => EngineOptions {
            share: "--mem-fraction-static",
            tokens: "--chunked-prefill-size",
            requests: "--max-running-requests",
            gpus: "--tp",
            without_graphs: "--disable-cuda-graph",
        },
        "TGI" => EngineOptions {
            share: "--cuda-memory-fraction",
            tokens: "--max-batch-prefill-tokens",
            requests: "--max-concurrent-requests",
            gpus: "--num-shard",
            without_graphs: "--cuda-graphs 0",
        },
        "LMDeploy" => EngineOptions {
            share: "--cache-max-entry-count",
            tokens: "--max-prefill-token-num",
            requests: "--max-batch-size",
            gpus: "--tp",
            without_graphs: "--eager-mode",
        },
        _ => EngineOptions {
            share: "--gpu-memory-utilization",
            tokens: "--max-num-batched-tokens",
            requests: "--max-num-seqs",
            gpus: "--tensor-parallel-size",
            without_graphs: "--enforce-eager",
        },
    }
}
