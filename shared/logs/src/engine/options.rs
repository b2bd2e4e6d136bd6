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
    let [share, tokens, requests] = match engine {
        "SGLang" => ["--mem-fraction-static", "--chunked-prefill-size", "--max-running-requests"],
        "TGI" => ["--cuda-memory-fraction", "--max-batch-prefill-tokens", "--max-concurrent-requests"],
        "LMDeploy" => ["--cache-max-entry-count", "--max-prefill-token-num", "--max-batch-size"],
        _ => ["--gpu-memory-utilization", "--max-num-batched-tokens", "--max-num-seqs"],
    };
    let [gpus, without_graphs] = match engine {
        "SGLang" => ["--tp", "--disable-cuda-graph"],
        "TGI" => ["--num-shard", "--cuda-graphs 0"],
        "LMDeploy" => ["--tp", "--eager-mode"],
        _ => ["--tensor-parallel-size", "--enforce-eager"],
    };
    EngineOptions { share, tokens, requests, gpus, without_graphs }
}
