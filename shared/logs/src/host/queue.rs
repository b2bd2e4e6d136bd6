//! Finds shared memory that nobody gives back, and queues of batches in it that are most of a program's memory.
//!
//! Workers of a data loader send batches through shared memory. A block that all processes have closed but nobody has
//! removed is in no process's memory, so that files in `/dev/shm` count as well as what processes have mapped.

use super::climb::{Climb, curve_climb};
use super::kinds::{Family, families, own, shmem_sums, sums};
use super::log::{HostLog, Process, SharedFolder};
use super::teeth::Leg;

/// Smallest climb that counts, in bytes, and as a fraction of `/dev/shm`, which has 64 MiB in many containers.
const LEAST_BYTES: u64 = 64 << 20;
const LEAST_OF_FOLDER: u64 = 4;

/// Fraction of the peak that shared memory has to be to count as most of it.
const MOST: f64 = 0.5;

/// Fraction of its highest that shared memory has to have in half of the samples for queues to count as full.
const FULL: f64 = 0.7;

/// Fraction of its highest below which shared memory has to fall afterwards: data that was put there once does not.
const DRAINED: f64 = 0.5;

/// Smallest number of files at a time, and of files that come for each of them: data that was put there once is a few
/// files that stay.
const LEAST_FILES: u64 = 4;
const TURNOVER: u64 = 2;

/// Number of small falls, as fractions of the highest, that a queue without files has: data that was put there once has
/// none.
const LEAST_FALLS: usize = 8;
const SMALL_FALL: std::ops::Range<f64> = 0.005..0.3;

#[derive(Clone, Debug, PartialEq)]
pub struct SharedClimb {
    pub climb: Climb,
    /// Highest memory of new files in `/dev/shm` that no process of the program has mapped, at the end of the log.
    pub unmapped_bytes: u64,
    /// False if the log does not tell whether the shared memory of the machine climbs as well.
    ///
    /// A process that reads files in `/dev/shm`, or in another folder in memory, maps pages that were there before.
    pub is_certain: bool,
}

/// Shared memory that is most of a program's memory at its peak, in queues that are full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedPeak {
    pub family: Family,
    pub bytes: u64,
    /// All memory of the program then.
    pub peak_bytes: u64,
    /// Fraction of the samples with shared memory in which it is nearly as high, in percent.
    pub full_percent: u64,
    /// Number of processes that the main one had started at that time.
    pub workers: usize,
}

/// Returns the program whose shared memory climbs the most; `None` if none climbs.
pub fn shared_climb(log: &HostLog) -> Option<SharedClimb> {
    let machine = log.shared.machine_at_each(log.times_ms.len());
    let of = |(position, family): (usize, Family)| {
        let [mapped, new, bytes] = shared_memory(log, position, &family);
        let unmapped_bytes = new.last()?.saturating_sub(*mapped.last()?);
        let climb = curve_climb(&log.times_ms, &bytes, least_bytes(log))?;
        let climbs =
            |curve: &Vec<u64>| rises_in(curve, &climb.rises) as f64 >= MOST * rises_in(&bytes, &climb.rises) as f64;
        let is_certain = climbs(&new) || machine.as_ref().is_some_and(climbs);
        // Queues fill at the start, and then stay full.
        let counts = !climb.settles && (is_certain || machine.is_none());
        let climb = Climb { family, has_pss: true, ..climb };
        counts.then_some(SharedClimb { climb, unmapped_bytes, is_certain })
    };
    let all = families(log).into_iter().enumerate().filter_map(of);
    all.max_by_key(|shared| shared.climb.climb_bytes)
}

/// Returns the bytes that a family has mapped, those of new files, and the larger of both, at each sample.
fn shared_memory(log: &HostLog, position: usize, family: &Family) -> [Vec<u64>; 3] {
    let (mapped, new) = (shmem_sums(log, family), new_files(log, position));
    let larger = mapped.iter().zip(&new).map(|(mapped, new)| *mapped.max(new)).collect();
    [mapped, new, larger]
}

/// Returns the bytes by which a curve rises within some rises of another one.
fn rises_in(curve: &[u64], rises: &[Leg]) -> u64 {
    rises.iter().map(|rise| curve[rise.end].saturating_sub(curve[rise.start])).sum()
}

/// Returns the program of which shared memory is most of the peak, because its queues are full; `None` if there is none.
pub fn shared_peak(log: &HostLog) -> Option<SharedPeak> {
    let own = own(log);
    let machine = log.shared.machine_at_each(log.times_ms.len());
    let of = |(position, family): (usize, Family)| {
        let [_, new, shared] = shared_memory(log, position, &family);
        let bytes = *shared.iter().max()?;
        let at = shared.iter().position(|one| *one == bytes)?;
        let peak_bytes = sums(&own, &family.processes)[at] + bytes;
        let is_most = bytes >= least_bytes(log) && bytes as f64 >= MOST * peak_bytes as f64;
        let some = shared.iter().filter(|one| **one * 20 > bytes).count();
        let full = shared.iter().filter(|one| **one as f64 >= FULL * bytes as f64).count();
        let is_queue = match new[at] as f64 >= MOST * bytes as f64 {
            true => has_turnover(&log.shared),
            false => {
                let is_freed = machine.as_ref().is_some_and(|machine| is_drained(&above_least(machine)[at..]));
                is_freed && is_drained(&shared[at..]) && moves(&shared)
            }
        };
        let is_worker = |&process: &usize| {
            let Process { samples, command, .. } = &log.processes[process];
            samples.binary_search(&(at as u32)).is_ok() && !command.contains("resource_tracker")
        };
        (is_most && is_queue && full * 2 >= some).then(|| SharedPeak {
            bytes,
            peak_bytes,
            full_percent: (full * 100 / some.max(1)) as u64,
            workers: family.processes.iter().copied().filter(is_worker).count().saturating_sub(1),
            family,
        })
    };
    families(log).into_iter().enumerate().filter_map(of).max_by_key(|shared| shared.bytes)
}

/// Returns the bytes of new files that no process has mapped at each sample; `None` if there are never any.
pub fn unmapped(log: &HostLog) -> Option<Vec<u64>> {
    let everyone = Family { processes: (0..log.processes.len()).collect(), ..Family::default() };
    let mapped = shmem_sums(log, &everyone);
    let bytes: Vec<u64> =
        new_files(log, 0).iter().zip(&mapped).map(|(new, mapped)| new.saturating_sub(*mapped)).collect();
    bytes.iter().any(|bytes| *bytes > 0).then_some(bytes)
}

/// Returns the bytes of new files at each sample; they are of the program with the most memory, the first family.
fn new_files(log: &HostLog, family: usize) -> Vec<u64> {
    let samples = log.times_ms.len();
    if family == 0 { log.shared.at_each(|one| one.new_bytes, samples) } else { vec![0; samples] }
}

fn least_bytes(log: &HostLog) -> u64 {
    log.shared.size_bytes.map_or(LEAST_BYTES, |size| LEAST_BYTES.min(size / LEAST_OF_FOLDER)).max(1 << 20)
}

fn above_least(machine: &[u64]) -> Vec<u64> {
    let least = machine.iter().min().copied().unwrap_or(0);
    machine.iter().map(|bytes| bytes - least).collect()
}

fn is_drained(after: &[u64]) -> bool {
    let peak = after.first().copied().unwrap_or(0) as f64;
    after.iter().any(|bytes| (*bytes as f64) < DRAINED * peak)
}

fn has_turnover(folder: &SharedFolder) -> bool {
    let most = folder.samples.iter().map(|one| u64::from(one.new_files)).max().unwrap_or(0);
    most >= LEAST_FILES && folder.files_so_far >= TURNOVER * most
}

fn moves(shared: &[u64]) -> bool {
    let highest = shared.iter().max().map_or(1, |most| *most.max(&1)) as f64;
    let fall = |pair: &[u64]| SMALL_FALL.contains(&(pair[0].saturating_sub(pair[1]) as f64 / highest));
    shared.windows(2).filter(|pair| fall(pair)).count() >= LEAST_FALLS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::log::SharedSample;

    /// Returns a log with a sample a second of a process of 100 MiB without shared memory, and what the process has mapped.
    fn log(mapped_mib: &[u32]) -> HostLog {
        let process = Process {
            pid: 100,
            command: "python train.py".to_owned(),
            samples: (0..mapped_mib.len() as u32).collect(),
            rss_kib: mapped_mib.iter().map(|mib| (100 + mib) << 10).collect(),
            shmem_kib: mapped_mib.iter().map(|mib| mib << 10).collect(),
            file_kib: vec![0; mapped_mib.len()],
            ..Process::default()
        };
        let times_ms = (0..mapped_mib.len() as i64).map(|second| second * 1000).collect();
        let machine = mapped_mib.iter().enumerate().map(|(at, mib)| (at as u32, u64::from(50 + mib) << 20)).collect();
        let shared = SharedFolder { machine, ..SharedFolder::default() };
        HostLog { times_ms, processes: vec![process], shared, ..HostLog::default() }
    }

    /// Returns a log in which no process has the shared memory mapped.
    fn in_files(mib: &[u32], files_so_far: u64) -> HostLog {
        let sample = |(sample, mib): (usize, &u32)| {
            let bytes = u64::from(*mib) << 20;
            SharedSample { sample: sample as u32, new_files: mib / 4, new_bytes: bytes, used_bytes: bytes }
        };
        let samples = mib.iter().enumerate().map(sample).collect();
        let shared = SharedFolder { samples, files_so_far, ..SharedFolder::default() };
        HostLog { shared, ..log(&vec![0; mib.len()]) }
    }

    #[test]
    fn blocks_that_nobody_removes_climb() {
        let mib: Vec<u32> = (0..100).map(|second| second * 4).collect();
        for (log, unmapped_mib) in [(log(&mib), 0), (in_files(&mib, 99), 396)] {
            let found = shared_climb(&log).unwrap();
            assert_eq!((found.climb.falls, found.unmapped_bytes >> 20), (false, unmapped_mib));
            assert!(found.is_certain);
            assert_eq!(found.climb.family.name, "python train.py");
            assert!((350..=396).contains(&(found.climb.climb_bytes >> 20)), "{}", found.climb.climb_bytes >> 20);
            assert_eq!(unmapped(&log).map(|bytes| bytes[99] >> 20), Some(unmapped_mib).filter(|mib| *mib > 0));
            assert_eq!(super::super::climb_of(&log), None, "the process's own memory stays");
        }
    }

    #[test]
    fn files_in_memory_that_are_read_are_no_climb() {
        let mib: Vec<u32> = (0..100).map(|second| second * 4).collect();
        let mut log = log(&mib);
        log.shared.machine = vec![(0, 500 << 20)];
        assert_eq!(shared_climb(&log), None);
        log.shared.machine.clear();
        assert!(!shared_climb(&log).unwrap().is_certain);
        let mut log = self::log(&queue(30));
        log.shared.machine = vec![(0, 500 << 20)];
        assert_eq!(shared_peak(&log), None);
    }

    #[test]
    fn a_small_folder_fills_with_little() {
        let mib: Vec<u32> = (0..60).map(|second| second / 2).collect();
        let mut log = in_files(&mib, 30);
        assert_eq!(shared_climb(&log), None, "29 MiB are nothing");
        log.shared.size_bytes = Some(64 << 20);
        assert!(shared_climb(&log).is_some());
    }

    /// Returns a queue that fills within three seconds, is full for some, and is drained at the end.
    fn queue(full: u32) -> Vec<u32> {
        let drained = (0..20).map(|second| 200 - second * 10);
        [0, 100, 150].into_iter().chain((0..full).map(|second| 200 - second % 2 * 4)).chain(drained).collect()
    }

    #[test]
    fn queues_that_are_full_are_most_of_the_peak() {
        for log in [log(&queue(30)), in_files(&queue(30), 500)] {
            let found = shared_peak(&log).unwrap();
            assert_eq!((found.bytes >> 20, found.peak_bytes >> 20), (200, 300));
            assert!(found.full_percent > 60, "{}", found.full_percent);
            assert_eq!(shared_climb(&log), None);
        }
    }

    #[test]
    fn other_shared_memory_is_no_queue() {
        let data = [vec![0, 200], vec![200; 60]].concat();
        assert_eq!(shared_peak(&log(&data)), None, "data that stays as it is");
        assert_eq!(shared_peak(&in_files(&data, 50)), None, "in files that stay as they are");
        let removed = [data, vec![0; 20]].concat();
        assert_eq!(shared_peak(&log(&removed)), None, "data that is removed at the end");
        assert_eq!(shared_peak(&in_files(&removed, 50)), None, "files that are removed at the end");
        let often_empty: Vec<u32> = (0..60).map(|second| if second % 10 == 0 { 200 } else { 20 }).collect();
        assert_eq!(shared_peak(&log(&often_empty)), None, "workers that are slower than the training");
        let shallow: Vec<u32> = queue(30).into_iter().map(|mib| mib / 4).collect();
        assert_eq!(shared_peak(&log(&shallow)), None, "50 MiB beside 100 MiB");
        assert_eq!(shared_peak(&HostLog::default()), None);
        assert_eq!(shared_climb(&HostLog::default()), None);
    }
}
