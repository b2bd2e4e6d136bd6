//! Reports on logs of nvidia-smi: the memory of whole GPUs and of the processes on them.

use crate::host::{Climb, course, curve_climb, when_full};
use crate::nvidia_smi::{Card, CardLog, CardProcess, CardSlice};
use crate::printed::{OTHER_RANKS, OomApi};
use crate::sampled::sampled;
use crate::source::{LogPart, Source};
use hashbrown::{HashMap, HashSet};
use shared::analysis::FindingCode;
use shared::base::{Severity, ShortSort, format};
use shared::report::{Finding, LogCell, LogCurves, LogLimit, LogNotice, LogOwner, LogOwners, LogTable, NO_DEVICE};

/// Fraction of a GPU from which it counts as nearly full.
const NEARLY_FULL: f64 = 0.95;

/// Memory from which a process counts as one that uses the GPU, 512 MiB: a CUDA context alone takes less.
const MUCH_BYTES: u64 = 512 << 20;

/// Smallest climb that counts: libraries that are loaded one after the other take less.
const LEAST_CLIMB: u64 = 512 << 20;

/// Largest number of processes that a bar or a sentence names.
const MOST_NAMED: usize = 6;

impl Source for CardLog {
    fn is_empty(&self) -> bool {
        self.shares.is_empty()
            && self.slices.is_empty()
            && self.cards.iter().all(|card| card.samples.is_empty() && card.processes.is_empty())
    }

    fn part(&self) -> LogPart {
        LogPart {
            title: title(self),
            curves: curves(self).into_iter().collect(),
            owners: self.cards.iter().filter_map(owners).collect(),
            findings: findings(self),
            tables: [(!self.cards.is_empty()).then(|| table(self)), (!self.slices.is_empty()).then(|| slices(self))]
                .into_iter()
                .flatten()
                .collect(),
            notices: notices(self),
            ..LogPart::default()
        }
    }
}

fn notices(log: &CardLog) -> Vec<LogNotice> {
    let left_out = (log.left_out > 0).then(|| {
        let left_out = format::counted(log.left_out, "sample");
        format!("The log of GPUs is longer than can be kept, without {left_out} at its end.")
    });
    let chosen = log.chosen.map(|(listed, attached)| {
        let gpus = format::counted(attached as u64, "GPU");
        format!(
            "nvidia-smi lists {listed} of {gpus} without their numbers, which are counted from 0 here; \
             `--query-gpu=timestamp,index,memory.used,memory.total --format=csv` states them."
        )
    });
    let shares = (!log.shares.is_empty()).then(|| "`rocm-smi --showmeminfo vram` prints bytes.".to_owned());
    left_out.into_iter().map(LogNotice::warning).chain(chosen.into_iter().chain(shares).map(LogNotice::info)).collect()
}

fn title(log: &CardLog) -> String {
    let word = if log.tool.1 == OomApi::Npu { "NPU" } else { "GPU" };
    if log.cards.is_empty() && !log.slices.is_empty() {
        return format!("{}: {} of a GPU", tool(log), format::counted(log.slices.len() as u64, "slice"));
    }
    if log.cards.is_empty() {
        let shares: Vec<String> = log.shares.iter().map(|(_, share)| format!("{share} %")).collect();
        let gpus = format::counted(shares.len() as u64, word);
        let of = if shares.len() == 1 { "its" } else { "their" };
        return format!("{}: {gpus}, {} of {of} memory in use", tool(log), shares.join(" and "));
    }
    let gpus = format::counted(log.cards.len() as u64, word);
    let samples = log.cards.iter().map(|card| card.samples.len()).max().unwrap_or(0) as u64;
    let samples = if samples == 0 { String::new() } else { format!(", {}", format::counted(samples, "sample")) };
    format!("{}: {gpus}{samples}", tool(log))
}

fn tool(log: &CardLog) -> &'static str {
    match log.tool.0 {
        _ if log.is_of_wandb => "GPUs, Weights & Biases",
        "" => "nvidia-smi",
        name => name,
    }
}

/// Returns the memory in use of each GPU over time; `None` with fewer than two samples.
fn curves(log: &CardLog) -> Option<LogCurves> {
    let total = log.cards.iter().filter_map(|card| card.total_bytes).max();
    Some(LogCurves {
        quantity: "GPU memory in use".to_owned(),
        has_dates: log.has_dates,
        has_times: log.has_times,
        limit: total.map(|bytes| LogLimit { name: "Memory of a GPU".to_owned(), bytes }),
        ..sampled(log.cards.iter().map(|card| (name_of(card), &card.samples[..])))?
    })
}

fn name_of(card: &Card) -> String {
    match card.name.as_str() {
        "" => format!("GPU {}", card.index),
        name => format!("GPU {}, {name}", card.index),
    }
}

/// Returns the memory of a GPU by process at the end of the log; `None` if its processes or its memory are unknown.
fn owners(card: &Card) -> Option<LogOwners> {
    let capacity_bytes = card.total_bytes?;
    let used_bytes = card.samples.last()?.bytes;
    let owner = |name: &str, bytes: u64| LogOwner { name: name.to_owned(), bytes };
    let named = by_memory(card).into_iter().take(MOST_NAMED);
    let mut parts: Vec<LogOwner> = named.map(|process| owner(&process_name(process), process.bytes)).collect();
    let listed: u64 = parts.iter().map(|owner| owner.bytes).fold(0, u64::saturating_add);
    let rest = if parts.is_empty() { "in use" } else { "the driver and what it does not list" };
    parts.push(owner(rest, used_bytes.saturating_sub(listed)));
    let reserved_bytes = card.reserved_bytes.unwrap_or(0);
    if reserved_bytes > 0 {
        parts.push(owner("the driver, reserved", reserved_bytes));
    }
    parts.push(owner("free", capacity_bytes.saturating_sub(used_bytes).saturating_sub(reserved_bytes)));
    Some(LogOwners { title: format!("{} at the end of the log", name_of(card)), capacity_bytes, parts })
}

/// Returns the processes of a GPU, the one with the most memory first.
fn by_memory(card: &Card) -> Vec<&CardProcess> {
    let mut processes: Vec<&CardProcess> = card.processes.iter().collect();
    processes.short_sort_by_key(|process| std::cmp::Reverse(process.bytes));
    processes
}

fn process_name(CardProcess { pid, name, .. }: &CardProcess) -> String {
    match name.rsplit('/').next().unwrap_or_default() {
        "" => format!("process {pid}"),
        name => format!("{name} ({pid})"),
    }
}

fn findings(log: &CardLog) -> Vec<Finding> {
    let spreads = spreads(log);
    let of = |card: &Card| {
        let visitors = visitors(&spreads, card);
        let climbs = climbs(log, card);
        // What climbs to the end of the card is told with the reason.
        let full = nearly_full(card).filter(|_| climbs.is_none());
        [
            climbs,
            full,
            dead(card),
            ranks(card, &visitors),
            shared(log, card, &visitors),
            unlisted(log, card),
            cut(log, card),
        ]
    };
    let of_cards = log.cards.iter().flat_map(of).flatten();
    of_cards.chain(uneven(log, &spreads)).chain(log.slices.iter().filter_map(|slice| full_slice(log, slice))).collect()
}

/// Reports memory in use that climbs, by the rule for memory of the host.
fn climbs(log: &CardLog, card: &Card) -> Option<Finding> {
    let times: Vec<i64> = card.samples.iter().map(|sample| sample.time_ms).collect();
    let used: Vec<u64> = card.samples.iter().map(|sample| sample.bytes).collect();
    let climb = curve_climb(&times, &used, LEAST_CLIMB)?;
    let bytes = format::bytes(climb.climb_bytes);
    let title = match climb.falls {
        true => format!("GPU memory in use climbs by {bytes} again and again, and falls in between"),
        false => format!("GPU memory in use climbs by {bytes} through the whole log"),
    };
    let shows: Vec<String> = [course(&climb)].into_iter().chain(until_full(log, card, &climb)).collect();
    let code = (FindingCode::CardMemoryClimbs, Severity::Warning, climb.climb_bytes);
    Some(finding(card, code, title, shows.join(" "), CLIMBS))
}

const CLIMBS: &str = "Look for losses or outputs in a list (append loss.item() instead of loss), a running sum of them \
     (total += loss.item()), and results that stay on the GPU (append output.detach().cpu()).\n\
     [record] A snapshot names the lines: ``snapscope record -- python train.py``, or in the program \
     ``torch.cuda.memory._record_memory_history(max_entries=1_000_000)``.\n\n\
     The driver counts what PyTorch has reserved. That climbs while tensors or their sizes increase: PyTorch uses what it \
     has freed again, so that a training whose steps are alike reaches its level within a few steps.";

fn until_full(log: &CardLog, card: &Card, climb: &Climb) -> Option<String> {
    let room = card.total_bytes?.saturating_sub(card.reserved_bytes.unwrap_or(0));
    let (has, most) = (format::bytes(room), format::bytes(climb.peak_bytes));
    let last = card.samples.last()?;
    let left = room.saturating_sub(last.bytes);
    Some(match climb.falls {
        true => format!("The GPU has {has}, of which {most} are in use at the most."),
        false => {
            let ms = (left as f64 / climb.bytes_per_s.max(1.0) * 1000.0) as i64;
            let when = when_full(ms, log.has_dates.then_some(last.time_ms));
            format!("The GPU has {has}, of which {most} were in use: at this rate, it is full {when}.")
        }
    })
}

fn finding(
    card: &Card,
    (code, severity, bytes): (FindingCode, Severity, u64),
    title: String,
    shows: String,
    advice: &str,
) -> Finding {
    let stated = Finding::stated(code, i64::from(card.index), bytes, title, shows, advice.to_owned());
    Finding { severity, ..stated }
}

fn nearly_full(card: &Card) -> Option<Finding> {
    let (peak_bytes, total_bytes) = (card.peak_bytes(), card.total_bytes?);
    let total_bytes = total_bytes.saturating_sub(card.reserved_bytes.unwrap_or(0));
    let is_full = peak_bytes as f64 >= NEARLY_FULL * total_bytes as f64;
    let title = format!("{} of the {} were in use", format::bytes(peak_bytes), format::bytes(total_bytes));
    let shows = "The driver counts what PyTorch has reserved, whether or not tensors use it.".to_owned();
    let advice = "If errors occur, paste one here, or print ``torch.cuda.memory_summary()``: they tell tensors from \
                  cache.\n\n\
                  A full GPU is no problem by itself, since PyTorch keeps memory that it has freed.";
    is_full.then(|| finding(card, (FindingCode::CardNearlyFull, Severity::Info, peak_bytes), title, shows, advice))
}

/// Reports memory of processes that have ended, as far as the driver knows: it no longer finds their names.
fn dead(card: &Card) -> Option<Finding> {
    let dead = || card.processes.iter().filter(|process| is_dead(process));
    let first = dead().next()?;
    let bytes = dead().map(|process| process.bytes).fold(0, u64::saturating_add);
    let title = format!("{} held by process {}, which has ended or hangs", format::bytes(bytes), first.pid);
    let shows = "nvidia-smi finds no name for it any more.".to_owned();
    let advice = "End what is left of it: ``ps -ef | grep defunct`` shows its parent, and ``sudo fuser -v /dev/nvidia*`` \
                  who still has the device open.\n\
                  If nobody has, reset the GPU or restart the machine: ``sudo nvidia-smi --gpu-reset -i 0``.";
    Some(finding(card, (FindingCode::GpuShared, Severity::Warning, bytes), title, shows, advice))
}

fn is_dead(process: &CardProcess) -> bool {
    process.name == "Unknown Error"
}

/// What a process has on all GPUs.
#[derive(Default)]
struct Spread {
    most_bytes: u64,
    /// The GPU with the most.
    home: u32,
    /// Bytes on the GPU with the most after that one.
    second_bytes: u64,
    least_bytes: u64,
    gpus: usize,
}

fn spreads(log: &CardLog) -> HashMap<u32, Spread> {
    let mut spreads: HashMap<u32, Spread> = HashMap::new();
    for (card, process) in log.cards.iter().flat_map(|card| card.processes.iter().map(move |process| (card, process))) {
        let spread = spreads.entry(process.pid).or_insert(Spread { least_bytes: u64::MAX, ..Spread::default() });
        if process.bytes >= spread.most_bytes {
            spread.second_bytes = std::mem::replace(&mut spread.most_bytes, process.bytes);
            spread.home = card.index;
        } else {
            spread.second_bytes = spread.second_bytes.max(process.bytes);
        }
        spread.least_bytes = spread.least_bytes.min(process.bytes);
        spread.gpus += 1;
    }
    spreads
}

/// Returns the processes that have more memory on another GPU, if one that is at home here has more than they.
fn visitors<'a>(spreads: &HashMap<u32, Spread>, card: &'a Card) -> Vec<&'a CardProcess> {
    let is_elsewhere =
        |process: &&CardProcess| spreads.get(&process.pid).is_some_and(|spread| spread.most_bytes > process.bytes);
    let (visitors, own): (Vec<&CardProcess>, Vec<_>) = card.processes.iter().partition(is_elsewhere);
    let most = own.iter().map(|process| process.bytes).max().unwrap_or(0);
    visitors.into_iter().filter(|process| process.bytes < most).collect()
}

/// Reports ranks of a job that have opened a GPU beside their own.
fn ranks(card: &Card, ranks: &[&CardProcess]) -> Option<Finding> {
    let bytes = ranks.iter().map(|process| process.bytes).fold(0, u64::saturating_add);
    let title = match ranks.len() {
        1 => format!("A process of another GPU has opened this one, too: {}", format::bytes(bytes)),
        count => format!("{count} processes of other GPUs have opened this one, too: {}", format::bytes(bytes)),
    };
    let named: Vec<String> = ranks.iter().take(MOST_NAMED).map(|process| process_name(process)).collect();
    let shows = format!("{}: each has more on a GPU of its own.", named.join(", "));
    let code = (FindingCode::GpuShared, Severity::Warning, bytes);
    (bytes >= MUCH_BYTES).then(|| finding(card, code, title, shows, OTHER_RANKS))
}

/// Reports a process that has much more memory on one GPU than on its others.
fn uneven(log: &CardLog, spreads: &HashMap<u32, Spread>) -> Option<Finding> {
    let visiting: HashSet<u32> =
        log.cards.iter().flat_map(|card| visitors(spreads, card)).map(|process| process.pid).collect();
    let pids = log.cards.iter().flat_map(|card| &card.processes).map(|process| process.pid);
    pids.filter_map(|pid| {
        let spread = spreads.get(&pid).filter(|spread| spread.gpus > 1)?;
        let (most, second) = (spread.most_bytes, spread.second_bytes);
        let is_much = spread.least_bytes >= MUCH_BYTES && second < most - most / 5;
        if !is_much || visiting.contains(&pid) {
            return None;
        }
        let card = log.cards.iter().find(|card| card.index == spread.home)?;
        let title = format!(
            "One process has {} here, and at most {} on its other {}",
            format::bytes(most),
            format::bytes(second),
            format::counted(spread.gpus as u64 - 1, "GPU")
        );
        let advice = "Use `DistributedDataParallel` (``torchrun``) instead of `DataParallel`, whose first GPU gathers all \
                      outputs, computes the loss, and has the optimizer's state.\n\
                      Or compute the loss within the module, so that each replica returns a number.\n\
                      If layers are spread over the GPUs, give the first fewer: `max_memory` of a `device_map`.";
        let shows = format!("It is process {pid}.");
        let code = (FindingCode::DevicesUneven, Severity::Warning, most - second);
        Some(finding(card, code, title, shows, advice))
    })
    .next()
}

/// Reports a slice of a GPU that is nearly full, and where there is room.
fn full_slice(log: &CardLog, slice: &CardSlice) -> Option<Finding> {
    let CardSlice { name, used_bytes, total_bytes } = slice;
    let title = format!("{name} has {} of {} in use", format::bytes(*used_bytes), format::bytes(*total_bytes));
    let free = |slice: &&CardSlice| slice.total_bytes.saturating_sub(slice.used_bytes);
    let widest = log.slices.iter().max_by_key(free)?;
    let where_to = format!(
        "Run the next job where there is room: {} has {} free. `CUDA_VISIBLE_DEVICES` takes its UUID, which ``nvidia-smi -L`` \
         lists.\n",
        widest.name.replacen("Slice", "slice", 1),
        format::bytes(free(&widest))
    );
    let has_room = free(&widest).saturating_mul(2) > widest.total_bytes;
    let advice = format!(
        "{}Ask for a larger slice, or make larger ones: ``nvidia-smi mig -lgip`` lists their sizes.\n\n\
         The rest of the GPU belongs to other slices, whose memory a program can't use.",
        if has_room { &where_to } else { "" }
    );
    let stated = Finding::stated(FindingCode::CardNearlyFull, NO_DEVICE, *used_bytes, title, String::new(), advice);
    let is_full = *used_bytes as f64 >= NEARLY_FULL * *total_bytes as f64;
    is_full.then_some(Finding { severity: Severity::Warning, ..stated })
}

fn shared(log: &CardLog, card: &Card, ranks: &[&CardProcess]) -> Option<Finding> {
    let mut large = by_memory(card);
    large.retain(|process| process.bytes >= MUCH_BYTES && !is_dead(process) && !ranks.contains(process));
    // Clients of MPS share it on purpose.
    if large.len() < 2 || card.processes.iter().any(|process| process.name.contains("nvidia-cuda-mps")) {
        return None;
    }
    let name = |process: &&CardProcess| format!("{} has {}", process_name(process), format::bytes(process.bytes));
    let named: Vec<String> = large.iter().take(MOST_NAMED).map(name).collect();
    let bytes = large.iter().skip(1).map(|process| process.bytes).fold(0, u64::saturating_add);
    let title = format!("{} processes share the GPU", large.len());
    let advice = format!(
        "End processes that are not needed, such as crashed runs and notebooks.\n\
         Or choose another GPU by `{}`.\n\n\
         Each process has memory of its own for its context (about 0.5 GiB) and for PyTorch's cache, which others can't \
         use.",
        log.tool.1.tools().1
    );
    let shows = format!("{}.", named.join(", "));
    Some(finding(card, (FindingCode::GpuShared, Severity::Warning, bytes), title, shows, &advice))
}

/// Reports memory in use where nvidia-smi lists no process.
fn unlisted(log: &CardLog, card: &Card) -> Option<Finding> {
    let bytes = card.samples.last()?.bytes;
    let is_unlisted = log.lists_none && card.processes.is_empty() && bytes >= MUCH_BYTES;
    let (tool, (_, variable)) = (tool(log), log.tool.1.tools());
    let files = match log.tool.1 {
        OomApi::Hip => "/dev/kfd",
        OomApi::Npu => "/dev/davinci*",
        OomApi::Xpu => "/dev/dri/*",
        OomApi::Musa => "/dev/mtgpu*",
        OomApi::Cuda | OomApi::Mps => "/dev/nvidia*",
    };
    let title = format!("{} in use, but {tool} lists no process", format::bytes(bytes));
    let shows = format!(
        "In a container, {tool} lists neither the container's own processes nor those of others, and some drivers list only \
         those of the user."
    );
    let advice = format!(
        "Run {tool} on the host, outside of containers: it lists all processes.\n\
         Or look for who has the device open: ``sudo fuser -v {files}``.\n\
         Or choose another GPU by `{variable}`.\n\n\
         If it is your own program, nothing has to be done."
    );
    let code = (FindingCode::GpuShared, Severity::Info, bytes);
    is_unlisted.then(|| finding(card, code, title, shows, &advice))
}

/// Reports memory in use of which the text was cut before the processes that have it.
fn cut(log: &CardLog, card: &Card) -> Option<Finding> {
    let bytes = card.samples.last()?.bytes;
    let is_cut = log.is_list_cut && log.cards.iter().all(|card| card.processes.is_empty()) && bytes >= MUCH_BYTES;
    let title = format!("{} in use, and the list of processes is cut off", format::bytes(bytes));
    let shows = "The text ends at the head of the list.".to_owned();
    let advice = "Paste the whole table: it tells whose memory it is.\n\
                  If the list is empty, a run that was interrupted may be left: ``sudo fuser -v /dev/nvidia*`` shows who \
                  has the GPU open, and ``kill -9 PID`` ends it.";
    is_cut.then(|| finding(card, (FindingCode::GpuShared, Severity::Info, bytes), title, shows, advice))
}

fn table(log: &CardLog) -> LogTable {
    let lists = log.lists_none || log.cards.iter().any(|card| !card.processes.is_empty());
    let row = |card: &Card| {
        vec![
            LogCell::Count(u64::from(card.index)),
            LogCell::Text(card.name.clone()),
            card.total_bytes.map_or(LogCell::Nothing, LogCell::Bytes),
            LogCell::Bytes(card.peak_bytes()),
            card.samples.last().map_or(LogCell::Nothing, |sample| LogCell::Bytes(sample.bytes)),
            if lists { LogCell::Count(card.processes.len() as u64) } else { LogCell::Nothing },
        ]
    };
    let columns = ["GPU", "Name", "Memory", "Most in use", "In use at the end", "Processes"];
    LogTable::new("GPUs", columns, log.cards.iter().map(row))
}

fn slices(log: &CardLog) -> LogTable {
    let row = |slice: &CardSlice| {
        let free = slice.total_bytes.saturating_sub(slice.used_bytes);
        let sizes = [slice.total_bytes, slice.used_bytes, free].map(LogCell::Bytes);
        [LogCell::Text(slice.name.clone())].into_iter().chain(sizes).collect()
    };
    LogTable::new("Slices of GPUs (MIG)", ["Slice", "Memory", "In use", "Free"], log.slices.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::read_text;

    /// Writes an hour of a loop with a sample each 12 s, whose MiB in use are those of `used` at each.
    fn looped(used: impl Fn(u64) -> u64) -> Vec<Finding> {
        let row = |at: u64| {
            let (minute, second) = (at * 12 / 60, at * 12 % 60);
            format!("2026/11/20 09:{minute:02}:{second:02}.000, 0, {} MiB, 23034 MiB\n", used(at))
        };
        let head = "timestamp, index, memory.used [MiB], memory.total [MiB]\n".to_owned();
        findings(&read_text(&(head + &(0..300).map(row).collect::<String>())).cards)
    }

    #[test]
    fn memory_that_climbs_is_told_with_the_time_when_it_is_used_up() {
        let found = looped(|at| 2000 + at * 60 + at % 7 * 100);
        assert_eq!((found.len(), found[0].code), (1, FindingCode::CardMemoryClimbs));
        assert_eq!((found[0].severity, found[0].device), (Severity::Warning, 0));
        assert!(found[0].title.starts_with("GPU memory in use climbs by "), "{}", found[0].title);
        // Of 23,034 MiB, 2,594 are left at the end, at 60 MiB each 12 s.
        let full = "at this rate, it is full 8 min 26 s after the end of the log, on 2026-11-20 10:08.";
        assert!(found[0].evidence.shows.ends_with(full), "{}", found[0].evidence.shows);
        let to_the_end = looped(|at| 2000 + at * 70);
        assert_eq!(to_the_end.iter().map(|one| one.code).collect::<Vec<_>>(), [FindingCode::CardMemoryClimbs]);
    }

    #[test]
    fn memory_without_a_process_is_of_others() {
        let table = "| NVIDIA-SMI 384.145 |\n|   0  Tesla V100-SXM2...  On   | 0 |\n| N/A 66C | 9000MiB / 16152MiB | 98% |\n\
                     |  No running processes found |\n";
        let found = |text: &str| findings(&read_text(text).cards).into_iter().map(|one| one.title).collect::<Vec<_>>();
        assert_eq!(found(table), ["8.79 GiB in use, but nvidia-smi lists no process"]);
        assert!(found(&table.replace(" 9000MiB", " 300MiB")).is_empty());
        assert!(found(&table.replace("No running", "Some")).is_empty());
    }

    fn told(rows: &[&str]) -> Vec<String> {
        let text: String = ["| NVIDIA-SMI 470.57 |"].iter().chain(rows).map(|row| format!("{row}\n")).collect();
        findings(&read_text(&text).cards).into_iter().map(|one| one.title).collect()
    }

    #[test]
    fn ranks_on_a_foreign_gpu_are_no_other_programs() {
        let ranks = ["| 0  11  C  python  4871MiB |", "| 0  12  C  python  719MiB |", "| 1  12  C  python  4853MiB |"];
        assert_eq!(told(&ranks), ["A process of another GPU has opened this one, too: 719 MiB"]);
        let strangers = ["| 0  11  C  python  4871MiB |", "| 0  12  C  python  719MiB |"];
        assert_eq!(told(&strangers), ["2 processes share the GPU"]);
        let replicas =
            ["| 0  11  C  python  9871MiB |", "| 4  11  C  python  4612MiB |", "| 5  11  C  python  4580MiB |"];
        assert_eq!(told(&replicas), ["One process has 9.64 GiB here, and at most 4.50 GiB on its other 2 GPUs"]);
    }

    #[test]
    fn slices_are_no_gpus() {
        let rows =
            ["| MIG devices: |", "|  0    3   0   0  |  19211MiB / 19968MiB | 28 |", "|  |  4MiB / 32767MiB |  |"];
        let log = read_text(&format!(
            "| NVIDIA-SMI 470.57 |\n{}\n|  0    6   0   2  |  13MiB / 19968MiB | 28 |\n",
            rows.join("\n")
        ))
        .cards;
        assert_eq!((log.cards.len(), log.slices.len()), (0, 2));
        assert_eq!(told(&rows), ["Slice 3 of GPU 0 has 18.8 GiB of 19.5 GiB in use"]);
        assert!(findings(&log)[0].advice.contains("slice 6 of GPU 0 has 19.5 GiB free"));
    }

    #[test]
    fn memory_that_reaches_its_level_is_no_climb() {
        let full = looped(|at| (2000 + at * 5000).min(22_500));
        assert_eq!(full.iter().map(|one| one.code).collect::<Vec<_>>(), [FindingCode::CardNearlyFull]);
        assert_eq!(looped(|at| 9000 + at % 11 * 30), []);
        let epochs = looped(|at| 2000 + at % 50 * 300);
        assert!(epochs[0].title.ends_with("again and again, and falls in between"), "{}", epochs[0].title);
    }
}
