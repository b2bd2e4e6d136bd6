//! Divides the memory of a GPU among the snapshots of its processes and what logs of the same run say.
//!
//! ```text
//! nvidia-smi         |<------------- in use ------------->| driver |  free  |
//! rank0.pickle       |<- reserved ->|
//! rank1.pickle                      |<- reserved ->|
//! log of NCCL                                      |NCCL|
//! the remainder                                         |-|
//! ```

use crate::Log;
use crate::nvidia_smi::{Card, CardLog, CardProcess};
use shared::analysis::Timeline;
use shared::base::{ShortSort, format};
use shared::report::{LogOwner, LogOwners};
use shared::trace::Device;
use std::cmp::Reverse;

/// Largest difference between the clocks of a snapshot and of nvidia-smi for one moment.
const SAME_MOMENT_MS: u64 = 60_000;

/// What PyTorch reserved on one GPU, as a snapshot states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardSnapshot {
    pub name: String,
    /// CUDA index.
    pub device: i64,
    pub end_bytes: u64,
    /// Reserved memory from each of its changes on, with microseconds since the Unix epoch; empty without a clock.
    changes: Vec<(i64, u64)>,
    /// Time of the last event in microseconds since the Unix epoch.
    end_us: Option<i64>,
}

/// Memory of one GPU by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardShares {
    /// Who has how much, and what is measured.
    pub text: String,
    /// The same as a bar; `None` if the files do not belong together.
    pub owners: Option<LogOwners>,
}

impl CardSnapshot {
    /// Reads the reserved memory of a device; `None` for pinned host memory and for devices without memory.
    pub fn of(name: &str, device: &Device, timeline: &Timeline) -> Option<Self> {
        let events = device.events.len();
        let end_bytes = timeline.reserved_at(events as u32);
        if device.index < 0 || timeline.reserved_peak().1 == 0 {
            return None;
        }
        let times_us = device.events.times_us();
        let mut changes: Vec<(i64, u64)> = Vec::new();
        for event in 0..if timeline.has_times() { events } else { 0 } {
            let bytes = timeline.reserved_at(event as u32 + 1);
            if changes.last().is_none_or(|(_, last)| *last != bytes) {
                changes.push((times_us.at(event), bytes));
            }
        }
        let end_us = events.checked_sub(1).filter(|_| timeline.has_times()).map(|last| times_us.at(last));
        Some(Self { name: name.to_owned(), device: device.index, end_bytes, changes, end_us })
    }

    fn bytes_at(&self, time_ms: i64) -> u64 {
        let after = self.changes.partition_point(|(time_us, _)| *time_us <= time_ms.saturating_mul(1000));
        after.checked_sub(1).map_or(0, |last| self.changes[last].1)
    }
}

/// Memory of a GPU that was in use, as a log states it.
#[derive(Clone, Debug, Default)]
struct Whole {
    used_bytes: u64,
    total_bytes: Option<u64>,
    /// Memory that the driver keeps for itself.
    driver_bytes: u64,
    /// Processes at that moment, if they are known.
    processes: Vec<CardProcess>,
    /// Time in milliseconds, if the snapshots have it as well.
    time_ms: Option<i64>,
    /// What measured it, with the name of the file.
    source: String,
}

/// Divides each GPU of which there is a snapshot and a log that states the memory in use.
pub fn card_shares(snapshots: &[CardSnapshot], logs: &[(String, Log)]) -> Vec<CardShares> {
    let mut devices: Vec<i64> = snapshots.iter().map(|snapshot| snapshot.device).collect();
    devices.sort_unstable();
    devices.dedup();
    let of_device = |device: &i64| {
        let own: Vec<&CardSnapshot> = snapshots.iter().filter(|snapshot| snapshot.device == *device).collect();
        let whole = whole(*device, devices.len() == 1, &own, logs)?;
        Some(shares(*device, &own, &whole, nccl_bytes(*device, logs)))
    };
    devices.iter().filter_map(of_device).collect()
}

/// Returns the memory in use on a GPU, of nvidia-smi rather than of an error.
fn whole(device: i64, is_only: bool, snapshots: &[&CardSnapshot], logs: &[(String, Log)]) -> Option<Whole> {
    let of_card = |(name, log): &(String, Log)| {
        let cards = &log.cards.cards;
        let same = cards.iter().find(|card| i64::from(card.index) == device);
        // `CUDA_VISIBLE_DEVICES` gives the only GPU the number 0.
        let card = same.or_else(|| cards.first().filter(|_| is_only && cards.len() == 1))?;
        of_card(name, card, &log.cards, snapshots)
    };
    let of_error = |(name, log): &(String, Log)| {
        let errors = log.printed.ooms.iter().map(|oom| &oom.error);
        let of_gpu = errors.filter(|oom| oom.gpu.is_some_and(|gpu| i64::from(gpu) == device));
        let mut sizes = of_gpu.filter_map(|oom| Some((oom.capacity_bytes?, oom.free_bytes?)));
        let (total_bytes, free_bytes) = sizes.next_back()?;
        Some(Whole {
            used_bytes: total_bytes.saturating_sub(free_bytes),
            total_bytes: Some(total_bytes),
            source: format!("the last out-of-memory error of {name}"),
            ..Whole::default()
        })
    };
    logs.iter().find_map(of_card).or_else(|| logs.iter().find_map(of_error))
}

/// Reads the sample nearest to the end of the first snapshot that ends, or else the last one.
fn of_card(name: &str, card: &Card, log: &CardLog, snapshots: &[&CardSnapshot]) -> Option<Whole> {
    let last = card.samples.last()?;
    let ends_us: Option<Vec<i64>> = snapshots.iter().map(|snapshot| snapshot.end_us).collect();
    let end_ms = ends_us.filter(|_| log.has_dates).and_then(|ends| ends.into_iter().min()).map(|end| end / 1000);
    let nearest = end_ms.and_then(|end| card.samples.iter().min_by_key(|sample| sample.time_ms.abs_diff(end)));
    let nearest = nearest.zip(end_ms).filter(|(sample, end)| sample.time_ms.abs_diff(*end) <= SAME_MOMENT_MS);
    let sample = nearest.map_or(last, |(sample, _)| sample);
    Some(Whole {
        used_bytes: sample.bytes,
        total_bytes: card.total_bytes,
        driver_bytes: card.reserved_bytes.unwrap_or(0),
        processes: if sample == last { card.processes.clone() } else { Vec::new() },
        time_ms: nearest.map(|(sample, end)| sample.time_ms.min(end)),
        source: format!("nvidia-smi in {name}"),
    })
}

/// Returns NCCL's memory on a GPU; `None` if no log has it, or if the log is of several machines.
fn nccl_bytes(device: i64, logs: &[(String, Log)]) -> Option<u64> {
    let processes = || logs.iter().flat_map(|(_, log)| &log.nccl.processes);
    let first = processes().next()?;
    if processes().any(|process| process.host != first.host) {
        return None;
    }
    let of_device = processes().filter(|process| i64::from(process.gpu.unwrap_or(process.device)) == device);
    Some(of_device.map(|process| process.paged_bytes).fold(0, u64::saturating_add)).filter(|bytes| *bytes > 0)
}

fn shares(device: i64, snapshots: &[&CardSnapshot], whole: &Whole, nccl: Option<u64>) -> CardShares {
    let at = |snapshot: &&CardSnapshot| match whole.time_ms {
        Some(time_ms) => snapshot.bytes_at(time_ms),
        None => snapshot.end_bytes,
    };
    let part = |snapshot: &&CardSnapshot| LogOwner { name: snapshot.name.clone(), bytes: at(snapshot) };
    let mut parts: Vec<LogOwner> = snapshots.iter().map(part).collect();
    let reserved: u64 = parts.iter().map(|part| part.bytes).fold(0, u64::saturating_add);
    let of_total = whole.total_bytes.map_or_else(String::new, |total| format!(" of {}", format::bytes(total)));
    let in_use = format::bytes(whole.used_bytes) + &of_total;
    if reserved > whole.used_bytes {
        let text = format!(
            "GPU {device}: PyTorch reserved {} in the snapshots, but {} says that {in_use} were in use. The files are not of one \
             moment, or not of this GPU.",
            format::bytes(reserved),
            whole.source
        );
        return CardShares { text, owners: None };
    }
    let outside = outside(whole, &parts, nccl);
    let text = text(device, &in_use, &parts, &outside, whole);
    parts.extend(outside);
    let rest = whole.total_bytes.map(|total| total.saturating_sub(whole.used_bytes).saturating_sub(whole.driver_bytes));
    let of_driver = (whole.driver_bytes > 0).then_some(("the driver, reserved", whole.driver_bytes));
    let others = of_driver.into_iter().chain(rest.map(|bytes| ("free", bytes)));
    parts.extend(others.map(|(name, bytes)| LogOwner { name: name.to_owned(), bytes }));
    let capacity_bytes = whole.total_bytes.unwrap_or(whole.used_bytes);
    CardShares { text, owners: Some(LogOwners { title: format!("GPU {device} by file"), capacity_bytes, parts }) }
}

/// Divides what is in use beside the snapshots.
fn outside(whole: &Whole, snapshots: &[LogOwner], nccl: Option<u64>) -> Vec<LogOwner> {
    let reserved: u64 = snapshots.iter().map(|part| part.bytes).sum();
    let mut rest = whole.used_bytes - reserved;
    let mut parts = Vec::new();
    let mut add = |name: &str, bytes: u64| {
        let bytes = bytes.min(rest);
        rest -= bytes;
        if bytes > 0 {
            parts.push(LogOwner { name: name.to_owned(), bytes });
        }
    };
    // More than the remainder is NCCL's sum of another moment.
    let nccl = nccl.filter(|bytes| *bytes <= whole.used_bytes - reserved);
    add("NCCL", nccl.unwrap_or(0));
    match own_processes(&whole.processes, snapshots) {
        Some((own, others)) => {
            let beside = own.saturating_sub(reserved).saturating_sub(nccl.unwrap_or(0));
            add("CUDA contexts and libraries of these processes", beside);
            add("other processes", others);
            add("the driver and what it does not list", u64::MAX);
        }
        None => add("CUDA contexts, libraries and other processes", u64::MAX),
    }
    parts
}

/// Returns the memory of the processes of the snapshots, and that of all others; `None` if a snapshot has no process.
///
/// A process has at least what PyTorch reserved in it; the smallest such process is the one.
fn own_processes(processes: &[CardProcess], snapshots: &[LogOwner]) -> Option<(u64, u64)> {
    let mut sizes: Vec<u64> = processes.iter().map(|process| process.bytes).collect();
    sizes.sort_unstable();
    let mut reserved: Vec<u64> = snapshots.iter().map(|part| part.bytes).collect();
    reserved.short_sort_by_key(|bytes| Reverse(*bytes));
    let mut own = 0_u64;
    for bytes in reserved {
        let position = sizes.partition_point(|size| *size < bytes);
        if position == sizes.len() {
            return None;
        }
        own = own.saturating_add(sizes.remove(position));
    }
    Some((own, sizes.into_iter().fold(0, u64::saturating_add)))
}

fn text(device: i64, in_use: &str, snapshots: &[LogOwner], outside: &[LogOwner], whole: &Whole) -> String {
    let named = |parts: &[LogOwner]| {
        let named = parts.iter().map(|part| format!("{} {}", part.name, format::bytes(part.bytes)));
        named.collect::<Vec<_>>().join(", ")
    };
    let beside: u64 = outside.iter().map(|part| part.bytes).sum();
    let when = if whole.time_ms.is_some() { "at that moment" } else { "at their ends" };
    let has_nccl = outside.first().is_some_and(|part| part.name == "NCCL");
    let of_nccl = if has_nccl { ", NCCL's log what it allocated" } else { "" };
    // Names such as nvidia-smi have no capital letter.
    let source = whole.source.strip_prefix("the ").map_or(whole.source.clone(), |rest| format!("The {rest}"));
    format!(
        "GPU {device}, {in_use} in use: {}, outside PyTorch {}{}{}. {} measured what was in use, the snapshots what PyTorch \
         had reserved {when}{of_nccl}; the last part is the remainder.",
        named(snapshots),
        format::bytes(beside),
        if outside.is_empty() { "" } else { ": " },
        named(outside),
        source,
    )
}

#[cfg(test)]
mod tests;
