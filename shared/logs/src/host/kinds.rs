//! Splits the memory of processes by what it consists of (their own, pages of files, shared memory) and by the program
//! that they run.
//!
//! Pages of files are the system's cache: it drops them when memory is needed, so that they are no climb of a program.

use super::log::{HostLog, Process};
use hashbrown::HashMap;
use shared::base::ShortSort;
use std::borrow::Cow;
use std::cmp::Reverse;

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
    let folder = log.shared.at_each(|one| one.used_bytes, own.len());
    // What is in /dev/shm is also in the memory of processes that have it mapped.
    own.iter().zip(&mapped).zip(&folder).map(|((own, mapped), folder)| own + mapped.max(folder)).max()
}

/// Returns the bytes of shared memory that the processes of a family have mapped, at each sample of the log.
pub(super) fn shmem_sums(log: &HostLog, family: &Family) -> Vec<u64> {
    sums_of(log, &family.processes, |process| &process.shmem_kib)
}

/// Returns the bytes of files that are in the memory of a family's processes, at each sample of the log.
pub(super) fn file_sums(log: &HostLog, family: &Family) -> Vec<u64> {
    sums_of(log, &family.processes, |process| &process.file_kib)
}

/// Returns the bytes of some processes together at each sample of the log.
pub fn sums(log: &HostLog, processes: &[usize]) -> Vec<u64> {
    sums_of(log, processes, Process::counted_kib)
}

fn sums_of(log: &HostLog, processes: &[usize], kib: fn(&Process) -> &[u32]) -> Vec<u64> {
    let mut sums = vec![0_u64; log.times_ms.len()];
    for &position in processes {
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

/// Number of families that are judged, those with the most memory.
const MOST_FAMILIES: usize = 64;

/// Processes of one program and user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Family {
    pub user: String,
    /// Program, with its script if it is an interpreter: `python train.py`.
    pub name: String,
    /// Positions of the processes in [`HostLog::processes`].
    pub processes: Vec<usize>,
}

/// Groups the processes by user and program, those with the most memory first, at most 64 of them.
pub fn families(log: &HostLog) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    let mut by_name: HashMap<(&str, String), usize> = HashMap::new();
    let mut by_pid: HashMap<u32, usize> = HashMap::new();
    let is_helper = |process: &Process| process.command.contains("multiprocessing");
    for (position, process) in log.processes.iter().enumerate().filter(|(_, process)| !is_helper(process)) {
        let name = program(&process.command);
        let family = *by_name.entry((&process.user, name.clone())).or_insert_with(|| {
            families.push(Family { user: process.user.clone(), name, processes: Vec::new() });
            families.len() - 1
        });
        families[family].processes.push(position);
        by_pid.insert(process.pid, family);
    }
    // Processes of Python's multiprocessing belong to the program that started them, or else to the first one in Python.
    let mut of_python: HashMap<String, usize> = HashMap::new();
    for (position, family) in families.iter().enumerate().filter(|(_, family)| family.name.starts_with("python")) {
        of_python.entry(family.user.clone()).or_insert(position);
    }
    for (position, process) in log.processes.iter().enumerate().filter(|(_, process)| is_helper(process)) {
        let of_parent = process.parent.and_then(|parent| by_pid.get(&parent)).copied();
        let family = of_parent.unwrap_or_else(|| {
            *of_python.entry(process.user.clone()).or_insert_with(|| {
                let (user, name) = (process.user.clone(), "python".to_owned());
                families.push(Family { user, name, processes: Vec::new() });
                families.len() - 1
            })
        });
        families[family].processes.push(position);
        by_pid.insert(process.pid, family);
    }
    let most_kib =
        |process: &usize| log.processes[*process].counted_kib().iter().max().map_or(0, |kib| u64::from(*kib));
    families.short_sort_by_key(|family| Reverse(family.processes.iter().map(most_kib).sum::<u64>()));
    families.truncate(MOST_FAMILIES);
    families
}

/// Returns the program of a command line, with the script or module that an interpreter runs.
pub(super) fn program(command: &str) -> String {
    let mut words = command.split_ascii_whitespace();
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let Some(program) = words.next().map(base) else { return String::new() };
    if !program.starts_with("python") {
        return program;
    }
    let mut script = words.by_ref().find(|word| !word.starts_with('-') || *word == "-m" || *word == "-c");
    if script == Some("-m") {
        script = words.next();
    }
    match script {
        Some(script) if script != "-c" => format!("python {}", base(script)),
        _ => "python".to_owned(),
    }
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

    #[test]
    fn programs_are_named_by_their_scripts() {
        assert_eq!(program("/opt/conda/bin/python3.11 -u /srv/train.py --lr 1"), "python train.py");
        assert_eq!(program("python -m torch.distributed.run x.py"), "python torch.distributed.run");
        assert_eq!(program("python -c import x"), "python");
        assert_eq!(program("/usr/bin/redis-server *:6379"), "redis-server");
    }

    #[test]
    fn helpers_belong_to_the_program_that_started_them() {
        let spawned = "python -c from multiprocessing.spawn import spawn_main; spawn_main()";
        let process = |command: &str| Process { command: command.to_owned(), ..Process::default() };
        let processes = ["python train.py", spawned, "bash"].map(process).to_vec();
        let found = families(&HostLog { processes, ..HostLog::default() });
        assert_eq!(found.iter().find(|family| family.name == "python train.py").unwrap().processes, [0, 1]);
        assert_eq!(found.len(), 2);
    }
}
