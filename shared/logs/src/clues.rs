//! Knows what stands beside an error and tells its cause or what was tried: a line of code, a limit, a setting.
//!
//! An error says what was refused, and the lines around it often say why. Each clue changes the advice on one kind of
//! finding, so that the first step is the one for this text, and no step is one that was taken.

use crate::source::{LogPart, Source, finding};
use shared::analysis::{Advice, AdviceStep, FindingCode};
use shared::base::Severity;
use shared::report::{Finding, NO_DEVICE};

/// Lines at the beginning of a text in which clues are looked for.
const LINES: usize = 4096;

/// What a clue is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Gpu,
    Host,
    Any,
}

impl Of {
    fn has(self, code: FindingCode) -> bool {
        use FindingCode::{HostNearlyFull, HostOutOfMemory, HostProcessKilled, OutOfMemory, OutsidePytorch};
        let is_of_gpu = matches!(code, OutOfMemory | OutsidePytorch);
        let is_of_host = matches!(code, HostOutOfMemory | HostProcessKilled | HostNearlyFull);
        (is_of_gpu && self != Self::Host) || (is_of_host && self != Self::Gpu)
    }
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    /// Tells the first step, in the notation of [`Advice`].
    First(Of, &'static str),
    /// Replaces words of steps; a step of which nothing is left goes.
    Replaces(&'static [(&'static str, &'static str)]),
    /// Drops steps with these words.
    Drops(&'static str),
    /// Says that the failure was meant.
    Harmless(&'static str),
    /// Tells something by itself: a title and the advice.
    Tells(FindingCode, Severity, &'static str, &'static str),
}

/// Words of a line, all of which it has; after `!` words that it may not have.
type Words = &'static [&'static str];

const CLUES: &[(Words, Effect)] = {
    use Effect::{Drops, First, Harmless, Replaces, Tells};
    use Of::{Any, Gpu, Host};
    &[
        (&["volatile was removed"], First(Gpu, NO_GRAD)),
        (&["get_dummies("], First(Host, COLUMNS)),
        (&["cdist("], First(Any, DISTANCES)),
        (&["[", " for ", " in ", "loader]"], First(Any, LIST_OF_BATCHES)),
        (&["list(", "loader)"], First(Any, LIST_OF_BATCHES)),
        (&["self.ref_model", "concatenated_forward"], First(Gpu, REFERENCE)),
        (&["loss += loss", "!item()", "!detach", "!float("], First(Gpu, NUMBERS)),
        (&["losses.append(loss)"], First(Gpu, NUMBERS)),
        (&["vae.decode("], First(Gpu, DECODING)),
        (&["VAEDecode"], First(Gpu, DECODING)),
        (&["_merged(", "merged_16bit"], First(Host, MERGING)),
        (&["cudf", "read_csv("], First(Gpu, DATA_FRAME)),
        (&["set_per_process_memory_fraction("], First(Gpu, FRACTION)),
        (&["CUPY_GPU_MEMORY_LIMIT="], First(Gpu, CUPY_LIMIT)),
        (&["Device pinned memory limit for device"], First(Gpu, MPS_LIMIT)),
        (&["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"], First(Gpu, MPS_LIMIT)),
        (&["mem_limit:"], First(Host, COMPOSE_LIMIT)),
        (&["HugePages_Free:", "!HugePages_Free:        0", "!HugePages_Free: 0"], First(Host, HUGE_PAGES)),
        (&["WSL2"], First(Host, WSL)),
        (&["microsoft-standard-WSL"], First(Host, WSL)),
        (&["Docker Desktop"], First(Host, DOCKER_DESKTOP)),
        (&["deepspeed.launcher.launch"], First(Host, EACH_RANK_LOADS)),
        (&["expandable_segments:True"], Drops("expandable_segments:True")),
        (&["cumem_allocator.cpp"], Drops("expandable_segments:True")),
        (&["CUDA_LAUNCH_BLOCKING=1"], Drops("CUDA_LAUNCH_BLOCKING=1")),
        (&["--ipc=host"], Drops("--ipc=host")),
        (&["batch_size=1,"], Replaces(WITHOUT_BATCH)),
        (&["batch_size=1)"], Replaces(WITHOUT_BATCH)),
        (&["batch_size 1 "], Replaces(WITHOUT_BATCH)),
        (&["gradient_checkpointing=True"], Replaces(WITHOUT_CHECKPOINTING)),
        (&["gradient_checkpointing True"], Replaces(WITHOUT_CHECKPOINTING)),
        (&["gradient_checkpointing_enable("], Replaces(WITHOUT_CHECKPOINTING)),
        (&["dtype=torch.bfloat16"], Replaces(WITHOUT_BFLOAT16)),
        (&["bf16=True"], Replaces(WITHOUT_BFLOAT16)),
        (&["--bf16"], Replaces(WITHOUT_BFLOAT16)),
        (&["Watchdog caught collective operation timeout"], First(Gpu, TIMEOUT)),
        (&["faiss::gpu"], First(Gpu, VECTORS)),
        (
            &[" exceeds 10% of free system memory"],
            Tells(FindingCode::HostOutOfMemory, Severity::Info, TENTH.0, TENTH.1),
        ),
        (
            &["No available shared memory broadcast block"],
            Tells(FindingCode::SharedMemoryFull, Severity::Info, NO_ANSWER.0, NO_ANSWER.1),
        ),
        (&["bytes for k/v cache"], Tells(FindingCode::CardNearlyFull, Severity::Info, OF_KV_CACHE.0, OF_KV_CACHE.1)),
        (&["kill: (", "No such process"], Tells(FindingCode::GpuShared, Severity::Warning, UNSEEN.0, UNSEEN.1)),
        (&["AutoBatch: Using batch-size"], Harmless(OF_BATCH_FINDER)),
        (&["Batch size ", " failed, trying batch size"], Harmless(OF_BATCH_FINDER)),
        (&["Decreasing batch size to: "], Harmless(OF_BATCH_FINDER)),
    ]
};

const NO_GRAD: &str = "Evaluate under ``with torch.no_grad():``. `volatile=True` has had no effect since PyTorch 0.4, so that the graphs \
                       of the evaluation are kept.";
const COLUMNS: &str = "Make fewer or smaller columns: ``pd.get_dummies(…, sparse=True)``, `dtype=\"uint8\"`, or leave out columns with \
                       thousands of values. It makes one column for each value.";
const DISTANCES: &str = "Compute the distances of some rows at a time, and keep of each part only what is needed, such as `topk`: a table \
                         of all pairs grows with the square of the rows.";
const LIST_OF_BATCHES: &str =
    "Loop over the loader itself: a list of its batches keeps all of the data in memory at once.";
const REFERENCE: &str = "Spare the second model: with PEFT's adapters, TRL takes the model without them as its reference; or let it \
                         compute the reference once, before the training (`precompute_ref_log_probs=True`).";
const NUMBERS: &str = "Add up numbers: ``total_loss += loss.item()``. A sum or a list of losses keeps what each of them was computed \
                       from.";
const DECODING: &str = "Decode in tiles, since it fails in the VAE: *VAE Decode (Tiled)* in ComfyUI, ``pipe.vae.enable_tiling()`` in \
                        diffusers.";
const MERGING: &str = "Save the adapters alone (`save_pretrained`), or let the merge have less memory: `maximum_memory_usage=0.5`. Merging \
                       takes all weights in 16 bits at once.";
const DATA_FRAME: &str = "Read the file in parts: `byte_range`, `usecols` and smaller types in `read_csv`, `dask_cudf.read_csv` for all of \
                          it, or let RMM use the host's memory as well (`managed_memory=True`). Reading takes a multiple of \
                          the file's size.";
const FRACTION: &str = "Raise the share that the program gives itself, or leave it out: `torch.cuda.set_per_process_memory_fraction`. \
                        Beyond it, requests fail however much of the GPU is free.";
const CUPY_LIMIT: &str =
    "Raise `CUPY_GPU_MEMORY_LIMIT`, which the text sets, or leave it out: CuPy takes no more than that.";
const MPS_LIMIT: &str = "Raise the limit of MPS for each client: `CUDA_MPS_PINNED_DEVICE_MEM_LIMIT`, or fewer replicas for each GPU. Beyond \
                         it, requests fail however much of the GPU is free.";
const COMPOSE_LIMIT: &str =
    "Raise `mem_limit` of the service: the container has no more than that, whatever the machine has.";
const HUGE_PAGES: &str = "Give back the huge pages that nothing uses: ``sysctl vm.nr_hugepages=0``. They are set aside, and no other \
                          program can have their memory.";
const WSL: &str = "Give WSL more memory: `memory=` below `[wsl2]` in `.wslconfig`, then ``wsl --shutdown``. Unless it is set, WSL has half \
                   of the machine's.";
const DOCKER_DESKTOP: &str =
    "Give Docker Desktop's virtual machine more memory: Settings, Resources. Containers share what it has.";
const EACH_RANK_LOADS: &str = "Let the ranks share the loading: each of them reads the whole model into the host's memory. Under ZeRO-3, \
                               create `HfDeepSpeedConfig` before `from_pretrained`; also load in the checkpoint's type \
                               (`torch_dtype`), with `low_cpu_mem_usage=True`.";

const TIMEOUT: &str = "Look for the reason of the timeout first, which came before: a rank that failed, waits or is slower. What a rank \
                       receives after it is garbage, such as the size that it asks for here.";
const VECTORS: &str = "Keep fewer bytes of each vector on the GPU: `GpuClonerOptions().useFloat16 = True`, or an index with compressed \
                       vectors (IVF-PQ). Faiss also takes memory for its own work when it starts: \
                       ``res.setTempMemory(64 << 20)``.";

const TENTH: (&str, &str) = (
    "TensorFlow notes a request above a tenth of the host's free memory: no failure",
    "Nothing has to be done unless the host's memory runs out: watch it, as by ``free -h``.\n\
     If it does, use smaller batches, and keep the data set in files instead of one array.\n\
     ``TF_CPP_MIN_LOG_LEVEL=2`` hides the message; the tenth can't be changed.",
);
const NO_ANSWER: (&str, &str) = (
    "A worker of the engine does not answer: no lack of memory",
    "Look for an error of a worker above it, and see what they do: ``py-spy dump --pid PID``.\n\
     If they compile or load, wait. If they wait for each other, try without direct access between GPUs: \
     ``NCCL_P2P_DISABLE=1``.\n\n\
     The block in shared memory carries messages between the engine's processes; it is free once each of them has read it.",
);
const OF_KV_CACHE: (&str, &str) = (
    "TensorRT-LLM takes most of the GPU that is free for its KV cache, on purpose",
    "Give it less, if others need the memory: ``KvCacheConfig(free_gpu_memory_fraction=0.2)``, \
     `--kv_cache_free_gpu_mem_fraction`, or a number of tokens (`max_tokens`).\n\n\
     The cache is allocated once, at the start, as nine tenths of what the weights leave, whatever the requests need.",
);
const UNSEEN: (&str, &str) = (
    "A process that holds GPU memory can't be seen from here",
    "Look on the host itself, outside of containers: ``sudo fuser -v /dev/nvidia*`` and ``docker ps``. Numbers of processes are \
     those of the host, or of another container.\n\
     If nobody has it there, either, reset the GPU or restart the machine: ``sudo nvidia-smi --gpu-reset -i 0``.",
);

const OF_BATCH_FINDER: &str =
    "Nothing has to be done: it tries batches until one fails, and goes on with a smaller one.";

const WITHOUT_BATCH: &[(&str, &str)] = &[
    ("a smaller micro-batch with gradient accumulation, ", ""),
    ("a smaller batch, image or sequence", "a smaller image or a shorter sequence"),
    ("a smaller batch, chunks of the sequence", "chunks of the sequence"),
];
const WITHOUT_CHECKPOINTING: &[(&str, &str)] = &[("activation checkpointing (`torch.utils.checkpoint`), ", "")];
const WITHOUT_BFLOAT16: &[(&str, &str)] = &[("`bfloat16` autocast, ", ""), (", or `bfloat16`.", ".")];

/// Kinds of errors that say only what was refused, of findings that say who has the memory, and beginnings of steps that
/// nobody needs who knows that.
const KNOWN: [(&[FindingCode], &[FindingCode], &[&str]); 2] = {
    use FindingCode::{
        GpuShared, HostMemoryClimbs, HostMemoryKept, HostNearlyFull, HostOutOfMemory, HostProcessKilled, OutOfMemory,
        OutsidePytorch, WorkersCopyOnWrite,
    };
    [
        (
            &[HostProcessKilled, HostOutOfMemory],
            &[WorkersCopyOnWrite, HostMemoryClimbs, HostMemoryKept, HostNearlyFull],
            &[
                "See who killed it",
                "Look for `Out of memory",
                "See which processes climb",
                "To see whether memory climbs",
            ],
        ),
        (
            &[OutOfMemory, OutsidePytorch],
            &[GpuShared],
            &["See who holds", "List its processes", "Look for other processes", "Look for a longer message"],
        ),
    ]
};

/// Clues of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clues {
    lines: usize,
    /// One bit for each clue.
    found: u64,
}

impl Clues {
    pub(super) fn see(&mut self, line: &str) {
        self.lines = self.lines.saturating_add(1);
        if self.lines > LINES {
            return;
        }
        for (number, (words, _)) in CLUES.iter().enumerate() {
            let has = |words: &&str| match words.strip_prefix('!') {
                Some(words) => !line.contains(words),
                None => line.contains(*words),
            };
            self.found |= u64::from(words.iter().all(has)) << number;
        }
    }

    /// Changes the advice of findings, the most severe of which come first.
    pub(super) fn apply(&self, findings: &mut [Finding]) {
        for (errors, tellers, needless) in KNOWN {
            let teller = findings.iter().find(|one| tellers.contains(&one.code)).cloned();
            let error = findings.iter_mut().find(|one| one.severity == Severity::Error && errors.contains(&one.code));
            let Some((error, teller)) = error.zip(teller) else { continue };
            let is_needless = |step: &AdviceStep| needless.iter().any(|words| step.text.starts_with(words));
            if error.steps.iter().any(is_needless) {
                error.steps.retain(|step| !is_needless(step));
                let is_of_workers = |step: &&AdviceStep| step.text.starts_with("Lower what grows");
                let first = teller.steps.first().filter(|step| !is_of_workers(step)).cloned();
                error.steps.splice(0..0, first);
                error.why = format!("{}. {}", teller.title, error.why).trim_end().to_owned();
            }
        }
        let mut told = Vec::new();
        for effect in self.found().collect::<Vec<_>>().into_iter().rev() {
            let first = |of: Of| findings.iter().position(|one| one.severity > Severity::Info && of.has(one.code));
            match *effect {
                Effect::First(of, step) if !told.contains(&step) => {
                    told.push(step);
                    if let Some(at) = first(of) {
                        findings[at].steps.insert(0, AdviceStep::of(step));
                    }
                }
                Effect::First(..) | Effect::Tells(..) => {}
                Effect::Drops(words) => each(findings, &|step| !step.text.contains(words)),
                Effect::Replaces(pairs) => each(findings, &|step| {
                    pairs.iter().for_each(|(old, new)| step.text = step.text.replace(old, new));
                    true
                }),
                Effect::Harmless(step) => {
                    for one in findings.iter_mut().filter(|one| one.code == FindingCode::OutOfMemory) {
                        one.severity = Severity::Info;
                        one.steps = vec![AdviceStep::of(step)];
                    }
                }
            }
        }
        // Whoever has pasted an error needs no request for one.
        let has_error = findings.iter().any(|one| one.severity == Severity::Error);
        for one in findings.iter_mut().filter(|_| has_error) {
            one.steps.retain(|step| !step.text.starts_with("If errors occur, paste"));
            one.why = one.why.replace("If it is your own program, nothing has to be done.", "");
        }
        for one in findings.iter_mut() {
            one.advice = Advice { steps: one.steps.clone(), why: one.why.clone() }.text();
        }
    }
}

impl Clues {
    fn found(&self) -> impl Iterator<Item = &'static Effect> {
        CLUES.iter().enumerate().filter(|(number, _)| self.found & 1 << number != 0).map(|(_, (_, effect))| effect)
    }

    fn told(&self) -> impl Iterator<Item = Finding> {
        self.found().filter_map(|effect| {
            let Effect::Tells(code, severity, title, advice) = *effect else { return None };
            Some(finding(code, NO_DEVICE, severity, 0, title, "", advice))
        })
    }
}

impl Source for Clues {
    fn is_empty(&self) -> bool {
        self.told().next().is_none()
    }

    fn part(&self) -> LogPart {
        LogPart { title: "Messages without figures".to_owned(), findings: self.told().collect(), ..LogPart::default() }
    }
}

/// Changes the steps of all findings; those for which `keep` is false go, unless no other is left.
fn each(findings: &mut [Finding], keep: &dyn Fn(&mut AdviceStep) -> bool) {
    for one in findings {
        let mut kept = one.steps.clone();
        kept.retain_mut(keep);
        if !kept.is_empty() {
            one.steps = kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_report;
    use crate::reader::read_text;

    const ON_GPU: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of \
                          23.00 GiB of which 1.00 GiB is free.";
    const ON_HOST: &str =
        "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9.00 GiB for an array with shape (9,)";

    fn findings_of(lines: &[&str]) -> Vec<Finding> {
        log_report(&read_text(&lines.join("\n"))).diagnosis.findings
    }

    #[test]
    fn each_clue_changes_the_advice() {
        assert!(CLUES.len() <= 64, "a bit for each");
        for (words, effect) in CLUES {
            let line: Vec<&str> = words.iter().copied().filter(|words| !words.starts_with('!')).collect();
            let line = line.concat();
            let error = if matches!(effect, Effect::First(Of::Host, _)) { ON_HOST } else { ON_GPU };
            let with = findings_of(&[&line, error]);
            let step = match effect {
                Effect::First(_, step) => step,
                Effect::Tells(_, _, title, _) => {
                    assert!(with.iter().any(|one| one.title == *title) && title.len() <= 80, "{line}");
                    continue;
                }
                _ => continue,
            };
            assert_eq!(with[0].steps[0], AdviceStep::of(step), "{line}");
            let without = findings_of(&["epoch 1", error]);
            assert_eq!(with[0].steps[1..], without[0].steps, "{line}");
        }
    }

    #[test]
    fn what_was_tried_is_no_advice() {
        let error = ON_GPU.replace("Tried", "loss.backward() Tried");
        let steps =
            |line: &str| findings_of(&[line, &error])[0].steps.iter().map(|step| step.text.clone()).collect::<String>();
        let all = steps("epoch 1");
        for (line, words) in [
            ("args = Args(batch_size=1, gradient_checkpointing=True)", "micro-batch"),
            ("args = Args(batch_size=1, gradient_checkpointing=True)", "torch.utils.checkpoint"),
            ("accelerate launch train.py --bf16", "bfloat16"),
        ] {
            assert!(all.contains(words) && !steps(line).contains(words), "{line}: {}", steps(line));
        }
        let numbers = "total_loss += loss.item()";
        assert_eq!(steps(numbers), all);
    }

    #[test]
    fn who_has_the_memory_comes_before_where_to_look() {
        let table = "|    0   N/A  N/A            2210      C   python                18062MiB |\n\
                     |    0   N/A  N/A            4417      C   .../ComfyUI/.venv/bin/python          4342MiB |";
        let found = findings_of(&["CUDA error: out of memory", table]);
        assert!(found[0].why.starts_with("2 processes share the GPU. "), "{:?}", found[0]);
        assert!(found[0].steps.iter().all(|step| !step.text.starts_with("Look for other processes")), "{:?}", found[0]);
    }

    #[test]
    fn a_finder_of_batches_is_meant_to_fail() {
        let found = findings_of(&[ON_GPU, "AutoBatch: Using batch-size 37 for CUDA:0 14.30G/23.69G (60%)"]);
        assert_eq!((found[0].severity, found[0].steps.len()), (Severity::Info, 1));
    }
}
