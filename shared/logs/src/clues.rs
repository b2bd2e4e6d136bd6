//! Knows what stands beside an error and tells its cause or what was tried: a line of code, a limit, a setting.
//!
//! An error says what was refused, and the lines around it often say why. Each clue changes the advice on one kind of
//! finding, so that the first step is the one for this text, and no step is one that was taken.

use crate::source::{LogPart, Source, finding};
use shared::analysis::{Advice, AdviceStep, FindingCode};
use shared::base::{Severity, size};
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
        use FindingCode::{
            HostNearlyFull, HostOutOfMemory, HostProcessKilled, MemoryGrows, OutOfMemory, OutsidePytorch,
        };
        let is_of_gpu = matches!(code, OutOfMemory | OutsidePytorch | MemoryGrows);
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

/// What a line has.
enum Sign {
    /// All of these words.
    Has(&'static [&'static str]),
    /// A statement of the user's own code.
    Is(fn(&str) -> bool),
}

const CLUES: &[(Sign, Effect)] = {
    use Effect::{Drops, First, Harmless, Replaces, Tells};
    use Of::{Any, Gpu, Host};
    use Sign::{Has, Is};
    &[
        (Has(&["volatile was removed"]), First(Gpu, NO_GRAD)),
        (Has(&["get_dummies("]), First(Host, COLUMNS)),
        (Has(&["cdist("]), First(Any, DISTANCES)),
        (Has(&["[", " for ", " in ", "loader]"]), First(Any, LIST_OF_BATCHES)),
        (Has(&["list(", "loader)"]), First(Any, LIST_OF_BATCHES)),
        (Has(&["self.ref_model", "concatenated_forward"]), First(Gpu, REFERENCE)),
        (Is(keeps_loss), First(Gpu, NUMBERS)),
        (Is(keeps_output), First(Gpu, OUTPUTS)),
        (Has(&["retain_graph=True"]), First(Gpu, STATES)),
        (Has(&["cache[", "] ="]), First(Host, CACHE)),
        (Has(&["predicted_logits = torch.zeros("]), First(Gpu, BUFFER)),
        (Has(&["pipe", ".to(\"cuda\")"]), First(Gpu, PIPELINE)),
        (Has(&["pipe", ".to('cuda')"]), First(Gpu, PIPELINE)),
        (Has(&["gunicorn", " -w "]), First(Any, SERVERS)),
        (Has(&["gunicorn", " --workers "]), First(Any, SERVERS)),
        (Has(&["gpu_mem_limit"]), First(Gpu, ORT_LIMIT)),
        (Has(&["gpu_mem_limit"]), Replaces(WITHOUT_ORT_LIMIT)),
        (Is(was_full), First(Gpu, WAS_FULL)),
        (Has(&["vae.decode("]), First(Gpu, DECODING)),
        (Has(&["VAEDecode"]), First(Gpu, DECODING)),
        (Has(&["_merged(", "merged_16bit"]), First(Host, MERGING)),
        (Has(&["cudf", "read_csv("]), First(Gpu, DATA_FRAME)),
        (Has(&["set_per_process_memory_fraction("]), First(Gpu, FRACTION)),
        (Has(&["CUPY_GPU_MEMORY_LIMIT="]), First(Gpu, CUPY_LIMIT)),
        (Has(&["Device pinned memory limit for device"]), First(Gpu, MPS_LIMIT)),
        (Has(&["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"]), First(Gpu, MPS_LIMIT)),
        (Has(&["mem_limit:"]), First(Host, COMPOSE_LIMIT)),
        (Is(has_huge_pages), First(Host, HUGE_PAGES)),
        (Has(&["WSL2"]), First(Host, WSL)),
        (Has(&["microsoft-standard-WSL"]), First(Host, WSL)),
        (Has(&["Docker Desktop"]), First(Host, DOCKER_DESKTOP)),
        (Has(&["deepspeed.launcher.launch"]), First(Host, EACH_RANK_LOADS)),
        (Has(&["expandable_segments:True"]), Drops("expandable_segments:True")),
        (Has(&["cumem_allocator.cpp"]), Drops("expandable_segments:True")),
        (Has(&["CUDA_LAUNCH_BLOCKING=1"]), Drops("CUDA_LAUNCH_BLOCKING=1")),
        (Has(&["torch.no_grad()"]), Replaces(WITHOUT_GRAPHS)),
        (Has(&["inference_mode()"]), Replaces(WITHOUT_GRAPHS)),
        (Has(&["scaled_dot_product_attention("]), Replaces(WITHOUT_MATRIX)),
        (Has(&["dtype=torch.bfloat16"]), Replaces(WITHOUT_TYPE)),
        (Has(&["dtype=torch.float16"]), Replaces(WITHOUT_TYPE)),
        (Has(&["/dev/shm", "%"]), Drops("See how full it is: `df -h")),
        (Has(&["--ipc=host"]), Drops("--ipc=host")),
        (Has(&["batch_size=1,"]), Replaces(WITHOUT_BATCH)),
        (Has(&["batch_size=1)"]), Replaces(WITHOUT_BATCH)),
        (Has(&["batch_size 1 "]), Replaces(WITHOUT_BATCH)),
        (Has(&["gradient_checkpointing=True"]), Replaces(WITHOUT_CHECKPOINTING)),
        (Has(&["gradient_checkpointing True"]), Replaces(WITHOUT_CHECKPOINTING)),
        (Has(&["gradient_checkpointing_enable("]), Replaces(WITHOUT_CHECKPOINTING)),
        (Has(&["dtype=torch.bfloat16"]), Replaces(WITHOUT_BFLOAT16)),
        (Has(&["bf16=True"]), Replaces(WITHOUT_BFLOAT16)),
        (Has(&["--bf16"]), Replaces(WITHOUT_BFLOAT16)),
        (Has(&["Watchdog caught collective operation timeout"]), First(Gpu, TIMEOUT)),
        (Has(&["faiss::gpu"]), First(Gpu, VECTORS)),
        (
            Has(&[" exceeds 10% of free system memory"]),
            Tells(FindingCode::HostOutOfMemory, Severity::Info, TENTH.0, TENTH.1),
        ),
        (
            Has(&["No available shared memory broadcast block"]),
            Tells(FindingCode::SharedMemoryFull, Severity::Info, NO_ANSWER.0, NO_ANSWER.1),
        ),
        (
            Has(&["bytes for k/v cache"]),
            Tells(FindingCode::CardNearlyFull, Severity::Info, OF_KV_CACHE.0, OF_KV_CACHE.1),
        ),
        (
            Has(&["Executor creation failed due to insufficient GPU memory"]),
            Tells(FindingCode::KvCacheTooSmall, Severity::Error, NO_EXECUTOR.0, NO_EXECUTOR.1),
        ),
        (Has(&["Not enough memory to handle ", " prefill tokens"]), First(Gpu, FEWER_TOKENS)),
        (
            Has(&["Not enough memory to handle ", " prefill tokens"]),
            Tells(FindingCode::OutOfMemory, Severity::Error, PREFILL.0, PREFILL.1),
        ),
        (
            Has(&["Created device /job:", " MB memory"]),
            Tells(FindingCode::CardNearlyFull, Severity::Info, AT_START.0, AT_START.1),
        ),
        (Has(&["kill: (", "No such process"]), Tells(FindingCode::GpuShared, Severity::Warning, UNSEEN.0, UNSEEN.1)),
        (Has(&["AutoBatch: Using batch-size"]), Harmless(OF_BATCH_FINDER)),
        (Has(&["Batch size ", " failed, trying batch size"]), Harmless(OF_BATCH_FINDER)),
        (Has(&["Decreasing batch size to: "]), Harmless(OF_BATCH_FINDER)),
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
const STATES: &str = "Do without `retain_graph=True`: cut states that are carried on off their graph, ``h = h.detach()``, and add up the \
                      losses of one pass before one `backward()`. With it, each step can go back through all earlier ones, \
                      and keeps them.";
const CACHE: &str = "Limit the cache, or leave it out: it keeps all that was ever read, and each worker of a data loader has one of \
                     its own. Files that are read again come from the system's cache.";
const BUFFER: &str = "Make this buffer in host memory (`device=\"cpu\"`), and add the parts to it as they come; in nnU-Net: \
                      `perform_everything_on_device=False`.";
const PIPELINE: &str = "Keep parts of the pipeline on the host until they run: ``pipe.enable_model_cpu_offload()`` instead of \
                        `pipe.to(\"cuda\")`.";
const SERVERS: &str = "Start fewer processes: each worker of Gunicorn (`-w`) has a model and a context of its own. Let one process with \
                       threads serve all: ``gunicorn -w 1 --threads 8``.";
const ORT_LIMIT: &str = "Raise `gpu_mem_limit`, which the text sets, or leave it out: the session takes no more than that, whatever is free.";
const WAS_FULL: &str = "Free the GPU first: little of it was free before the program began (`freeMemory`). ``nvidia-smi`` lists who has it, \
                        such as an earlier run or a notebook.";
const NUMBERS: &str = "Add up numbers: ``total_loss += loss.item()``. A sum or a list of losses keeps what each of them was computed \
                       from.";
const OUTPUTS: &str = "Keep outputs in host memory: ``outputs.append(out.detach().cpu())``, or update the metric after each batch, under \
                       ``with torch.no_grad():``. A list of outputs on the GPU keeps all of them, and their graphs if gradients \
                       are on.";
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
const FEWER_TOKENS: &str = "Lower `--max-batch-prefill-tokens`, to no less than `--max-input-tokens`.";
const NO_EXECUTOR: (&str, &str) = (
    "TensorRT-LLM has no room for what it needs beside the weights",
    "Make the weights smaller on each GPU: quantize to FP8 or 4 bits, or shard them (`tp_size`, `pp_size`).\n\
     Need less beside them: `max_num_tokens`, `max_batch_size`, and a smaller `free_gpu_memory_fraction` of what is left.\n\
     The message lists what was free before and after each part.",
);
const PREFILL: (&str, &str) = (
    "TGI has no room for as many tokens at once as it is to accept",
    "Leave more room for it: a quantized model (`--quantize`), or more GPUs (`--num-shard`).",
);
const AT_START: (&str, &str) = (
    "TensorFlow takes nearly all of the GPU when it starts, whatever the model needs",
    "Nothing has to be done, unless others need the GPU: `TF_FORCE_GPU_ALLOW_GROWTH=true` lets TensorFlow take what it needs.\n\n\
     It shares this memory out by itself, so that nvidia-smi does not show what the model needs.",
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
const WITHOUT_GRAPHS: &[(&str, &str)] = &[
    ("use `with torch.no_grad():` and weights in fewer bits", "use weights in fewer bits"),
    ("Run it under `torch.inference_mode()`: without, each layer's outputs stay for a backward pass.", ""),
];
const WITHOUT_MATRIX: &[(&str, &str)] = &[(
    "attention without the matrix of all pairs (`scaled_dot_product_attention`)",
    "attention whose kernel spares the matrix of all pairs (16 bits, no mask of its own)",
)];
const WITHOUT_TYPE: &[(&str, &str)] =
    &[("in fewer bits: `dtype=torch.bfloat16`, or quantized to 8 or 4 bits", "quantized to 8 or 4 bits")];
const WITHOUT_ORT_LIMIT: &[(&str, &str)] = &[(", and `gpu_mem_limit` so that sessions can share it", "")];
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

/// Returns true for a statement that adds a loss to a sum or a list, with its graph: `total += loss`.
fn keeps_loss(line: &str) -> bool {
    let added = line.split_once(" += ").map(|(_, added)| added).or_else(|| appended(line));
    added.is_some_and(|added| added.contains("loss") && !is_moved(added))
}

/// Returns true for a statement that adds a result of a model to a list: `preds.append(out)`.
fn keeps_output(line: &str) -> bool {
    const NAMES: [&str; 14] = [
        "pred", "out", "feat", "emb", "logit", "result", "hidden", "latent", "repr", "score", "prob", "recon", "mask",
        "model(",
    ];
    let has_name = || NAMES.iter().any(|name| line.contains(name));
    appended(line).is_some_and(|added| !added.contains("loss") && !is_moved(added) && has_name())
}

/// Returns what a statement appends to a list.
fn appended(line: &str) -> Option<&str> {
    line.split_once(".append(")?.1.trim_end().strip_suffix(')')
}

/// Returns true if an expression is a number, a text or a copy on the host.
fn is_moved(expression: &str) -> bool {
    const MOVES: [&str; 11] =
        ["cpu(", "item(", "numpy(", "detach(", "tolist(", "float(", "int(", "\"", "'", "str(", ".data"];
    MOVES.iter().any(|call| expression.contains(call))
}

/// Returns true if TensorFlow found little of a GPU free when it started: `totalMemory: 7.93GiB freeMemory: 141.30MiB`.
fn was_full(line: &str) -> bool {
    let (total, free) = (size::after::<u64>(line, "totalMemory: "), size::after::<u64>(line, "freeMemory: "));
    total.zip(free).is_some_and(|(total, free)| free < total / 8)
}

fn has_huge_pages(line: &str) -> bool {
    line.strip_prefix("HugePages_Free:").is_some_and(|count| count.trim().parse().is_ok_and(|count: u64| count > 0))
}

/// Clues of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clues {
    lines: usize,
    /// True if the next line is code of a library, in a traceback.
    is_of_library: bool,
    /// One bit for each clue.
    found: u128,
}

impl Clues {
    pub(super) fn see(&mut self, line: &str) {
        self.lines = self.lines.saturating_add(1);
        if self.lines > LINES {
            return;
        }
        for (number, (sign, _)) in CLUES.iter().enumerate() {
            let is_here = match sign {
                Sign::Has(words) => words.iter().all(|words| line.contains(words)),
                Sign::Is(is) => !self.is_of_library && is(line),
            };
            self.found |= u128::from(is_here) << number;
        }
        self.is_of_library = line.contains("File \"") && (line.contains("-packages") || line.contains("/lib/python"));
    }

    /// Changes the advice of findings, the most severe of which come first.
    pub(super) fn apply(&self, findings: &mut Vec<Finding>) {
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
                    step.text = step.text.replace("Use less memory at once: or an optimizer", "Use an optimizer");
                    !step.text.is_empty()
                }),
                Effect::Harmless(step) => {
                    for one in findings.iter_mut().filter(|one| one.code == FindingCode::OutOfMemory) {
                        one.severity = Severity::Info;
                        one.steps = vec![AdviceStep::of(step)];
                    }
                }
            }
        }
        // What an error says itself needs no message beside it, and what is usual is no news.
        let errors: Vec<FindingCode> =
            findings.iter().filter(|one| one.severity == Severity::Error).map(|one| one.code).collect();
        let told: Vec<Finding> = self.told().collect();
        let is_told = |one: &Finding| told.iter().any(|other| other.title == one.title);
        findings.retain(|one| {
            let others = errors.iter().filter(|code| **code == one.code).count() > 1;
            !is_told(one)
                || !(one.severity == Severity::Error && others || one.severity == Severity::Info && !errors.is_empty())
        });
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
        assert!(CLUES.len() <= 128, "a bit for each");
        for (sign, effect) in CLUES {
            let Sign::Has(words) = sign else { continue };
            let line = words.concat();
            let error = if matches!(effect, Effect::First(Of::Host, _)) { ON_HOST } else { ON_GPU };
            let with = findings_of(&[&line, error]);
            let step = match effect {
                Effect::First(_, step) => step,
                Effect::Tells(_, _, title, _) => {
                    let alone = findings_of(&[&line]);
                    assert!(alone.iter().any(|one| one.title == *title) && title.len() <= 80, "{line}");
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
        assert!(!steps("def main(): with torch.no_grad(): pass").contains("no_grad"));
    }

    #[test]
    fn statements_that_keep_tensors_are_told_from_those_that_do_not() {
        for (line, keeps) in [
            ("total_loss += loss", [true, false]),
            ("running += loss * x.size(0)", [true, false]),
            ("total_loss += loss.item()", [false, false]),
            ("epoch += 1", [false, false]),
            ("losses.append(loss)", [true, false]),
            ("losses.append(float(loss))", [false, false]),
            ("    preds.append(out)", [false, true]),
            ("feats.append(model(x))", [false, true]),
            ("preds.append(out.cpu())", [false, false]),
            ("paths.append(path)", [false, false]),
        ] {
            assert_eq!([keeps_loss(line), keeps_output(line)], keeps, "{line}");
        }
        let mut clues = Clues::default();
        clues.see("  File \"/v/site-packages/a/b.py\", line 3, in run");
        clues.see("    outputs.append(out)");
        assert_eq!(clues.found, 0, "a library's own code");
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
