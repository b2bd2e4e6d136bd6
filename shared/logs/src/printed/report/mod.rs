//! Builds the diagnosis of what programs print about memory: out-of-memory errors and counters of the allocator.

mod counted;
mod framework;
mod host_error;
mod operators;

use crate::engine::{EngineOptions, options_of};
use crate::printed::{Age, Call, Holder, Oom, OomApi, OomCause, Printed, Repeated, Work};
use crate::source::{LogPart, Source, bytes_cell, finding};
use counted::{MUCH_UNUSED, RECORD, counted, counter_table, largest_line, line_table};
use shared::analysis::{Confidence, FindingCode, title_of_parts};
use shared::base::{Severity, format};
use shared::report::{Finding, LogCell, LogNotice, LogOwner, LogOwners, LogTable};

impl Source for Printed {
    fn is_empty(&self) -> bool {
        let Self { ooms, framework_ooms, host_errors, counters, line_uses, operators, progress, .. } = self;
        let has_errors = !(ooms.is_empty() && framework_ooms.is_empty() && host_errors.is_empty());
        !has_errors && counters.is_empty() && line_uses.is_empty() && operators.is_empty() && progress.is_empty()
    }

    fn part(&self) -> LogPart {
        let left_out =
            || LogNotice::info(format!("{} of the text are not listed.", format::counted(self.left_out, "more error")));
        let tables = [
            (self.ooms.len() > 1).then(|| oom_table(self)),
            (!self.counters.is_empty()).then(|| counter_table(self)),
            (!self.progress.is_empty()).then(|| counted::table(&self.progress)),
            (!self.line_uses.is_empty()).then(|| line_table(&self.line_uses)),
            (!self.operators.is_empty()).then(|| operators::table(&self.operators)),
        ];
        LogPart {
            title: title(self),
            owners: { groups(&self.ooms).into_iter().filter_map(|group| owners_at(&group[0].error)) }
                .chain(self.framework_ooms.iter().filter_map(|oom| framework::owners(&oom.error)))
                .collect(),
            findings: findings(self),
            tables: tables.into_iter().flatten().collect(),
            notices: (self.left_out > 0).then(left_out).into_iter().collect(),
            ..LogPart::default()
        }
    }
}

fn title(printed: &Printed) -> String {
    let count = |count: usize, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {more}")),
    };
    let spared = printed.framework_ooms.iter().filter(|oom| oom.error.is_spared).count();
    let failed = printed.ooms.len() + printed.framework_ooms.len() - spared;
    let parts = [
        count(failed, "out-of-memory error", "out-of-memory errors"),
        count(spared, "warning", "warnings"),
        count(printed.host_errors.len(), "other error", "other errors"),
        count(printed.counters.len(), "set of counters", "sets of counters"),
        count(counted::values(&printed.progress), "value of the allocator", "values of the allocator"),
        count(printed.line_uses.len(), "line of a host profiler", "lines of a host profiler"),
        count(printed.operators.len(), "operator of a profiler", "operators of a profiler"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("What was printed about memory: {}", parts.join(", "))
}

/// Reports errors and what counters show.
fn findings(printed: &Printed) -> Vec<Finding> {
    let groups = groups(&printed.ooms);
    let mut findings: Vec<Finding> = groups.iter().map(|group| out_of_memory(group, printed)).collect();
    findings.extend(printed.framework_ooms.iter().map(framework::out_of_memory));
    findings.extend(printed.host_errors.iter().map(host_error::finding));
    findings.extend(groups.iter().filter_map(|group| outside(&group[0].error)));
    findings.extend(printed.counters.iter().flat_map(|counters| counted(counters, !printed.ooms.is_empty())));
    findings.extend(counted::printed(&printed.progress));
    findings.extend(largest_line(&printed.line_uses));
    findings.extend(operators::largest(&printed.operators));
    if printed.is_foreign {
        findings.iter_mut().for_each(without_pytorch);
    }
    findings
}

/// Leaves out what helps programs of PyTorch alone.
fn without_pytorch(finding: &mut Finding) {
    const WORDS: [&str; 5] = ["torch", "Torch", "num_workers", "gradient accumulation", "python train.py"];
    let fits = |text: &str| !WORDS.iter().any(|words| text.contains(words));
    if finding.steps.iter().any(|step| fits(&step.text)) {
        finding.steps.retain(|step| fits(&step.text));
    }
    finding.why = std::mem::take(&mut finding.why).split_inclusive(". ").filter(|sentence| fits(sentence)).collect();
    let texts = finding.steps.iter().map(|step| step.text.as_str()).chain([finding.why.as_str()]);
    finding.advice = texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
}

/// Errors with one cause on GPUs of one size; a program that catches them prints hundreds, and so does each rank.
type Group<'a> = Vec<&'a Repeated<Oom>>;

fn groups(ooms: &[Repeated<Oom>]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for oom in ooms {
        let is_same = |other: &Oom| {
            let capacities = other.capacity_bytes.zip(oom.error.capacity_bytes);
            (other.api, OomCause::of(other)) == (oom.error.api, OomCause::of(&oom.error))
                && capacities.is_none_or(|(one, other)| one == other)
        };
        match groups.iter_mut().find(|group| is_same(&group[0].error)) {
            Some(group) => group.push(oom),
            None => groups.push(vec![oom]),
        }
    }
    groups
}

fn device_words(oom: &Oom) -> String {
    let device = match oom.api {
        OomApi::Npu => "NPU",
        OomApi::Mps => "The GPU",
        OomApi::Cuda | OomApi::Hip | OomApi::Xpu | OomApi::Musa => "GPU",
    };
    let device = oom.gpu.map_or_else(|| device.to_owned(), |gpu| format!("{device} {gpu}"));
    oom.rank.map_or(device.clone(), |rank| format!("{device} of rank {rank}"))
}

/// Returns the words for the GPUs of a group, and how many they are.
fn devices(group: &Group<'_>) -> (String, usize) {
    let mut all: Vec<String> = group.iter().map(|oom| device_words(&oom.error)).collect();
    all.sort();
    all.dedup();
    let words = match all.as_slice() {
        [one] => one.clone(),
        all if group.iter().any(|oom| oom.error.rank.is_some()) => format!("{} ranks", all.len()),
        [one, other] => format!("{one} and {other}"),
        all => format!("{} GPUs", all.len()),
    };
    (words, all.len())
}

fn out_of_memory(group: &Group<'_>, printed: &Printed) -> Finding {
    let Repeated { error: oom, .. } = group[0];
    let cause = OomCause::of(oom);
    // Whoever fixes one place wants to know of the others.
    let places: Vec<_> = group.iter().filter_map(|oom| oom.place.as_ref()).collect();
    let line = places.first().filter(|first| places.iter().all(|place| place == *first)).copied().cloned();
    let at = line.as_ref().map_or_else(String::new, |line| format!(" in {}", line.place()));
    let count: u64 = group.iter().map(|oom| oom.count).sum();
    let sizes = || group.iter().filter_map(|oom| oom.error.asked_bytes);
    let asked = match sizes().min().zip(sizes().max()) {
        None if cause == OomCause::Absurd => ": tried to allocate an impossible size".to_owned(),
        None => String::new(),
        Some((least, most)) if least == most => format!(": tried to allocate {}", format::bytes(most)),
        Some((least, most)) => format!(": tried to allocate {} to {}", format::bytes(least), format::bytes(most)),
    };
    let free = match (oom.free_bytes, oom.capacity_bytes) {
        (Some(free), Some(capacity)) if !oom.is_shared() => {
            match oom.asked_bytes.filter(|asked| *asked > free && format::bytes(*asked) == format::bytes(free)) {
                Some(asked) => format!(", {} more than is free", format::bytes(asked - free)),
                None => format!(", {} of {} free", format::bytes(free), format::bytes(capacity)),
            }
        }
        _ => String::new(),
    };
    let (devices, number) = devices(group);
    let (often, times) = match (group.len(), count) {
        (1, 2..) => (String::new(), format!(", printed {}", format::counted(count, "time"))),
        (different, _) if different == number => (String::new(), String::new()),
        (different, _) => (format!(" {}", format::counted(different as u64, "time")), String::new()),
    };
    let what = format!("{devices} ran out of memory{often}{asked}");
    let stated = finding(
        FindingCode::OutOfMemory,
        i64::from(oom.gpu.unwrap_or(0)),
        Severity::Error,
        oom.asked_bytes.unwrap_or(0),
        title_of_parts(&what, [at, free, times]),
        shows(oom, cause),
        unknown_holder(oom, cause) + &advice(oom, cause, printed),
    );
    Finding { confidence: confidence(oom, cause), line, ..stated }
}

fn confidence(oom: &Oom, cause: OomCause) -> Confidence {
    match cause {
        // A message that was cut states too little.
        _ if oom.reserved_bytes.is_none() && cause == OomCause::Full => Confidence::Low,
        OomCause::Absurd | OomCause::TooLarge | OomCause::Limit | OomCause::Full => Confidence::High,
        OomCause::Fragmentation | OomCause::Ranks | OomCause::Others | OomCause::Outside => Confidence::Medium,
        OomCause::MoreFree | OomCause::Unknown => Confidence::Low,
    }
}

/// Returns the memory of the GPU by owner when a request failed; `None` if the message does not have the GPU's memory.
fn owners_at(oom: &Oom) -> Option<LogOwners> {
    let asked = oom.asked_bytes.map_or_else(String::new, |bytes| format!(", {} requested", format::bytes(bytes)));
    Some(LogOwners {
        title: format!("{}{asked}", device_words(oom)),
        capacity_bytes: oom.capacity_bytes?,
        parts: owners(oom).into_iter().map(|(name, bytes)| LogOwner { name: name.to_owned(), bytes }).collect(),
    })
}

fn oom_table(printed: &Printed) -> LogTable {
    let row = |Repeated { error, count, .. }: &Repeated<Oom>| {
        vec![
            LogCell::Text(device_words(error)),
            bytes_cell(error.asked_bytes),
            bytes_cell(error.free_bytes),
            bytes_cell(error.allocated_bytes),
            bytes_cell(error.unused_bytes()),
            bytes_cell(error.outside_bytes().or_else(|| error.beside_bytes())),
            LogCell::Count(*count),
        ]
    };
    let columns = ["Device", "Requested", "Free", "Tensors", "Unused", "Outside PyTorch", "Times"];
    LogTable::new("Out-of-memory errors", columns, printed.ooms.iter().map(row))
}

/// Memory of the GPU by owner, the parts in the order in which they are shown.
///
/// Parts that the message does not state and that do not follow from it are missing.
fn owners(oom: &Oom) -> Vec<(&'static str, u64)> {
    let mut owners = Vec::new();
    // That of Apple's GPUs states heaps, with what is unused in them.
    let is_mps = oom.api == OomApi::Mps;
    owners.extend(oom.allocated_bytes.map(|bytes| (if is_mps { "PyTorch" } else { "tensors" }, bytes)));
    owners.extend(oom.unused_bytes().filter(|_| !is_mps).map(|bytes| ("PyTorch's cache", bytes)));
    match (oom.outside_bytes(), oom.others_bytes()) {
        (Some(outside), others) => {
            owners.push(("this process outside PyTorch", outside));
            owners.extend(others.map(|bytes| ("other processes", bytes)));
        }
        (None, Some(others)) if oom.process_bytes.is_some() => {
            owners.extend([("this process", oom.process_bytes.unwrap_or(0)), ("other processes", others)]);
        }
        (None, _) => owners.extend(oom.beside_bytes().map(|bytes| ("outside PyTorch or other processes", bytes))),
    }
    owners.extend(oom.free_bytes.filter(|_| !oom.is_shared()).map(|bytes| ("free", bytes)));
    owners
}

fn shows(oom: &Oom, cause: OomCause) -> String {
    let owner = |(name, bytes)| format!("{name} {}", format::bytes(bytes));
    let owners = owners(oom).into_iter().map(owner).collect::<Vec<_>>().join(", ");
    let mut text = if owners.is_empty() { owners } else { format!("The memory at that moment: {owners}.") };
    if let Some(private) = oom.private_bytes.filter(|bytes| *bytes > 0) {
        text += &format!(" Of the tensors, {} is in private pools (CUDA graphs).", format::bytes(private));
    }
    if oom.allocated_bytes.zip(oom.capacity_bytes).is_some_and(|(own, capacity)| own > capacity) {
        text += " The tensors take more than the GPU has: either the driver lends memory of the host, which is slow, or the figures \
                 are of several devices.";
    }
    if oom.is_shared() {
        text += &format!(
            " The driver names {} as free, more than the GPU's own memory: it counts memory of the host that this GPU \
             shares, and the figures are of two pools.",
            format::bytes(oom.free_bytes.unwrap_or(0))
        );
    }
    if cause == OomCause::Fragmentation {
        text += &format!(
            " PyTorch held {} that no tensor used, but in pieces that were too small.",
            format::bytes(oom.unused_bytes().unwrap_or(0))
        );
    }
    text.trim_start().to_owned()
}

fn pids(oom: &Oom) -> String {
    let own = oom.own_among_others();
    let others = oom.others.iter().filter(|holder| Some(**holder) != own);
    let named: Vec<String> =
        others.map(|Holder { pid, bytes }| format!("process {pid} has {}", format::bytes(*bytes))).collect();
    if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) }
}

/// Returns how PyTorch comes to use the memory that it holds in pieces.
fn combine(oom: &Oom, is_windows: bool) -> String {
    let (_, variable) = oom.api.of_torch();
    match oom.age {
        Age::WithoutSettings => format!(
            "Update PyTorch: since 2.1, ``{variable}=expandable_segments:True`` lets it combine its unused memory. This version \
             (1.3 or older, by the words of its message) has no settings for that"
        ),
        // Expandable segments need addresses that the driver reserves, which PyTorch does on Linux alone.
        _ if is_windows => format!(
            "Set ``{variable}=backend:cudaMallocAsync`` (PyTorch 2.0 or later): the driver can then combine unused memory; on \
             Windows, PyTorch has no expandable segments"
        ),
        Age::WithoutExpandable => format!(
            "Update PyTorch to 2.1 or later and set ``{variable}=expandable_segments:True``: it can then combine its unused \
             memory. Until then, ``{variable}=max_split_size_mb:128`` keeps large blocks whole"
        ),
        Age::Current => {
            format!("Set ``{variable}=expandable_segments:True``: PyTorch can then combine its unused memory")
        }
    }
}

/// Returns where to look if the message does not say who holds the memory.
fn unknown_holder(oom: &Oom, cause: OomCause) -> String {
    let is_known = oom.allocated_bytes.or(oom.process_bytes).is_some() || !oom.others.is_empty();
    let is_open = matches!(cause, OomCause::Full | OomCause::Unknown) && !is_known;
    let used = oom.capacity_bytes.zip(oom.free_bytes).and_then(|(capacity, free)| capacity.checked_sub(free));
    used.filter(|_| is_open).map_or_else(String::new, |used| {
        let list = oom.api.tools().0;
        format!("See who holds the other {}, which the message does not say: ``{list}``.\n", format::bytes(used))
    })
}

fn advice(oom: &Oom, cause: OomCause, printed: &Printed) -> String {
    let engine = printed.engine;
    let combine = combine(oom, printed.is_windows);
    let is_inference = oom.work == Work::Inference;
    let avoid = if is_inference {
        "attention without the matrix of all pairs (`scaled_dot_product_attention`), `float16` instead of `float32`, or an \
         output on the host that is put together from parts"
    } else {
        "attention without the matrix of all pairs (`scaled_dot_product_attention`), a loss in chunks, `float16` instead of \
         `float32`"
    };
    let (list, choose) = oom.api.tools();
    let missing = oom.asked_bytes.unwrap_or(0).saturating_sub(oom.free_bytes.unwrap_or(0));
    let record = match oom.api {
        OomApi::Cuda | OomApi::Hip => format!("\n{RECORD}"),
        OomApi::Npu => format!("\n{}", RECORD.replace("torch.cuda", "torch_npu.npu")),
        OomApi::Xpu => format!("\n{}", RECORD.replace("torch.cuda", "torch.xpu")),
        // Metal's allocator records no history, and Moore Threads' is not known.
        OomApi::Mps | OomApi::Musa => String::new(),
    };
    match cause {
        OomCause::Absurd => {
            "Look at the sizes that the failing line computes: one of them is negative, has overflowed, \
                             or is not the one that was meant.\nPrint the shapes of its inputs."
                .to_owned()
        }
        OomCause::TooLarge if oom.is_shared() => {
            "Give the GPU a larger share of the machine's memory, in the firmware or by \
             the driver's settings: this one request is larger than what it has now.\n\
             Or split the operation into parts: a smaller batch, chunks of the sequence, tiles of the image."
                .to_owned()
        }
        OomCause::TooLarge => format!(
            "Split the operation into parts: a smaller batch, chunks of the sequence, tiles of the image.\n\
             Or avoid the tensor: {avoid}.\n\n\
             No setting of the allocator helps, since this one tensor is larger than the whole GPU."
        ),
        OomCause::Limit if oom.api == OomApi::Mps => format!(
            "Use less: a smaller batch, or `float16`.\n\nThe limit of {} is a multiple of what Metal recommends for the \
             GPU, which `PYTORCH_MPS_HIGH_WATERMARK_RATIO` changes; 0.0 removes it, and the machine may then swap.",
            format::bytes(oom.allowed_bytes.unwrap_or(0))
        ),
        OomCause::Limit => {
            let unused = oom.unused_bytes().filter(|unused| *unused >= MUCH_UNUSED.max(oom.asked_bytes.unwrap_or(0)));
            let first = unused.map_or_else(String::new, |unused| {
                format!("{combine}: it holds {} that no tensor uses.\nOr raise", format::bytes(unused))
            });
            format!(
                "{} the limit of {} that the program sets for itself with `torch.cuda.set_per_process_memory_fraction`.",
                if first.is_empty() { "Raise" } else { &first },
                format::bytes(oom.allowed_bytes.unwrap_or(0))
            )
        }
        OomCause::MoreFree if oom.free_bytes.is_none() && oom.asked_bytes <= Some(4 << 30) => format!(
            "See what else holds the GPU's memory: ``{list}``. PyTorch held far less of it than there is, and the message \
             does not state what was free.\n\
             An integrated GPU shares the host's memory: look at that, too.{record}"
        ),
        OomCause::MoreFree if oom.api == OomApi::Xpu && oom.asked_bytes > Some(4 << 30) => format!(
            "Allow requests above 4 GiB: ``UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1``.\n\
             Look at ``{list}`` for processes that came or went at that moment; an integrated GPU shares the host's \
             memory.\n\nMore memory was free than the request needs, so something else refused it."
        ),
        OomCause::MoreFree => {
            let slices = if oom.api == OomApi::Cuda { ", for MIG slices" } else { "" };
            let has_pieces = oom.unused_bytes() >= oom.asked_bytes;
            let combine = if has_pieces { format!("\n{combine}.") } else { String::new() };
            format!(
                "Look at `{list}` for processes that came or went at that moment{slices} and for a limit of the container; \
                 on Windows and WSL for the size of the page file; on a GPU that shares the host's memory, for the share \
                 that is reserved for it.{combine}\n\n\
                 More memory was free than the request needs, so something else refused it."
            )
        }
        OomCause::Fragmentation if engine.is_some() => format!(
            "{combine}.\nMake single requests smaller: `--max-num-batched-tokens` or `--chunked-prefill-size`, and \
             fewer or smaller images.\nLeave more room: a lower `--gpu-memory-utilization` or `--mem-fraction-static`."
        ),
        OomCause::Fragmentation => {
            let of_pools = "\n\nMemory in private pools stays with its CUDA graphs: let graphs share one pool.";
            let more = if oom.private_bytes >= Some(MUCH_UNUSED) { of_pools } else { "" };
            let only =
                if missing > 0 { format!(" Only {} was missing.", format::bytes(missing)) } else { String::new() };
            let sizes = if is_inference {
                "Between inputs of different sizes"
            } else {
                "If batches vary in size, start with the largest one, or pad them to few sizes.\nAfter an evaluation"
            };
            format!(
                "{combine}.{only}\n{sizes}, call ``{}.empty_cache()``, which gives back whole unused segments.{more}",
                oom.api.of_torch().0
            )
        }
        OomCause::Others if oom.api == OomApi::Mps => format!(
            "{OUTSIDE_OF_MPS}\nOr raise the limit of {}: `PYTORCH_MPS_HIGH_WATERMARK_RATIO`; the machine may then swap.",
            format::bytes(oom.allowed_bytes.unwrap_or(0))
        ),
        OomCause::Ranks => OTHER_RANKS.to_owned(),
        OomCause::Others if oom.api == OomApi::Hip && oom.capacity_bytes <= Some(CARVE_OUT_BYTES) => {
            "Give the GPU a larger share of the machine's memory, in the firmware (*UMA frame buffer size*) or by the \
             driver's settings: it is a part of the processor, and its own share is small."
                .to_owned()
        }
        OomCause::Others => {
            let held = oom.reserved_bytes.filter(|held| *held > oom.capacity_bytes.unwrap_or(u64::MAX) / 2);
            let how = if engine.is_some() {
                "a lower `--gpu-memory-utilization` or `--mem-fraction-static`"
            } else {
                "a smaller batch"
            };
            let own = |verb: &str, held| {
                format!("{verb} less in this program, which holds {} itself: {how}.", format::bytes(held))
            };
            let others = format!(
                "Free the {} from what else runs on it{}.\nList its processes: ``{list}``; end notebooks and crashed \
                 runs that still hold memory.\nOr choose another device by `{choose}`.",
                if oom.api == OomApi::Npu { "NPU" } else { "GPU" },
                pids(oom)
            );
            // Who holds far more can free more.
            let is_far_more = held > oom.others_bytes().map(|others| others.saturating_mul(4));
            match held {
                Some(held) if is_far_more => format!("{}\n{others}", own("Use", held)),
                Some(held) => format!("{others}\n{}", own("Or use", held)),
                None => others,
            }
        }
        OomCause::Outside if oom.outside_bytes() > Some(oom.capacity_bytes.unwrap_or(u64::MAX) / 2) => format!(
            "Look for another framework in this process: JAX and TensorFlow take most of the GPU when they start \
             (`XLA_PYTHON_CLIENT_PREALLOCATE=false`, `tf.config.experimental.set_memory_growth`), and engines, DALI, \
             CuPy and RMM have pools of their own. It holds {} outside PyTorch.\nOr let each use a process of its own.",
            format::bytes(oom.outside_bytes().unwrap_or(0))
        ),
        OomCause::Full | OomCause::Outside if engine.is_some() && oom.work == Work::Loading => {
            "Use a smaller model or one in fewer bits, or spread it \
             over more GPUs (`--tensor-parallel-size`, `--tp`, `--pipeline-parallel-size`).\n\n\
             It failed while the model was loaded: shares, lengths and numbers of requests change nothing."
                .to_owned()
        }
        OomCause::Full | OomCause::Unknown | OomCause::Outside if engine.is_some() => {
            let name = engine.unwrap_or_default();
            let EngineOptions { share, tokens, requests, gpus, without_graphs } = options_of(name);
            format!(
                "Leave more room beside weights and KV cache: lower the share that {name} may use (`{share}`), \
                 `{tokens}` and `{requests}`.\nUse a smaller or quantized model, or spread it over more GPUs \
                 (`{gpus}`).\nUse `{without_graphs}`: CUDA graphs take memory of their own."
            )
        }
        OomCause::Outside => format!(
            "Look for what this process holds outside PyTorch: NCCL takes memory for each communicator and channel \
             (`NCCL_DEBUG=INFO` with `NCCL_DEBUG_SUBSYS=ALLOC` prints it), CUDA graphs and loaded kernels take some \
             hundred MiB each, and libraries such as vLLM, DALI or CuPy have pools of their own.\n\nOnly {} was missing.",
            format::bytes(missing)
        ),
        OomCause::Full if oom.work == Work::Loading => "Load the weights in fewer bits: ``dtype=torch.bfloat16``, or \
             quantized to 8 or 4 bits.\nSpread them over several devices (``device_map=\"auto\"``), or let each rank \
             load a part (FSDP, DeepSpeed's ZeRO-3).\nOr choose a smaller model.\n\nIt failed while the model was \
             loaded: a smaller batch changes nothing."
            .to_owned(),
        OomCause::Unknown => format!(
            "Use less memory at once: a smaller batch, image or model.\n\
             Look for a longer message: those of PyTorch's own allocator state the figures.\n\
             See who holds the GPU's memory before the program starts: ``{list}``.{record}"
        ),
        OomCause::Full if oom.capacity_bytes.is_some_and(|capacity| oom.asked_bytes > Some(capacity / 3)) => {
            let [asked, capacity] = [oom.asked_bytes, oom.capacity_bytes].map(|bytes| bytes.unwrap_or(0));
            format!(
                "Split the operation into parts (a smaller batch, chunks of the sequence, tiles of the image): this \
                 one request is {} of the GPU.\nOr avoid the tensor: {avoid}.{record}",
                format::percent(asked, capacity)
            )
        }
        OomCause::Full => {
            let no_copy = "Make no second model on the GPU, which is what the failing line does (`deepcopy`): keep its \
                           `state_dict()` on the host.\n";
            let copy = if oom.call == Call::Copy { no_copy } else { "" };
            let less = match oom.work {
                Work::Inference if oom.call == Call::WithoutGraph => {
                    "Use less at once: a smaller batch, image or context, fewer beams or shorter outputs, or tiles; \
                     take results to the host (``.cpu()``).\nKeep less of the model on the GPU: weights in `bfloat16`, \
                     8 or 4 bits, and parts on the host until they are needed."
                }
                Work::Inference => {
                    "Run it under ``torch.inference_mode()``: without, each layer's outputs stay for a backward pass.\n\
                     Use less at once: a smaller batch, image or context, or tiles; take results to the host (``.cpu()``).\n\
                     Keep less of the model on the GPU: weights in `bfloat16`, 8 or 4 bits, and parts on the host until they are \
                     needed."
                }
                Work::Training => {
                    "Use less memory at once: a smaller micro-batch with gradient accumulation, activation checkpointing \
                     (`torch.utils.checkpoint`), `bfloat16` autocast, or an optimizer with smaller state.\n\
                     Or spread weights, gradients and state over more GPUs (FSDP, DeepSpeed's ZeRO)."
                }
                Work::Unknown | Work::Loading => {
                    "Use less memory at once: a smaller batch, image or sequence, or `bfloat16`.\n\
                     In a training, also a smaller micro-batch with gradient accumulation, activation checkpointing \
                     (`torch.utils.checkpoint`), or an optimizer with smaller state.\n\
                     In an evaluation or inference, use ``with torch.no_grad():`` and weights in fewer bits."
                }
            };
            format!(
                "{copy}{less}\nIf it fails only after some steps, memory grows: look for losses or outputs that are kept.{record}"
            )
        }
    }
}

/// Largest share of the host's memory that firmware sets aside by default for a GPU within the processor.
const CARVE_OUT_BYTES: u64 = 1 << 30;

/// What to do about memory that Metal counts to this process beside PyTorch's heaps.
const OUTSIDE_OF_MPS: &str = "Use less at once, since what Metal needs for an operation counts as other memory: a smaller \
                              batch, image or sequence, or `torch.float16`.\n\
                              Free what this process holds beside PyTorch: other libraries on the GPU (MLX, Core ML, \
                              decoders), and ``torch.mps.empty_cache()``.\n\
                              Restart the program, which frees what earlier runs in it have left.";

/// What to do about ranks that open a context on each other's GPU.
const OTHER_RANKS: &str = "Call ``torch.cuda.set_device(local_rank)`` before anything uses the GPU, or let each rank \
                           see its own alone by `CUDA_VISIBLE_DEVICES`.\nLoad checkpoints with \
                           ``map_location=\"cpu\"``.\n\nSeveral processes hold the same small amount: other ranks of \
                           this job, with a CUDA context on this GPU.";

/// Reports memory outside PyTorch that is much, whether or not it explains the failure.
fn outside(oom: &Oom) -> Option<Finding> {
    const MUCH_BYTES: u64 = 1 << 30;
    let outside = oom.outside_bytes().unwrap_or(0);
    let others = oom.others_bytes().filter(|_| oom.outside_bytes().is_some()).unwrap_or(0);
    let bytes = outside.saturating_add(others);
    // The error itself is about it then.
    let is_told = matches!(OomCause::of(oom), OomCause::Ranks | OomCause::Others | OomCause::Outside);
    if bytes < MUCH_BYTES || is_told {
        return None;
    }
    let title = format!("{} of GPU memory was in use outside PyTorch's allocator", format::bytes(bytes));
    let shows = format!(
        "This process held {} beside PyTorch's reserved memory, and other processes held {}{}.",
        format::bytes(outside),
        format::bytes(others),
        pids(oom)
    );
    let of_others = format!("Look for other processes: ``{}``.", oom.api.tools().0);
    let advice = match others {
        _ if !oom.other_ranks().is_empty() => OTHER_RANKS,
        0 if oom.api == OomApi::Mps => OUTSIDE_OF_MPS,
        0 => {
            "Look at what takes it in this process: the CUDA context with its kernels takes about 0.5 GiB; NCCL \
             buffers, CUDA graphs and other libraries take the rest."
        }
        _ if outside > others => {
            "Look first at what takes it in this process: libraries with pools of their own, NCCL and CUDA graphs."
        }
        _ => &of_others,
    };
    let device = i64::from(oom.gpu.unwrap_or(0));
    Some(finding(FindingCode::OutsidePytorch, device, Severity::Warning, bytes, title, shows, advice))
}

#[cfg(test)]
mod tests;
