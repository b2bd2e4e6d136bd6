//! Splits the memory of processes by what it consists of: their own, pages of files, and shared memory.
//!
//! Pages of files are the system's cache: it drops them when memory is needed, so that they are no climb of a program.

use super::family::{Family, sums};
use super::log::{HostLog, Process};
use std::borrow::Cow;

/// Returns a log with the memory of the processes' own, such as heaps, as far as the log tells it from other memory.
///
/// A log that does not tell them apart is returned itself, since it can have millions of values.
pub(super) fn own(log: &HostLog) -> Cow<'_, HostLog> {
    let has_kinds = |process: &Process| !(process.file_kib.is_empty() && process.shmem_kib.is_empty());
    if !log.processes.iter().any(has_kinds) {
        return Cow::Borrowed(log);
    }
    let process = |process: &Process| {
        let less = |kib: &[u32]| -> Vec<u32> {
            let of = |values: &[u32], at: usize| values.get(at).copied().unwrap_or(0);
            let [file, shmem] = [&process.file_kib, &process.shmem_kib].map(|values| aligned(process, values));
            let own = |(at, kib): (usize, &u32)| kib.saturating_sub(of(file, at)).saturating_sub(of(shmem, at));
            kib.iter().enumerate().map(own).collect()
        };
        let mut own = Process { parts: None, ..process.clone() };
        match process.has_pss() {
            true => own.pss_kib = less(&process.pss_kib),
            false => own.rss_kib = less(&process.rss_kib),
        }
        own
    };
    Cow::Owned(HostLog {
        times_ms: log.times_ms.clone(),
        processes: log.processes.iter().map(process).collect(),
        total: log.total,
        steps: log.steps.clone(),
        shared: log.shared.clone(),
        ..HostLog::default()
    })
}

/// Returns the most that all processes have at one time, with shared memory and without pages of files.
///
/// `None` without proportional sets: resident ones count a page once for each process that shares it.
pub fn most_bytes(log: &HostLog) -> Option<u64> {
    if log.processes.is_empty() || !log.processes.iter().all(Process::has_pss) {
        return None;
    }
    let everyone = Family { processes: (0..log.processes.len()).collect(), ..Family::default() };
    let [mapped, own] = [shmem_sums(log, &everyone), sums(&own(log), &everyone.processes)];
    let folder = log.shared.at_each(&log.shared.used_bytes, own.len());
    // What is in /dev/shm is also in the memory of processes that have it mapped.
    own.iter().zip(&mapped).zip(&folder).map(|((own, mapped), folder)| own + mapped.max(folder)).max()
}

/// Returns the bytes of shared memory that the processes of a family have mapped, at each sample of the log.
pub(super) fn shmem_sums(log: &HostLog, family: &Family) -> Vec<u64> {
    sums_of(log, family, |process| &process.shmem_kib)
}

/// Returns the bytes of files that are in the memory of a family's processes, at each sample of the log.
pub(super) fn file_sums(log: &HostLog, family: &Family) -> Vec<u64> {
    sums_of(log, family, |process| &process.file_kib)
}

fn sums_of(log: &HostLog, family: &Family, kib: fn(&Process) -> &[u32]) -> Vec<u64> {
    let mut sums = vec![0_u64; log.times_ms.len()];
    for &position in &family.processes {
        let process = &log.processes[position];
        for (&sample, &kib) in process.samples.iter().zip(aligned(process, kib(process))) {
            sums[sample as usize] += u64::from(kib) << 10;
        }
    }
    sums
}

/// Returns values of a process if it has one at each sample; none otherwise.
fn aligned<'a>(process: &Process, values: &'a [u32]) -> &'a [u32] {
    if values.len() == process.samples.len() { values } else { &[] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_without_files_and_shared_memory() {
        let process = |pss_kib: &[u32], file_kib: &[u32]| Process {
            samples: vec![0, 1],
            rss_kib: vec![100, 100],
            pss_kib: pss_kib.to_vec(),
            file_kib: file_kib.to_vec(),
            shmem_kib: vec![10, 200],
            ..Process::default()
        };
        // The last one has the pages of files at one of its samples only.
        let processes = vec![process(&[80, 90], &[30, 30]), process(&[], &[30, 30]), process(&[], &[30])];
        let log = HostLog { times_ms: vec![0, 1000], processes, ..HostLog::default() };
        let own: Vec<_> = own(&log).processes.iter().map(|process| process.counted_kib().to_vec()).collect();
        assert_eq!(own, [[40, 0], [60, 0], [90, 0]]);
        assert_eq!(most_bytes(&log), None, "two processes have no proportional sets");
        let first = HostLog { processes: vec![log.processes[0].clone()], ..log.clone() };
        assert_eq!(most_bytes(&first), Some(200 << 10));
        let family = Family { processes: vec![0, 2], ..Family::default() };
        assert_eq!(file_sums(&log, &family), [30 << 10, 30 << 10]);
        assert_eq!(shmem_sums(&log, &family), [20 << 10, 400 << 10]);
    }
}
