//! Builds the diagnosis of what programs print about memory: out-of-memory errors and counters of the allocator.

mod advice;
mod counted;
mod framework;
mod host_error;
mod operators;

pub(crate) use advice::OTHER_RANKS;

use crate::printed::{Oom, OomApi, OomCause, Printed, Repeated};
use crate::source::{LogPart, Source, bytes_cell, finding};
use advice::{OUTSIDE_OF_MPS, advice, idle, pids, unknown_holder};
use counted::{counted, counter_table, largest_line, line_table};
use shared::analysis::{AdviceStep, Confidence, FindingCode, title_of_parts};
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
    findings.extend(printed.framework_ooms.iter().map(|oom| {
        let mut found = framework::out_of_memory(oom);
        if printed.has_cards {
            found.evidence.shows = found.evidence.shows.replace(framework::UNKNOWN, "");
        }
        found
    }));
    let risen = printed.progress.iter().find_map(counted::risen_on_host);
    findings.extend(printed.host_errors.iter().map(|error| {
        let mut found = host_error::finding(error);
        if let Some(risen) = risen.as_ref().filter(|_| found.code == FindingCode::HostProcessKilled) {
            let stop = if found.evidence.shows.ends_with('.') { "" } else { "." };
            found.evidence.shows += &format!("{stop}{risen}");
        }
        found
    }));
    findings.extend(groups.iter().filter_map(|group| outside(&group[0].error)));
    findings.extend(printed.counters.iter().flat_map(|counters| counted(counters, !printed.ooms.is_empty())));
    findings.extend(counted::printed(&printed.progress));
    findings.extend(largest_line(&printed.line_uses));
    findings.extend(operators::largest(&printed.operators));
    if let Some(holder) = &printed.holder {
        findings.iter_mut().for_each(|one| name_holder(one, holder));
    }
    if printed.is_foreign {
        findings.iter_mut().for_each(without_pytorch);
    }
    if printed.is_of_mps {
        findings.iter_mut().for_each(|finding| {
            finding.steps.retain(|step| !["torch.cuda", "PYTORCH_CUDA"].iter().any(|words| step.text.contains(words)))
        });
    }
    findings
}

/// Names who has the GPU instead of advice to look for it.
fn name_holder(finding: &mut Finding, (name, pid, bytes): &(String, u32, u64)) {
    const LOOKS: [&str; 5] = [
        "Look for other processes",
        "List its processes",
        "See who holds",
        "Free the GPU from",
        "If other processes use",
    ];
    let looks = |step: &AdviceStep| LOOKS.iter().any(|words| step.text.starts_with(words));
    let is_of_gpu = matches!(finding.code, FindingCode::OutOfMemory | FindingCode::OutsidePytorch);
    if is_of_gpu && finding.steps.iter().any(looks) {
        let name = name.rsplit('/').next().unwrap_or_default();
        let text = format!(
            "End {name} (process {pid}), which has {} of the GPU, unless it is this program itself.",
            format::bytes(*bytes)
        );
        finding.steps.retain(|step| !looks(step));
        finding.steps.insert(0, AdviceStep::of(&text));
    }
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
        (1, 3..) => (String::new(), format!(", printed {}", format::counted(count, "time"))),
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
        unknown_holder(oom, cause, printed) + &idle(oom, cause, printed) + &advice(oom, cause, printed),
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
    let is_free = oom.free_bytes.zip(oom.asked_bytes).is_some_and(|(free, asked)| free >= asked);
    if is_free && matches!(cause, OomCause::Full | OomCause::Others | OomCause::Outside | OomCause::Ranks) {
        text += " More was free than was asked for, but not in one piece that the driver could give.";
    }
    if cause == OomCause::Fragmentation {
        text += &format!(
            " PyTorch held {} that no tensor used, but in pieces that were too small.",
            format::bytes(oom.unused_bytes().unwrap_or(0))
        );
    }
    text.trim_start().to_owned()
}

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
