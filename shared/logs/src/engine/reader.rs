//! Reads the start of an inference engine, line by line.

use super::log::{Engine, EngineError, EngineLog, EngineWorker};
use super::{sglang, vllm};
use crate::source::{LineReader, Source};

const MOST_WORKERS: usize = 1024;

const MOST_ERRORS: usize = 16;

/// Longest name of a process, in bytes.
const LONGEST_NAME: usize = 64;

#[derive(Debug, Default)]
pub struct EngineReader {
    log: EngineLog,
}

impl LineReader for EngineReader {
    type Log = EngineLog;

    fn line(&mut self, line: &str) -> bool {
        if vllm::begins(line) || sglang::begins(line) {
            self.begin();
            return false;
        }
        // Most lines are about other things.
        let may_be = ["emory", "odel", "tokens", "raph", "KV cache"].iter().any(|words| line.contains(words));
        may_be && self.error(line) || self.sglang(line) || may_be && self.vllm(line)
    }

    fn finish(self) -> EngineLog {
        self.log
    }
}

impl EngineReader {
    /// Begins a start; several processes of one start may announce it.
    fn begin(&mut self) {
        if !self.log.is_empty() {
            let earlier_starts = self.log.earlier_starts + 1;
            self.log = EngineLog { earlier_starts, ..EngineLog::default() };
        }
    }

    /// Reads an error; each process of an engine prints it.
    fn error(&mut self, line: &str) -> bool {
        let Some(error) = EngineError::of(line) else { return false };
        if !self.log.errors.contains(&error) && self.log.errors.len() < MOST_ERRORS {
            self.log.errors.push(error);
        }
        let is_sglang = line.contains("--mem-fraction-static") || line.contains("#retracted_reqs");
        self.log.engine.get_or_insert(if is_sglang { Engine::Sglang } else { Engine::Vllm });
        true
    }

    fn sglang(&mut self, line: &str) -> bool {
        let is_of_engine = sglang::of_engine(line, &mut self.log);
        let is_of_worker =
            sglang::is_of_worker(line) && self.change(sglang::name(line), |worker| sglang::of_worker(line, worker));
        self.is_of(Engine::Sglang, is_of_engine || is_of_worker)
    }

    fn vllm(&mut self, line: &str) -> bool {
        let name = vllm::name(line);
        if vllm::loads(line)
            && self.log.workers.iter().any(|worker| worker.name == name && worker.cache_bytes.is_some())
        {
            self.begin();
        }
        // The figures are those of the failure: what follows is of another attempt.
        if !self.log.errors.is_empty()
            && self.log.workers.iter().any(|worker| worker.name == name && worker.cache_bytes.is_some())
        {
            return false;
        }
        let is_of_engine = vllm::of_engine(line, &mut self.log);
        let is_of_worker = self.change(name, |worker| vllm::of_worker(line, worker));
        self.is_of(Engine::Vllm, is_of_engine || is_of_worker)
    }

    fn is_of(&mut self, engine: Engine, is_of: bool) -> bool {
        if is_of {
            self.log.engine = Some(engine);
        }
        is_of
    }

    /// Passes a process to `read`, which returns true if the line is about it; keeps a new process only then.
    fn change(&mut self, name: &str, read: impl FnOnce(&mut EngineWorker) -> bool) -> bool {
        let workers = &mut self.log.workers;
        if let Some(known) = workers.iter_mut().find(|worker| worker.name == name) {
            return read(known);
        }
        let mut new = EngineWorker { name: name.to_owned(), ..EngineWorker::default() };
        let is_of = name.len() <= LONGEST_NAME && read(&mut new);
        if is_of && workers.len() < MOST_WORKERS {
            workers.push(new);
        }
        is_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::read_lines;

    fn read(text: &str) -> EngineLog {
        read_lines::<EngineReader>(text)
    }

    /// Returns a size in hundredths of GiB, as the engines print it.
    fn hundredths(bytes: Option<i64>) -> Option<i64> {
        bytes.map(|bytes| (bytes as f64 * 100.0 / f64::from(1 << 30)).round() as i64)
    }

    #[test]
    fn vllm_0_8_states_a_balance() {
        // kubernetes-sigs/gateway-api-inference-extension#550 and SystemPanic/vllm-windows#6.
        for (text, expected) in [
            (
                "INFO 03-21 20:15:45 [worker.py:267] Memory profiling takes 34.26 seconds\n\
                 INFO 03-21 20:15:45 [worker.py:267] the current vLLM instance can use total_gpu_memory (79.19GiB) x \
                 gpu_memory_utilization (0.90) = 71.27GiB\n\
                 INFO 03-21 20:15:45 [worker.py:267] model weights take 12.55GiB; non_torch_memory takes 0.16GiB; PyTorch \
                 activation peak memory takes 2.38GiB; the rest of the memory reserved for KV Cache is 56.18GiB.\n",
                ([7919, 7127], [1255, 16, 238, 5618]),
            ),
            (
                "INFO 04-04 17:57:59 [model_runner.py:1146] Model loading took 0.4678 GB and 114.953146 seconds\n\
                 INFO 04-04 17:58:00 [worker.py:268] the current vLLM instance can use total_gpu_memory (16.00GiB) x \
                 gpu_memory_utilization (0.90) = 14.40GiB\n\
                 INFO 04-04 17:58:00 [worker.py:268] model weights take 0.47GiB; non_torch_memory takes 0.03GiB; PyTorch \
                 activation peak memory takes 0.50GiB; the rest of the memory reserved for KV Cache is 13.40GiB.\n",
                ([1600, 1440], [47, 3, 50, 1340]),
            ),
        ] {
            let log = read(text);
            let [worker] = log.workers.as_slice() else { panic!("{log:?}") };
            let whole = [worker.total_bytes, worker.allowed_bytes];
            let parts = [worker.weights_bytes, worker.outside_bytes, worker.activation_bytes, worker.cache_bytes];
            assert_eq!((whole.map(hundredths), parts.map(hundredths)), (expected.0.map(Some), expected.1.map(Some)));
            assert_eq!((worker.share_permille, log.engine), (Some(900), Some(Engine::Vllm)));
            // The parts are what the engine may use.
            assert!((hundredths(Some(worker.owned_bytes())).unwrap() - expected.0[1]).abs() <= 2, "{worker:?}");
        }
    }

    #[test]
    fn vllm_0_10_sums_a_start_in_one_line() {
        // Both forms are of public repositories: version 0.10.2 and one of 2026.
        let text = "(EngineCore_DP0 pid=3021) INFO 09-23 18:12:39 [gpu_model_runner.py:3118] Graph capturing finished in 5 secs, \
                    took 0.67 GiB\n\
                    (EngineCore_DP0 pid=3021) INFO 09-23 18:12:39 [gpu_worker.py:391] Free memory on device (78.66/79.19 GiB) on \
                    startup. Desired GPU memory utilization is (0.9, 71.27 GiB). Actual usage is 14.08 GiB for weight, 1.97 GiB \
                    for peak activation, 0.07 GiB for non-torch memory, and 0.67 GiB for CUDAGraph memory. Replace \
                    gpu_memory_utilization config with `--kv-cache-memory=58333988249` to fit into requested memory, or \
                    `--kv-cache-memory=66273897472` to fully utilize gpu memory. Current kv cache memory in use is 59212694937 \
                    bytes.\n";
        let worker = &read(text).workers[0];
        assert_eq!((worker.name.as_str(), worker.share_permille), ("EngineCore_DP0", Some(900)));
        let sizes = [worker.start_free_bytes, worker.total_bytes, worker.allowed_bytes, worker.weights_bytes];
        assert_eq!(sizes.map(hundredths), [7866, 7919, 7127, 1408].map(Some));
        let sizes = [worker.activation_bytes, worker.outside_bytes, worker.graph_bytes];
        assert_eq!(sizes.map(hundredths), [197, 7, 67].map(Some));
        // What is left of 71.27 GiB for the cache.
        assert_eq!((worker.cache_bytes, hundredths(worker.cache_bytes)), (Some(59_212_694_937), Some(5515)));
        let text = "(EngineCore pid=326) INFO 10-06 17:00:33 [kv_cache_utils.py:2464] GPU KV cache size: 460,496 tokens, Maximum \
                    concurrency for 131,072 tokens per request: 3.51x\n\
                    (EngineCore pid=326) INFO 10-06 17:00:41 [gpu_worker.py:955] Free memory on device (78.84/79.25 GiB) on \
                    startup. Desired GPU memory utilization is (0.92, 72.91 GiB). Actual usage is 15.26 GiB for consumed memory \
                    (weights + non-torch), 1.44 GiB for peak activation, and 0.23 GiB for CUDAGraph memory.\n\
                    (EngineCore pid=326) INFO 10-06 17:00:33 [gpu_worker.py:692] Available KV cache memory: 56.21 GiB\n";
        let log = read(text);
        assert_eq!(
            (log.cache_tokens, log.longest_tokens, log.concurrency_percent),
            (Some(460_496), Some(131_072), Some(351))
        );
        assert_eq!(hundredths(log.workers[0].resident_bytes), Some(1526));
        // 56.21 GiB are 72.91 without 15.26 and 1.44, and the graphs come on top.
        assert_eq!(hundredths(Some(log.workers[0].owned_bytes())), Some(7291 + 23));
    }

    #[test]
    fn workers_of_vllm_have_names() {
        // vllm-project/vllm#28228 and vllm-project/vllm#14447.
        let text = "(Worker_TP0 pid=26347) INFO 11-06 10:51:48 [gpu_worker.py:349] Available KV cache memory: 2.30 GiB\n\
                    (EngineCore_DP0 pid=26283) INFO 11-06 10:51:48 [kv_cache_utils.py:1229] GPU KV cache size: 75,840 tokens\n\
                    (EngineCore_DP0 pid=26283) INFO 11-06 10:51:48 [kv_cache_utils.py:1234] Maximum concurrency for 120,000 \
                    tokens per request: 2.48x\n";
        let log = read(text);
        assert_eq!((log.cache_tokens, log.concurrency_percent, log.workers.len()), (Some(75_840), Some(248), 1));
        let line =
            |pid: u32| format!("(VllmWorkerProcess pid={pid}) INFO [worker.py:267] model weights take 21.21GiB; non\n");
        assert_eq!(read(&(line(521) + &line(507) + &line(521))).workers.len(), 2);
        let name = |line: &str| vllm::name(line).to_owned();
        assert_eq!(name("vllm-1  | (Worker_TP2_EP2 pid=4155526) INFO 08-20"), "Worker_TP2_EP2");
        assert_eq!(name("(RayWorkerWrapper pid=17, ip=10.0.0.2) INFO"), "RayWorkerWrapper pid=17");
        assert_eq!(name("(VllmWorker rank=3 pid=17) INFO"), "VllmWorker rank=3");
        assert_eq!([name("INFO 04-12 (a)"), name("a pid=7"), name("(a pid=7")], [""; 3]);
    }

    #[test]
    fn sglang_states_what_is_free() {
        let log = read(include_str!("../../../../tests/data/logs/sglang0.4-start.txt"));
        let [worker] = log.workers.as_slice() else { panic!("{log:?}") };
        let free = [worker.start_free_bytes, worker.end_free_bytes];
        let used = [worker.weights_bytes, worker.cache_bytes, worker.graph_bytes];
        assert_eq!((free.map(hundredths), used.map(hundredths)), ([2239, 83].map(Some), [1502, 466, 11].map(Some)));
        assert_eq!((worker.name.as_str(), log.cache_tokens, log.longest_tokens), ("", Some(38_141), Some(131_072)));
        assert_eq!(log.engine, Some(Engine::Sglang));
        // sgl-project/sglang#11716.
        let text = "[2025-10-16 09:06:22 TP5] KV Cache is allocated. #tokens: 2795207, K size: 53.31 GB, V size: 53.31 GB\n\
                    [2025-10-16 09:06:22 TP1] KV Cache is allocated. #tokens: 2795207, K size: 53.31 GB, V size: 53.31 GB\n\
                    [2025-10-16 09:06:22 TP5] Memory pool end. avail mem=11.87 GB\n";
        let names: Vec<String> = read(text).workers.into_iter().map(|worker| worker.name).collect();
        assert_eq!(names, ["TP5", "TP1"]);
        assert_eq!(sglang::name("sglang-1 | [2025-01-22 10:00:01 DP0 TP0 EP0] Load weight end."), "DP0 TP0 EP0");
    }

    #[test]
    fn draft_models_of_sglang_add_up_and_old_versions_state_less() {
        let text = "[2026-08-13 TP0] Load weight end. type=Main, avail mem=161.06 GB, mem usage=104.24 GB.\n\
                    [2026-08-13 TP0] Load weight end. type=Draft, avail mem=158.45 GB, mem usage=2.60 GB.\n\
                    [2026-08-13 TP0] Capture target verify CUDA graph end. elapsed=84 s, mem usage=0.19 GB\n\
                    [2026-08-13 TP0] Capture draft decode CUDA graph end. elapsed=7 s, mem usage=0.08 GB\n\
                    [2026-08-13 TP0] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 524288, KV size: 17.16 GB\n";
        let worker = &read(text).workers[0];
        let sizes = [worker.weights_bytes, worker.graph_bytes, worker.cache_bytes].map(hundredths);
        assert_eq!(sizes, [10_684, 27, 1716].map(Some));
        let old = "[2024-12-02 12:01:17] Load weight begin. avail mem=92.50 GB\n\
                   [2024-12-02 12:01:19] Load weight end. type=LlamaForCausalLM, dtype=torch.float16, avail mem=77.39 GB\n";
        assert_eq!(hundredths(read(old).workers[0].weights_bytes), Some(1511));
    }

    #[test]
    fn the_last_start_counts() {
        let start = "INFO [api_server.py:1034] vLLM API server version 0.8.3\n\
                     INFO [llm_engine.py:235] Initializing a V0 LLM engine (v0.8.3) with config: model='a'\n\
                     INFO [model_runner.py:1146] Model loading took 2.0 GiB and 1.5 seconds\n\
                     INFO [gpu_worker.py:349] Available KV cache memory: 2.30 GiB\n";
        let log = read(&start.repeat(3));
        assert_eq!((log.earlier_starts, log.workers[0].weights_bytes), (2, Some(2 << 30)));
    }

    #[test]
    fn other_lines_are_of_no_engine() {
        for line in [
            "",
            "Model loading took a while",
            "step 3 tokens per request: 7",
            "max_total_num_tokens unknown",
            "the memory of the model",
        ] {
            assert!(!EngineReader::default().line(line), "{line}");
        }
    }
}
