//! Knows what stands beside an error and tells its cause or what was tried: a line of code, a limit, a setting.
//!
//! An error says what was refused, and the lines around it often say why. Each clue changes the advice on one kind of
//! finding, so that the first step is the one for this text, and no step is one that was taken.

mod words;

use crate::source::{LogPart, Source, finding, number_after};
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
    Tells(FindingCode, Severity, (&'static str, &'static str)),
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
        (Has(&["volatile was removed"]), First(Gpu, words::NO_GRAD)),
        (Has(&["get_dummies("]), First(Host, words::COLUMNS)),
        (Has(&["cdist("]), First(Any, words::DISTANCES)),
        (Has(&[".unsqueeze(1)", ".unsqueeze(0)"]), First(Any, words::DISTANCES)),
        (Has(&["[:, None", "[None"]), First(Any, words::DISTANCES)),
        (Has(&[".toarray()"]), First(Host, words::SPARSE)),
        (Has(&[".todense()"]), First(Host, words::SPARSE)),
        (Has(&["[", " for ", " in ", "loader]"]), First(Any, words::LIST_OF_BATCHES)),
        (Has(&["list(", "loader)"]), First(Any, words::LIST_OF_BATCHES)),
        (Has(&["self.ref_model", "concatenated_forward"]), First(Gpu, words::REFERENCE)),
        (Is(keeps_loss), First(Gpu, words::NUMBERS)),
        (Is(keeps_output), First(Gpu, words::OUTPUTS)),
        (Has(&["retain_graph=True"]), First(Gpu, words::STATES)),
        (Has(&["cache[", "] ="]), First(Host, words::CACHE)),
        (Has(&["predicted_logits = torch.zeros("]), First(Gpu, words::BUFFER)),
        (Has(&["pipe", ".to(\"cuda\")"]), First(Gpu, words::PIPELINE)),
        (Has(&["pipe", ".to('cuda')"]), First(Gpu, words::PIPELINE)),
        (Has(&["gunicorn", " -w "]), First(Any, words::SERVERS)),
        (Has(&["gunicorn", " --workers "]), First(Any, words::SERVERS)),
        (Has(&["gpu_mem_limit"]), First(Gpu, words::ORT_LIMIT)),
        (Has(&["gpu_mem_limit"]), Replaces(words::WITHOUT_ORT_LIMIT)),
        (Is(was_full), First(Gpu, words::WAS_FULL)),
        (Is(takes_little_at_start), First(Gpu, words::WAS_FULL)),
        (Has(&["retrying with tiled VAE"]), First(Gpu, words::TILED)),
        (Has(&["retrying with tiled VAE"]), Drops("Decode in tiles, since")),
        (Has(&["vae.decode("]), First(Gpu, words::DECODING)),
        (Has(&["VAEDecode"]), First(Gpu, words::DECODING)),
        (Has(&["_merged(", "merged_16bit"]), First(Host, words::MERGING)),
        (Has(&["cudf", "read_csv("]), First(Gpu, words::DATA_FRAME)),
        (Has(&["set_per_process_memory_fraction("]), First(Gpu, words::FRACTION)),
        (Has(&["CUPY_GPU_MEMORY_LIMIT="]), First(Gpu, words::CUPY_LIMIT)),
        (Has(&["Device pinned memory limit for device"]), First(Gpu, words::MPS_LIMIT)),
        (Has(&["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"]), First(Gpu, words::MPS_LIMIT)),
        (Has(&["mem_limit:"]), First(Host, words::COMPOSE_LIMIT)),
        (Is(has_huge_pages), First(Host, words::HUGE_PAGES)),
        (Has(&["WSL2"]), First(Host, words::WSL)),
        (Has(&["microsoft-standard-WSL"]), First(Host, words::WSL)),
        (Has(&["Docker Desktop"]), First(Host, words::DOCKER_DESKTOP)),
        (Has(&["deepspeed.launcher.launch"]), First(Host, words::EACH_RANK_LOADS)),
        (Has(&["in DataLoader worker process"]), First(Host, words::IN_WORKER)),
        (Has(&["fully_sharded_data_parallel", "Failed to clone() tensor"]), First(Gpu, words::FULL_STATE)),
        (Has(&["agents/pyagent.py"]), First(Gpu, words::TRIALS)),
        (Has(&["Trial ", "finished with value"]), First(Gpu, words::TRIALS)),
        (Is(has_parallel), First(Gpu, words::PARALLEL)),
        (Has(&["ollama"]), Replaces(words::OF_OLLAMA)),
        (Is(sets_expandable), Drops("expandable_segments:True")),
        (Has(&["cumem_allocator.cpp"]), Drops("expandable_segments:True")),
        (Has(&["CUDA_LAUNCH_BLOCKING=1"]), Drops("CUDA_LAUNCH_BLOCKING=1")),
        (Has(&["torch.no_grad()"]), Replaces(words::WITHOUT_GRAPHS)),
        (Has(&["inference_mode()"]), Replaces(words::WITHOUT_GRAPHS)),
        (Has(&["scaled_dot_product_attention("]), Replaces(words::WITHOUT_MATRIX)),
        (Has(&["dtype=torch.bfloat16"]), Replaces(words::WITHOUT_TYPE)),
        (Has(&["dtype=torch.float16"]), Replaces(words::WITHOUT_TYPE)),
        (Has(&["/dev/shm", "%"]), Drops("See how full it is: `df -h")),
        (Has(&["--ipc=host"]), Drops("--ipc=host")),
        (Has(&["no other program"]), Drops("Look for other processes")),
        (Has(&["no other process"]), Drops("Look for other processes")),
        (Has(&["没有其他"]), Drops("Look for other processes")),
        (Has(&["batch_size=1,"]), Replaces(words::WITHOUT_BATCH)),
        (Has(&["batch_size=1)"]), Replaces(words::WITHOUT_BATCH)),
        (Has(&["Batch size per device = 1 "]), Replaces(words::WITHOUT_BATCH)),
        (Has(&["float8_e4m3fn"]), Replaces(words::WITHOUT_FP8)),
        (Has(&["batch_size 1 "]), Replaces(words::WITHOUT_BATCH)),
        (Has(&["gradient_checkpointing=True"]), Replaces(words::WITHOUT_CHECKPOINTING)),
        (Has(&["gradient_checkpointing True"]), Replaces(words::WITHOUT_CHECKPOINTING)),
        (Has(&["gradient_checkpointing_enable("]), Replaces(words::WITHOUT_CHECKPOINTING)),
        (Has(&["dtype=torch.bfloat16"]), Replaces(words::WITHOUT_BFLOAT16)),
        (Has(&["bf16=True"]), Replaces(words::WITHOUT_BFLOAT16)),
        (Has(&["--bf16"]), Replaces(words::WITHOUT_BFLOAT16)),
        (Has(&["Watchdog caught collective operation timeout"]), First(Gpu, words::TIMEOUT)),
        (Has(&["faiss::gpu"]), First(Gpu, words::VECTORS)),
        (
            Has(&[" exceeds 10% of free system memory"]),
            Tells(FindingCode::HostOutOfMemory, Severity::Info, words::TENTH),
        ),
        (
            Has(&["No available shared memory broadcast block"]),
            Tells(FindingCode::SharedMemoryFull, Severity::Info, words::NO_ANSWER),
        ),
        (Has(&["bytes for k/v cache"]), Tells(FindingCode::CardNearlyFull, Severity::Info, words::OF_KV_CACHE)),
        (
            Has(&["Executor creation failed due to insufficient GPU memory"]),
            Tells(FindingCode::KvCacheTooSmall, Severity::Error, words::NO_EXECUTOR),
        ),
        (Has(&["Not enough memory to handle ", " prefill tokens"]), First(Gpu, words::FEWER_TOKENS)),
        (
            Has(&["Not enough memory to handle ", " prefill tokens"]),
            Tells(FindingCode::OutOfMemory, Severity::Error, words::PREFILL),
        ),
        (
            Has(&["Not enough memory to handle ", " prefill tokens"]),
            Drops("Leave more room beside weights and KV cache"),
        ),
        (
            Has(&["Not enough memory, use lower resolution (max approx."]),
            Tells(FindingCode::OutOfMemory, Severity::Error, words::RESOLUTION),
        ),
        (Is(takes_all_at_start), Tells(FindingCode::CardNearlyFull, Severity::Info, words::AT_START)),
        (Has(&["kill: (", "No such process"]), Tells(FindingCode::GpuShared, Severity::Warning, words::UNSEEN)),
        (Has(&["AutoBatch: Using batch-size"]), Harmless(words::OF_BATCH_FINDER)),
        (Has(&["Batch size ", " failed, trying batch size"]), Harmless(words::OF_BATCH_FINDER)),
        (Has(&["Decreasing batch size to: "]), Harmless(words::OF_BATCH_FINDER)),
    ]
};

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

/// Returns true for a setting of expandable segments, but not for PyTorch's own advice to try it.
fn sets_expandable(line: &str) -> bool {
    let is_advice =
        ["try setting", "avoid fragmentation", "See documentation"].iter().any(|words| line.contains(words));
    line.contains("expandable_segments:True") && !is_advice
}

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

/// Returns true if Ollama makes a context for several requests: `parallel=4 required="42.3 GiB"`.
fn has_parallel(line: &str) -> bool {
    line.contains("ollama") && number_after::<u32>(line, " parallel=").is_some_and(|requests| requests > 1)
}

/// Returns the megabytes of a GPU that TensorFlow took at its start: all that was free, and next to nothing beside others.
fn taken_at_start(line: &str) -> Option<u64> {
    let (_, device) = line.split_once("Created ").filter(|(_, device)| device.contains("/job:"))?;
    number_after(device, " with ")
}

const LITTLE_MB: u64 = 1024;

fn takes_all_at_start(line: &str) -> bool {
    taken_at_start(line).is_some_and(|mb| mb >= LITTLE_MB)
}

fn takes_little_at_start(line: &str) -> bool {
    taken_at_start(line).is_some_and(|mb| mb < LITTLE_MB)
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
        say_who(findings);
        let mut told = Vec::new();
        // The first of the list comes to the front.
        for effect in self.found().collect::<Vec<_>>().into_iter().rev() {
            match *effect {
                Effect::First(of, step) if !told.contains(&step) => {
                    told.push(step);
                    let is_wanted = |one: &&mut Finding| one.severity > Severity::Info && of.has(one.code);
                    if let Some(one) = findings.iter_mut().find(is_wanted) {
                        one.steps.insert(0, AdviceStep::of(step));
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
        self.spare(findings);
        for one in findings.iter_mut() {
            one.advice = Advice { steps: one.steps.clone(), why: one.why.clone() }.text();
        }
    }

    /// Leaves out what goes without saying beside an error.
    fn spare(&self, findings: &mut Vec<Finding>) {
        let of_error = findings.iter().filter(|one| one.severity == Severity::Error).map(|one| one.code);
        let errors: Vec<FindingCode> = of_error.collect();
        if errors.is_empty() {
            return;
        }
        // What an error says itself needs no message beside it, and what is usual is no news.
        let titles: Vec<String> = self.told().map(|one| one.title).collect();
        let has_other = |one: &Finding| errors.iter().filter(|code| **code == one.code).count() > 1;
        let is_needless =
            |one: &Finding| titles.contains(&one.title) && (one.severity == Severity::Info || has_other(one));
        // An error tells more of a full GPU.
        let is_full = |one: &Finding| one.code == FindingCode::CardNearlyFull && one.severity == Severity::Info;
        let is_of_gpu = errors.iter().any(|code| Of::Gpu.has(*code));
        findings.retain(|one| !(is_needless(one) || is_of_gpu && is_full(one)));
        for one in findings {
            one.steps.retain(|step| !step.text.starts_with("If errors occur, paste"));
            one.why = one.why.replace("If it is your own program, nothing has to be done.", "");
        }
    }

    fn found(&self) -> impl Iterator<Item = &'static Effect> {
        CLUES.iter().enumerate().filter(|(number, _)| self.found & 1 << number != 0).map(|(_, (_, effect))| effect)
    }

    fn told(&self) -> impl Iterator<Item = Finding> {
        self.found().filter_map(|effect| {
            let Effect::Tells(code, severity, (title, advice)) = *effect else { return None };
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

/// Tells at an error who has the memory, if another finding knows that, instead of advice to look for it.
fn say_who(findings: &mut [Finding]) {
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
}

/// Changes the steps of all findings; those for which `keep` is false go, unless no other is left.
fn each(findings: &mut [Finding], keep: &dyn Fn(&mut AdviceStep) -> bool) {
    for one in findings {
        let mut kept = one.steps.clone();
        kept.retain_mut(keep);
        if let Some(first) = kept.first_mut() {
            // Nothing is left to which it would be another way.
            if let Some(rest) = ["Or ", "Otherwise "].iter().find_map(|word| first.text.strip_prefix(word)) {
                let mut letters = rest.chars();
                let begin = letters.next().map(|letter| letter.to_ascii_uppercase());
                first.text = begin.into_iter().chain(letters).collect();
            }
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
                Effect::Tells(_, _, (title, _)) => {
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
        let pieces = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 40.00 GiB \
                      of which 1.00 GiB is free. Including non-PyTorch memory, this process has 39.00 GiB memory in use. Of the \
                      allocated memory 20.00 GiB is allocated by PyTorch, and 18.00 GiB is reserved by PyTorch but unallocated. If \
                      reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid \
                      fragmentation.";
        let first = |line: &str| findings_of(&[line, pieces])[0].steps[0].text.clone();
        assert!(first("epoch 1").contains("expandable_segments:True"), "PyTorch's advice is no setting");
        assert!(!first("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True").contains("expandable_segments"));
        let decoding = steps("images = vae.decode(samples)");
        let again = steps("images = vae.decode(samples); retrying with tiled VAE decoding");
        assert!(decoding.contains("Decode in tiles, since") && !again.contains("Decode in tiles, since"), "{again}");
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
