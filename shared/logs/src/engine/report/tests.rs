//! Checks reports on starts that strangers have published, each with its source.

use super::*;
use crate::log_report;
use crate::reader::read_text;
use shared::report::LogReport;

/// Public log of Qwen2.5-Math-1.5B with vLLM 0.7 on a GPU of 22 GiB.
const VLLM_0_7: &str = include_str!("../../../../../tests/data/logs/vllm0.7-start.txt");

/// Public log of vLLM 0.10.2 on a GPU of 80 GB.
const VLLM_0_10: &str = include_str!("../../../../../tests/data/logs/vllm0.10-start.txt");

/// Public log of Llama 3.1 8B with SGLang 0.4 on a GPU of 24 GB.
const SGLANG: &str = include_str!("../../../../../tests/data/logs/sglang0.4-start.txt");

fn report(text: &str) -> LogReport {
    log_report(&read_text(text))
}

fn codes(report: &LogReport) -> Vec<(FindingCode, Severity)> {
    report.diagnosis.findings.iter().map(|finding| (finding.code, finding.severity)).collect()
}

#[test]
fn the_owners_of_vllm_are_the_whole_gpu() {
    for (text, whole) in [(VLLM_0_7, "22.1 GiB"), (VLLM_0_10, "79.2 GiB")] {
        let report = report(text);
        let owners = &report.owners[0];
        assert_eq!(format::bytes(owners.capacity_bytes), whole);
        assert_eq!(owners.parts.iter().map(|part| part.bytes).sum::<u64>(), owners.capacity_bytes, "{owners:?}");
        assert_eq!(owners.parts.last().map(|part| part.name.as_str()), Some("not used by the engine"));
    }
    let owners = &report(VLLM_0_7).owners[0];
    let parts: Vec<String> = owners.parts.iter().map(|part| format::bytes(part.bytes)).collect();
    assert_eq!(parts, ["2.88 GiB", "51.2 MiB", "1.40 GiB", "15.5 GiB", "184 MiB", "2.03 GiB"]);
}

#[test]
fn room_that_vllm_leaves_is_named_with_a_value() {
    let report = report(VLLM_0_10);
    assert_eq!(codes(&report), [(FindingCode::RoomOfEngineUnused, Severity::Info)]);
    let finding = &report.diagnosis.findings[0];
    assert_eq!(finding.title, "7.25 GiB of the GPU's 79.2 GiB stay unused by vLLM");
    // 79.19 - 71.94 (with graphs) - 0.53 of others - 1.58 in reserve = 5.1 GiB, which are 0.065 of the GPU.
    assert!(finding.advice.contains("`--gpu-memory-utilization 0.96`"), "{}", finding.advice);
    assert!(codes(&super::tests::report(VLLM_0_7)).is_empty(), "2 GiB of an L4 are a reserve");
}

#[test]
fn a_cache_for_one_request_is_a_warning_and_for_less_an_error() {
    let concurrency = |times: &str| {
        format!(
            "INFO [gpu_worker.py:349] Available KV cache memory: 2.30 GiB\n\
             INFO [kv_cache_utils.py:1229] GPU KV cache size: 75,840 tokens\n\
             INFO [kv_cache_utils.py:1234] Maximum concurrency for 120,000 tokens per request: {times}x\n"
        )
    };
    // vllm-project/vllm#28228: a model that keeps all tokens in some of its layers only; tokens alone would be an error.
    assert_eq!(codes(&report(&concurrency("2.48"))), []);
    let warned = report(&concurrency("1.07"));
    assert_eq!(codes(&warned), [(FindingCode::KvCacheTooSmall, Severity::Warning)]);
    let finding = &warned.diagnosis.findings[0];
    assert_eq!(finding.title, "The KV cache holds only 1.07 requests of 120,000 tokens");
    assert_eq!(finding.evidence.shows, "vLLM keeps 2.30 GiB for 75,840 tokens.");
    assert_eq!(codes(&report(&concurrency("0.63"))), [(FindingCode::KvCacheTooSmall, Severity::Error)]);
}

#[test]
fn a_negative_cache_is_nothing() {
    // Public log of vLLM 0.7.3 with int4 weights on a GPU of 6 GiB.
    let text = "the current vLLM instance can use total_gpu_memory (6.00GiB) x gpu_memory_utilization (0.90) = 5.40GiB\n\
                model weights take 5.43GiB; non_torch_memory takes -0.51GiB; PyTorch activation peak memory takes 1.42GiB;\n\
                the rest of the memory reserved for KV Cache is -0.94GiB.\n\
                Maximum concurrency for 4200 tokens per request: 0.00x\n";
    let report = report(text);
    assert_eq!(codes(&report), [(FindingCode::KvCacheTooSmall, Severity::Error)]);
    assert!(report.owners[0].parts.iter().all(|part| part.bytes < 6 << 30), "{:?}", report.owners);
}

#[test]
fn the_owners_of_sglang_share_what_was_free() {
    let report = report(SGLANG);
    let owners = &report.owners[0];
    assert_eq!(owners.title, "SGLang, memory that was free before it loaded");
    assert_eq!(owners.parts.iter().map(|part| part.bytes).sum::<u64>(), owners.capacity_bytes, "{owners:?}");
    let parts: Vec<String> =
        owners.parts.iter().map(|part| format!("{} {}", part.name, format::bytes(part.bytes))).collect();
    let expected =
        ["weights 15.0 GiB", "KV cache 4.66 GiB", "CUDA graphs 113 MiB", "other buffers 1.77 GiB", "free 850 MiB"];
    assert_eq!(parts, expected);
    let few = (FindingCode::KvCacheTooSmall, Severity::Warning);
    assert_eq!(codes(&report), [few, (FindingCode::CardNearlyFull, Severity::Warning)]);
    let finding = &report.diagnosis.findings[0];
    assert_eq!(finding.title, "The KV cache holds less than one request of 131,072 tokens");
    assert_eq!(finding.evidence.shows, "SGLang keeps 4.66 GiB for 38,141 tokens.");
}

#[test]
fn sglang_may_leave_much_room() {
    // sgl-project/sglang#11830.
    let text = "[2025-11-30 11:18:01] Capture cuda graph end. Time elapsed: 5.92 s. mem usage=1.44 GB. avail mem=37.06 GB.\n\
                [2025-11-30 11:18:05] max_total_num_tokens=2261377, chunked_prefill_size=16384, max_prefill_tokens=16384, \
                max_running_requests=4096, context_len=128000, available_gpu_mem=37.06 GB\n";
    let report = report(text);
    assert_eq!(codes(&report), [(FindingCode::RoomOfEngineUnused, Severity::Info)]);
    assert_eq!(report.diagnosis.findings[0].title, "37.1 GiB stay free after SGLang's start");
    assert_eq!(codes(&super::tests::report(&text.replace("37.06", "7.06"))), [], "as SGLang's guide wants it");
    // The line that the guide gives as an example, with a value that it calls too high.
    let line = "[2025-08-11 17:17:03] max_total_num_tokens=665690, chunked_prefill_size=8192, max_prefill_tokens=16384, \
                max_running_requests=4096, context_len=65536, available_gpu_mem=13.50 GB\n";
    assert_eq!(codes(&super::tests::report(line)), [(FindingCode::RoomOfEngineUnused, Severity::Info)]);
}

#[test]
fn large_graphs_are_named() {
    // Public log of four B300s: 4.13 GiB of graphs beside 50.62 GiB of cache are no matter; beside 20 GiB they are.
    let line = |cache: &str| {
        format!(
            "(Worker_TP2_EP2 pid=4155526) INFO 08-20 17:28:08 [gpu_worker.py:857] Free memory on device (181.84/184.31 GiB) on \
             startup. Desired GPU memory utilization is (0.92, 169.56 GiB). Actual usage is 106.69 GiB for weight, 6.31 GiB for \
             peak activation, 0.95 GiB for non-torch memory, and 4.13 GiB for CUDAGraph memory. Current kv cache memory in use \
             is {cache} GiB.\n"
        )
    };
    let unused = (FindingCode::RoomOfEngineUnused, Severity::Info);
    assert_eq!(codes(&report(&line("50.62"))), [unused]);
    assert_eq!(codes(&report(&line("20.0"))), [(FindingCode::CudaGraphsLarge, Severity::Info), unused]);
}

/// Checks the title and the first step of the only finding on a text.
#[track_caller]
fn check_error(text: &str, title: &str, first: &str) {
    let findings = report(text).diagnosis.findings;
    let found: Vec<_> = findings.iter().map(|one| (one.title.as_str(), one.steps[0].text.as_str())).collect();
    assert_eq!(found, [(title, first)]);
}

#[test]
fn an_engine_that_does_not_start_says_what_was_missing() {
    let long = |model: &str| {
        format!(
            "(EngineCore pid=100) INFO 08-03 [gpu_worker.py:538] Available KV cache memory: 8.72 GiB\n\
             (EngineCore pid=100) ERROR 08-03 [core.py:1231] ValueError: To serve at least one request with the {model} max \
             seq len (262144), (18.35 GiB KV cache is needed, which is larger than the available KV cache memory (8.72 GiB). \
             Based on the available memory, the estimated maximum model length is 121840. Try increasing …\n"
        )
    };
    for model in ["model's", "models's"] {
        check_error(
            &long(model),
            "One request of 262,144 tokens needs 18.3 GiB of KV cache; 8.72 GiB is left",
            "Set `--max-model-len 121840` or less: so many tokens of one request fit.",
        );
    }
    check_error(
        "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in KV \
         cache (2048). Try increasing `gpu_memory_utilization`",
        "The KV cache has no room for one request of 4,096 tokens",
        "Set `--max-model-len 2048` or less: so many tokens of one request fit.",
    );
    for device in ["device", "device cuda:0"] {
        check_error(
            &format!(
                "ValueError: Free memory on {device} (67.24/79.25 GiB) on startup is less than desired GPU memory utilization \
                 (0.9, 71.33 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
            ),
            "vLLM wants 71.3 GiB of the GPU, of which 67.2 GiB was free at its start",
            "End what else runs on the GPU: `nvidia-smi` lists it, such as engines and notebooks that crashed.",
        );
    }
    check_error(
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        "Nothing is left for the KV cache",
        "Raise `--gpu-memory-utilization` if nothing else needs the GPU.",
    );
    check_error(
        "Load weight end. quant=fp8, avail mem=12.25 GB, mem usage=125.65 GB.\n\
         ValueError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.88. Raise \
         --mem-fraction-static to at least 0.9113.",
        "The weights leave nothing of a share of 0.88 for the KV cache",
        "Raise the share: `--mem-fraction-static 0.92`.",
    );
}

#[test]
fn a_cpu_backend_has_no_gpu() {
    let error = "(EngineCore pid=25) ERROR 08-18 [core.py:1231] ValueError: No available memory for the cache blocks. Try \
                 increasing `gpu_memory_utilization` when initializing the engine.\n";
    let text = format!(
        "(Worker pid=36) INFO 08-18 [cpu_worker.py:235] Explicitly set (0.0/11.65) GiB for KV cache on node 0.\n{error}{error}"
    );
    check_error(
        &text,
        "vLLM's CPU backend has 0 B for its KV cache",
        "Set `VLLM_CPU_KVCACHE_SPACE=4` to the GiB of host memory that the KV cache may have, below what the weights leave.",
    );
}
