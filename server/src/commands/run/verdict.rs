//! Judges a run: whether it fits, and if not, why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use shared::api::{RunOutOfMemory, RunReport, RunStatus, RunStop};
use shared::base::format::{bytes, duration};
use shared::job::Cards;

use super::launch::{Ended, place, shown};
use super::log::refusal;
use super::ran::{Ran, capacity, overall};
use super::reported::{Reported, ReportedCall, ReportedException, ReportedOom};
use crate::snapshot_file::Opened;

/// Parts of messages of PyTorch about a call that a library refused.
const REFUSED: [&str; 3] = ["not supported", "NOT_SUPPORTED", "not implemented"];

/// Judges a run from what its processes reported.
pub(super) fn judge(cards: &Cards, ended: &Ended) -> Ran {
    let devices: Vec<&Reported> = ended.processes.iter().filter(|process| process.used_cuda()).collect();
    let mut runs: Vec<RunReport> = devices.iter().map(|process| of_process(cards, ended, process)).collect();
    if runs.is_empty() {
        let process = ended.processes.first();
        let (status, message) = reason_without_cuda(ended, process);
        runs.push(RunReport { message: Some(message), ..plain(cards, ended, process, status) });
    } else {
        blame(&mut runs, ended);
        refuse(&mut runs, ended);
    }
    let status = overall(&runs);
    let notes: BTreeSet<String> = ended.processes.iter().flat_map(|process| process.notes.clone()).collect();
    Ran {
        cards: cards.clone(),
        status,
        callers: callers(ended),
        without_values: devices.iter().find_map(|process| process.values_error.clone()),
        failures: devices.iter().flat_map(|process| process.failures.clone()).collect(),
        notes: notes.into_iter().collect(),
        is_compiled: devices.iter().any(|process| process.is_compiled),
        uncounted: ended.logged.uncounted.clone(),
        log: if status == RunStatus::Fits { Vec::new() } else { ended.logged.lines.clone() },
        runs,
    }
}

/// Returns the user's lines that called functions which are not modeled.
fn callers(ended: &Ended) -> BTreeMap<String, String> {
    let calls = ended.processes.iter().flat_map(|process| &process.unsupported);
    let place = |call: &ReportedCall| Some(format!("{}:{}", shown(call.file.as_deref()?), call.line?));
    calls.filter_map(|call| Some((call.function.clone(), place(call)?))).collect()
}

/// Makes a process responsible for a script that failed, if no process has said why.
fn blame(runs: &mut [RunReport], ended: &Ended) {
    let is_clean =
        ended.end.status == 0 || matches!(ended.end.stop, Some(RunStop::Time | RunStop::Serving | RunStop::Interrupt));
    // The processes that used CUDA left after the steps that were asked for.
    let mut used = ended.processes.iter().filter(|process| process.used_cuda());
    let is_stopped_by_steps = used.all(|process| process.stopped.as_deref() == Some("steps"));
    if is_clean || runs.iter().any(|run| run.status != RunStatus::Fits) || is_stopped_by_steps {
        return;
    }
    let (status, message) = match ended.end.stop {
        Some(RunStop::HostMemory) => (RunStatus::Failed, host_memory(ended)),
        Some(RunStop::Disk) => (RunStatus::Failed, disk(ended)),
        _ => match ended.processes.iter().find_map(|process| process.exception.as_ref()) {
            Some(exception) => (failed_status(ended, &exception.message), exception_text(exception)),
            None => (failed_status(ended, ""), ended_with(ended.end.status)),
        },
    };
    runs[0].status = status;
    runs[0].message = Some(message);
}

/// Judges that memory has run out where an inference engine found too little to start.
fn refuse(runs: &mut [RunReport], ended: &Ended) {
    if let Some(refusal) = ended.engine.as_deref().and_then(refusal) {
        for run in runs {
            (run.status, run.message) = (RunStatus::OutOfMemory, Some(refusal.clone()));
        }
    }
}

fn of_process(cards: &Cards, ended: &Ended, process: &Reported) -> RunReport {
    let highest = process.devices.iter().flatten().max_by_key(|device| (device.peak_reserved, device.total));
    let highest = highest.cloned().unwrap_or_default();
    let (events, peak_live_bytes) = process.snapshot.as_deref().and_then(figures).unwrap_or_default();
    let (status, message) = status_of(ended, process);
    RunReport {
        steps: process.steps,
        events,
        events_lost: process.events_lost,
        peak_live_bytes,
        peak_allocated_bytes: highest.peak_allocated,
        peak_reserved_bytes: highest.peak_reserved,
        capacity_bytes: highest.total,
        values_read: process.values.clone(),
        snapshot: process.snapshot.as_deref().map(shown),
        stopped: match process.stopped.as_deref() {
            Some("steps") => Some(RunStop::Steps),
            Some("time") => Some(RunStop::Time),
            Some("terminated") if ended.end.stop.is_none() => Some(RunStop::Signal),
            _ => ended.end.stop,
        },
        ooms: process.ooms.iter().map(ReportedOom::told).collect(),
        remedies: process.remedies.clone(),
        message,
        ..plain(cards, ended, Some(process), status)
    }
}

/// Returns what only the trace has: the events of all devices, and the highest requested bytes of live tensors on one.
///
/// There is nothing without a snapshot, or if it was cut off.
fn figures(snapshot: &str) -> Option<(u64, u64)> {
    let opened = Opened::read(Path::new(snapshot)).ok()?;
    let events = opened.trace.devices.iter().map(|device| device.events.len() as u64).sum();
    Some((events, opened.timelines.iter().map(|timeline| timeline.live_peak().1).max().unwrap_or(0)))
}

fn plain(cards: &Cards, ended: &Ended, process: Option<&Reported>, status: RunStatus) -> RunReport {
    RunReport {
        card: cards.to_string(),
        rank: process.and_then(|process| process.rank),
        status,
        exit_status: ended.end.stop.is_none().then_some(ended.end.status),
        torch: process.and_then(|process| process.torch.clone()),
        cuda: process.and_then(|process| process.cuda.clone()),
        steps: 0,
        events: 0,
        events_lost: 0,
        seconds: ended.end.seconds,
        peak_live_bytes: 0,
        peak_allocated_bytes: 0,
        peak_reserved_bytes: 0,
        capacity_bytes: capacity(cards),
        values_read: Vec::new(),
        unsupported: ended.logged.unsupported.clone(),
        snapshot: None,
        stopped: ended.end.stop,
        message: None,
        ooms: Vec::new(),
        engine: ended.engine.clone(),
        remedies: BTreeMap::new(),
    }
}

fn status_of(ended: &Ended, process: &Reported) -> (RunStatus, Option<String>) {
    if process.is_out_of_memory() {
        let oom = process.ooms.last().map(ReportedOom::told);
        return (RunStatus::OutOfMemory, oom.as_ref().map(out_of_memory));
    }
    match &process.exception {
        // An interrupt that this command sent is no failure of the script.
        Some(exception) if ended.end.stop.is_none() => {
            (failed_status(ended, &exception.message), Some(exception_text(exception)))
        }
        _ => (RunStatus::Fits, None),
    }
}

/// Returns `Unsupported` if a function of the virtual GPU refused what the script asked for.
fn failed_status(ended: &Ended, message: &str) -> RunStatus {
    let is_refused = message.is_empty() || REFUSED.iter().any(|part| message.contains(part));
    let is_missing = is_refused && !ended.logged.unsupported.is_empty();
    // Symbols are bound when a library is loaded, so a name that is missing stops the import of what needs it.
    if is_missing || message.contains("undefined symbol: ") { RunStatus::Unsupported } else { RunStatus::Failed }
}

fn exception_text(exception: &ReportedException) -> String {
    let message = exception.message.lines().next().unwrap_or_default().trim_end_matches('.');
    let place = place(exception.file.as_deref(), exception.line);
    let advice = if asks_network(&exception.message) { ADVICE } else { "" };
    format!("{}{place}: {message}{advice}", exception.kind)
}

/// Returns true for the message of an error about a file that could not be downloaded.
fn asks_network(message: &str) -> bool {
    const SIGNS: [&str; 5] = [
        "couldn't connect to",
        "Max retries exceeded",
        "name resolution",
        "offline mode is enabled",
        "Name or service not known",
    ];
    SIGNS.iter().any(|sign| message.contains(sign))
}

const ADVICE: &str = ". The script asked the network for a file: have it on this machine before; of a model, a folder of its \
    name with config.json and the tokenizer's files is enough with --weights empty";

/// Describes an out-of-memory error in a sentence.
pub(in crate::commands) fn out_of_memory(oom: &RunOutOfMemory) -> String {
    let (step, place) = (oom.steps + 1, place(oom.file.as_deref(), oom.line));
    let (requested, free) = (bytes(oom.requested_bytes), bytes(oom.free_bytes));
    format!("memory ran out in step {step}{place}: {requested} were requested, {free} were free")
}

/// Judges a run in which no process used CUDA.
fn reason_without_cuda(ended: &Ended, process: Option<&Reported>) -> (RunStatus, String) {
    let end = &ended.end;
    if let Some(process) = process {
        if let Some(error) = &process.import_error {
            return (RunStatus::Unsupported, format!("PyTorch cannot be imported: {error}"));
        }
        if let Some(error) = &process.hook_error {
            return (RunStatus::Unsupported, format!("this PyTorch cannot be recorded: {error}"));
        }
        if let (None, Some(torch)) = (&process.cuda, &process.torch) {
            let built = if process.hip.is_some() { "for AMD's GPUs" } else { "without CUDA" };
            let advice = "install the wheel for CUDA, which `pip install torch` brings on Linux";
            return (RunStatus::Unsupported, format!("PyTorch {torch} is built {built}: {advice}"));
        }
    }
    match end.stop {
        Some(RunStop::HostMemory) => return (RunStatus::Failed, host_memory(ended)),
        Some(RunStop::Disk) => return (RunStatus::Failed, disk(ended)),
        Some(RunStop::Time) => {
            let message = format!("the script did not use CUDA within {}", micros(end.limits.time.as_secs_f64()));
            return (RunStatus::Unsupported, message);
        }
        _ => {}
    }
    match (end.status, process) {
        (0, Some(_)) => (RunStatus::Unsupported, "the script ended without using CUDA".to_owned()),
        (0, None) => (RunStatus::Unsupported, NOT_IMPORTED.to_owned()),
        (_, Some(Reported { exception: Some(exception), .. })) => {
            let message = format!("the script ended before it used CUDA: {}", exception_text(exception));
            (failed_status(ended, "-"), message)
        }
        (status, _) => (failed_status(ended, "-"), format!("{} before it used CUDA", ended_with(status))),
    }
}

/// Exit status of what SIGKILL has ended.
pub(in crate::commands) const KILLED: i32 = 128 + 9;

const NOT_IMPORTED: &str =
    "no process of the command imported PyTorch, or Python ignores PYTHONPATH (options -I and -E)";

fn ended_with(status: i32) -> String {
    match status {
        KILLED => format!("the script was killed (exit status {KILLED}: this machine's memory may have run out)"),
        _ => format!("the script ended with exit status {status}"),
    }
}

fn host_memory(ended: &Ended) -> String {
    let limit = bytes(ended.end.limits.memory_bytes);
    format!("the script was killed: it took more than {limit} of this machine's memory, the limit of --memory-limit")
}

fn disk(ended: &Ended) -> String {
    let limit = bytes(ended.end.limits.disk_bytes);
    format!("the script was killed: it wrote more than {limit} to the disk, the limit of --disk-limit")
}

pub(super) fn micros(seconds: f64) -> String {
    duration((seconds * 1e6) as u64)
}
