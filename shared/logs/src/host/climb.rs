//! Finds host memory that climbs: again and again within each epoch, or through the whole log.
//!
//! ```text
//! GiB   /|    /|
//!     /  |  /  |  /      climbs by 2 within each epoch, falls at its end
//! 4 /    |/    |/
//! ```
//!
//! A rise counts if it is steady: memory that jumps and then stays, as when a model is loaded or workers are started, is
//! no climb. So each rise is measured without its first tenth, and its quarters have to be spread over the rest.

use super::kinds::{Family, families, file_sums, own, sums};
use super::log::{HostLog, Process, Total};
use super::teeth::{Leg, legs};
use shared::base::ShortSort;
use std::cmp::Reverse;
use std::ops::Range;

/// Smallest climb that counts, in bytes and as a fraction of the highest memory.
const LEAST_BYTES: u64 = 64 << 20;
const LEAST_SHARE: f64 = 0.05;

/// Fraction of the range by which memory has to go back before a rise ends.
const TURN: f64 = 0.3;

/// Samples that a rise needs to be judged.
const LEAST_SAMPLES: usize = 8;

/// Fraction of a rise that is left out at its beginning.
const START: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Climber {
    /// Position in [`HostLog::processes`].
    pub process: usize,
    /// Bytes by which it climbs in a rise, on average over the rises during which it lives.
    pub bytes: u64,
    /// Bytes by which its resident set climbs in a rise, likewise.
    pub rss_bytes: u64,
    pub rises: usize,
    /// True if it ends within the fall after a rise.
    pub ends_with_rise: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Climb {
    pub family: Family,
    /// True if the figures are of proportional sets, in which shared pages count once.
    pub has_pss: bool,
    pub rises: Vec<Leg>,
    /// True if memory falls after rises, so that they are of epochs.
    pub falls: bool,
    /// True if memory climbs for less than half of the log and then stays.
    pub settles: bool,
    /// Median of the climbs, in bytes.
    pub climb_bytes: u64,
    /// Median of the times from the beginning of a rise to that of the next, in milliseconds; of a single rise, its own
    /// duration.
    pub epoch_ms: i64,
    pub bytes_per_s: f64,
    /// Bytes per step within rises, if the log mentions steps.
    pub bytes_per_step: Option<u64>,
    /// Bytes by which the lows after the falls rise from one to the next, if they always rise.
    pub kept_bytes: Option<u64>,
    /// Median of the lows from which memory rises.
    pub base_bytes: u64,
    pub peak_bytes: u64,
    /// Processes that climb, the fastest first.
    pub climbers: Vec<Climber>,
    /// Largest number of them that climb within the same rise.
    pub at_once: usize,
    /// Memory of the machine, and the bytes of it that other processes of the log use at the last sample.
    pub machine: Option<(Total, u64)>,
}

/// Returns the family of processes whose own memory climbs the most; `None` if none climbs.
///
/// Pages of files and shared memory are left out, if the log tells them apart.
pub fn climb_of(log: &HostLog) -> Option<Climb> {
    let own = own(log);
    let all = families(log).into_iter().filter_map(|family| climb(&own, family, LEAST_BYTES));
    all.max_by_key(|climb| climb.climb_bytes)
}

/// Returns the family of which pages of files climb the most; `None` if they climb in none.
pub fn file_climb(log: &HostLog) -> Option<Climb> {
    let of = |family: Family| {
        let climb = curve_climb(&log.times_ms, &file_sums(log, &family), LEAST_BYTES)?;
        Some(Climb { family, ..climb })
    };
    families(log).into_iter().filter_map(of).max_by_key(|climb| climb.climb_bytes)
}

/// Returns the climb of the memory that the whole machine has in use; `None` if it does not climb.
pub fn machine_climb(log: &HostLog) -> Option<Climb> {
    let times: Vec<i64> = log.machine.samples.iter().map(|&sample| log.times_ms[sample as usize]).collect();
    curve_climb(&times, &log.machine.used_bytes(), LEAST_BYTES)
}

/// Returns the climb of a curve by at least `least_bytes`, which is judged as the memory of a process would be.
pub fn curve_climb(times_ms: &[i64], bytes: &[u64], least_bytes: u64) -> Option<Climb> {
    let kib = |&bytes: &u64| u32::try_from(bytes >> 10).unwrap_or(u32::MAX);
    let process = Process {
        samples: (0..times_ms.len() as u32).collect(),
        rss_kib: bytes.iter().map(kib).collect(),
        ..Process::default()
    };
    let alone = HostLog { times_ms: times_ms.to_vec(), processes: vec![process], ..HostLog::default() };
    climb(&alone, Family { processes: vec![0], ..Family::default() }, least_bytes)
}

fn climb(log: &HostLog, family: Family, least_bytes: u64) -> Option<Climb> {
    let sums = sums(log, &family.processes);
    // Before its first process and after its last one, the family has no memory to judge.
    let first = sums.iter().position(|bytes| *bytes > 0)?;
    let last = sums.iter().rposition(|bytes| *bytes > 0)?;
    let alive = &sums[first..=last];
    let (low, high) = (*alive.iter().min()?, *alive.iter().max()?);
    let least = least_bytes.max((high as f64 * LEAST_SHARE) as u64);
    let threshold = (((high - low) as f64 * TURN) as u64).max(least);
    let moved = |leg: Leg| Leg { start: leg.start + first, end: leg.end + first, ..leg };
    let all = legs(alive, threshold).into_iter().map(moved).filter(|leg| leg.is_rise());
    let (whole, rises): (Vec<Leg>, Vec<Leg>) = all.filter_map(|leg| Some((leg, steady(&sums, leg, least)?))).unzip();
    // A single rise has to fill most of the log, since many programs rise while they start.
    let is_whole = |rise: &Leg| (rise.end - rise.start) * 2 > last - first;
    let settles = rises.len() == 1 && !is_whole(&rises[0]);
    if rises.is_empty() || (settles && !copies(log, &family, &rises[0])) {
        return None;
    }
    let spans: Vec<i64> = match whole.as_slice() {
        [only] => vec![log.times_ms[only.end] - log.times_ms[only.start]],
        // The log can begin within the first epoch.
        [_, others @ ..] if others.len() > 1 => between_starts(log, others),
        both => between_starts(log, both),
    };
    let seconds: f64 = rises.iter().map(|rise| (log.times_ms[rise.end] - log.times_ms[rise.start]) as f64 / 1e3).sum();
    let climbed: u64 = rises.iter().map(|rise| rise.to - rise.from).sum();
    // The first rise begins where the program starts, and the last fall can be its end.
    let lows: Vec<u64> = whole.iter().skip(1).map(|leg| leg.from).collect();
    let used_bytes: u64 = log.processes.iter().filter_map(|process| last_bytes(log, process)).sum();
    let shared_bytes = log.shared.samples.last().map_or(0, |last| last.used_bytes);
    let others_bytes = used_bytes - sums[sums.len() - 1] + shared_bytes;
    let (climbers, at_once) = climbers(log, &family, &rises);
    Some(Climb {
        has_pss: family.processes.iter().all(|&process| log.processes[process].has_pss()),
        falls: rises.len() > 1,
        settles,
        climb_bytes: median(rises.iter().map(|rise| rise.to - rise.from).collect()),
        epoch_ms: median(spans),
        bytes_per_s: if seconds > 0.0 { climbed as f64 / seconds } else { 0.0 },
        bytes_per_step: per_step(log, &rises),
        kept_bytes: kept(&lows),
        base_bytes: median(rises.iter().map(|rise| rise.from).collect()),
        peak_bytes: high,
        climbers,
        at_once,
        machine: log.total.map(|total| (total, others_bytes)),
        family,
        rises,
    })
}

/// Returns true if proportional sets climb in a rise while resident sets stay: pages that processes shared are copied.
///
/// That is a climb however long it takes, since it ends when all pages are copied.
fn copies(log: &HostLog, family: &Family, rise: &Leg) -> bool {
    let processes = || family.processes.iter().map(|&process| &log.processes[process]);
    let climbed = |kib: fn(&Process) -> &[u32]| -> u64 {
        processes().filter_map(|process| within(process, kib(process), rise)).sum()
    };
    let resident = climbed(|process| &process.rss_kib);
    processes().count() > 1 && processes().all(Process::has_pss) && resident * 2 < climbed(Process::counted_kib)
}

/// Returns the bytes of a process at the last sample of the log, if it lives then.
fn last_bytes(log: &HostLog, process: &Process) -> Option<u64> {
    let is_alive = process.samples.last().is_some_and(|&last| last as usize + 1 == log.times_ms.len());
    process.counted_kib().last().filter(|_| is_alive).map(|&kib| u64::from(kib) << 10)
}

fn between_starts(log: &HostLog, rises: &[Leg]) -> Vec<i64> {
    rises.windows(2).map(|pair| log.times_ms[pair[1].start] - log.times_ms[pair[0].start]).collect()
}

/// Returns a rise without its beginning if the rest is steady.
///
/// Steady means that a quarter, a half and three quarters of it are reached neither at once nor only at the end.
fn steady(sums: &[u64], leg: Leg, least: u64) -> Option<Leg> {
    let start = leg.start + (leg.end - leg.start) / START;
    let rise = Leg { start, from: sums[start], ..leg };
    let bytes = rise.to.checked_sub(rise.from).filter(|&bytes| bytes >= least)?;
    let length = rise.end - rise.start;
    let reached = |quarters: u64| {
        let wanted = rise.from + bytes / 4 * quarters;
        let at = sums[rise.start..=rise.end].iter().position(|&value| value >= wanted).unwrap_or(length);
        at as f64 / length as f64
    };
    let is_steady = reached(1) >= 0.05 && (0.25..=0.8).contains(&reached(2)) && reached(3) <= 0.95;
    (length + 1 >= LEAST_SAMPLES && is_steady).then_some(rise)
}

/// Returns the average rise from one low to the next, if each is higher than the one before.
fn kept(lows: &[u64]) -> Option<u64> {
    let always = lows.len() >= 2 && lows.windows(2).all(|pair| pair[1] > pair[0]);
    let bytes = always.then(|| (lows[lows.len() - 1] - lows[0]) / (lows.len() as u64 - 1))?;
    (bytes >= LEAST_BYTES / 4 && bytes as f64 >= LEAST_SHARE * lows[0] as f64 / 2.0).then_some(bytes)
}

fn per_step(log: &HostLog, rises: &[Leg]) -> Option<u64> {
    let (mut bytes, mut steps) = (0, 0);
    for rise in rises {
        let at = |sample: usize| log.steps.partition_point(|(one, _)| (*one as usize) < sample);
        if let [(_, first), .., (_, last)] = log.steps[at(rise.start)..at(rise.end + 1)] {
            (bytes, steps) = (bytes + rise.to - rise.from, steps + last.saturating_sub(first));
        }
    }
    (steps > 0).then(|| bytes / steps)
}

/// Returns the processes that climb, the fastest first, and the largest number of them that climb within the same rise.
fn climbers(log: &HostLog, family: &Family, rises: &[Leg]) -> (Vec<Climber>, usize) {
    let average = |climbed: &[u64]| climbed.iter().sum::<u64>().checked_div(climbed.len() as u64);
    let of = |&position: &usize| {
        let process = &log.processes[position];
        let rises = &rises[during(process, rises)];
        let climbed = |kib: &[u32]| -> Vec<u64> {
            rises.iter().filter_map(|rise| within(process, kib, rise)).filter(|bytes| *bytes > 0).collect()
        };
        let counted = climbed(process.counted_kib());
        let last = *process.samples.last()? as usize;
        Some(Climber {
            process: position,
            bytes: average(&counted)?,
            rss_bytes: average(&climbed(&process.rss_kib)).unwrap_or(0),
            rises: counted.len(),
            ends_with_rise: last + 1 < log.times_ms.len()
                && rises.last().is_some_and(|rise| last.abs_diff(rise.end) <= 2),
        })
    };
    let mut climbers: Vec<Climber> = family.processes.iter().filter_map(of).collect();
    climbers.short_sort_by_key(|climber| Reverse(climber.bytes));
    // Who climbs by less than a tenth of the fastest one does not explain anything.
    let most = climbers.first().map_or(0, |climber| climber.bytes);
    climbers.retain(|climber| climber.bytes * 10 >= most);
    let mut counts = vec![0_usize; rises.len()];
    for climber in &climbers {
        let process = &log.processes[climber.process];
        for rise in during(process, rises) {
            let bytes = within(process, process.counted_kib(), &rises[rise]);
            counts[rise] += usize::from(bytes.is_some_and(|bytes| bytes > 0));
        }
    }
    (climbers, counts.into_iter().max().unwrap_or(0))
}

/// Returns the positions of the rises during which a process lives, at least for a moment.
fn during(process: &Process, rises: &[Leg]) -> Range<usize> {
    let (Some(&first), Some(&last)) = (process.samples.first(), process.samples.last()) else { return 0..0 };
    let start = rises.partition_point(|rise| rise.end < first as usize);
    start..rises.partition_point(|rise| rise.start <= last as usize).max(start)
}

/// Returns the bytes by which a process climbs within a rise; `None` if it lives in less than a half of it.
fn within(process: &Process, kib: &[u32], rise: &Leg) -> Option<u64> {
    let at = |sample: usize| process.samples.partition_point(|&one| (one as usize) < sample);
    let (first, end) = (at(rise.start), at(rise.end + 1));
    let values = &kib[first..end];
    let bytes = u64::from(values.last()?.saturating_sub(*values.first()?)) << 10;
    (values.len() * 2 > rise.end - rise.start).then_some(bytes)
}

/// Returns the median, the lower one of two; the default value for none.
fn median<T: Copy + Default + Ord>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a log with a sample a second; each process has a user, a command and its MiB, 0 where it does not live.
    fn log(processes: &[(&str, Vec<u32>)]) -> HostLog {
        let samples = processes.iter().map(|(_, mib)| mib.len()).max().unwrap_or(0);
        let process = |(position, (command, mib)): (usize, &(&str, Vec<u32>))| {
            let alive = || mib.iter().enumerate().filter(|(_, mib)| **mib > 0);
            Process {
                pid: 100 + position as u32,
                user: "ml".to_owned(),
                command: (*command).to_owned(),
                samples: alive().map(|(sample, _)| sample as u32).collect(),
                rss_kib: alive().map(|(_, mib)| mib << 10).collect(),
                ..Process::default()
            }
        };
        HostLog {
            times_ms: (0..samples as i64).map(|second| second * 1000).collect(),
            processes: processes.iter().enumerate().map(process).collect(),
            ..HostLog::default()
        }
    }

    /// Memory of a worker of each of three epochs of 40 s, by 10 MiB a second; there are 5 s between epochs.
    fn worker(epoch: usize) -> Vec<u32> {
        let mib = |second: usize| if second % 45 < 40 { 500 + (second % 45) as u32 * 10 } else { 0 };
        (0..135).map(|second| if second / 45 == epoch { mib(second) } else { 0 }).collect()
    }

    #[test]
    fn workers_that_climb_within_each_epoch() {
        let main = ("python train.py", vec![2000; 135]);
        let [one, two, three] = [0, 1, 2].map(|epoch| ("python train.py", worker(epoch)));
        let log = log(&[main, one, two, three]);
        let climb = climb_of(&log).unwrap();
        assert_eq!((climb.rises.len(), climb.falls, climb.kept_bytes), (3, true, None));
        assert!((330 << 20..=400 << 20).contains(&climb.climb_bytes), "{}", climb.climb_bytes >> 20);
        assert!((climb.bytes_per_s / f64::from(10 << 20) - 1.0).abs() < 0.05, "{}", climb.bytes_per_s);
        assert_eq!(climb.epoch_ms, 45_000);
        let pids: Vec<u32> = climb.climbers.iter().map(|one| log.processes[one.process].pid).collect();
        assert_eq!((pids.as_slice(), climb.at_once), (&[101, 102, 103][..], 1));
        assert!(climb.climbers[..2].iter().all(|one| one.ends_with_rise && one.rises == 1));
    }

    #[test]
    fn one_process_climbs_and_keeps_a_part() {
        let mib = (0..160_u32).map(|second| 1000 + second / 40 * 100 + second % 40 * 20).collect();
        let log = log(&[("/usr/bin/python3.11 -u train.py", mib)]);
        let climb = climb_of(&log).unwrap();
        assert_eq!((climb.rises.len(), climb.kept_bytes), (4, Some(100 << 20)));
        assert_eq!(climb.family.name, "python train.py");
        assert_eq!((climb.climbers.len(), climb.climbers[0].rises, climb.climbers[0].ends_with_rise), (1, 4, false));
    }

    #[test]
    fn a_climb_through_the_whole_log() {
        let climb = climb_of(&log(&[("python a.py", (0..100).map(|second| 1000 + second * 5).collect())])).unwrap();
        assert_eq!((climb.rises.len(), climb.falls), (1, false));
        assert!((climb.bytes_per_s / f64::from(5 << 20) - 1.0).abs() < 0.05);
    }

    #[test]
    fn pages_of_files_are_told_from_memory_of_the_process() {
        let mut log = log(&[("python a.py", (0..100).map(|second| 1000 + second * 5).collect())]);
        log.processes[0].file_kib = (0..100).map(|second| (500 + second * 5) << 10).collect();
        assert_eq!(climb_of(&log), None);
        assert_eq!(file_climb(&log).unwrap().rises.len(), 1);
        log.processes[0].file_kib = vec![500 << 10; 100];
        assert!(climb_of(&log).is_some() && file_climb(&log).is_none());
    }

    #[test]
    fn starts_plateaus_and_noise_are_no_climbs() {
        let started = |second: u32| if second < 5 { 100 + second * 700 } else { 4000 };
        let noisy = |second: u32| 4000 + second * 7919 % 150;
        let warm = |second: u32| 4000 - 3000 / (second + 1);
        let loads = |second: u32| if second % 30 < 3 { 4000 } else { 2000 };
        for shape in [started, noisy, warm, loads] {
            let log = log(&[("python a.py", (0..200).map(shape).collect())]);
            assert_eq!(climb_of(&log), None);
        }
        assert_eq!(climb_of(&HostLog::default()), None);
    }

    #[test]
    fn steps_of_the_log_divide_the_climb() {
        let mut log = log(&[("python a.py", (0..100).map(|second| 1000 + second * 5).collect())]);
        log.steps = (0..100).map(|sample| (sample, u64::from(sample) * 2)).collect();
        let per_step = climb_of(&log).unwrap().bytes_per_step.unwrap() as f64;
        assert!((per_step / (2.5 * f64::from(1 << 20)) - 1.0).abs() < 0.05, "{per_step}");
    }
}
