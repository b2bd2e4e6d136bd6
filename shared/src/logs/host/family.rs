//! Groups the processes of a log by the program that they run.

use super::log::{HostLog, Process};
use hashbrown::HashMap;
use std::cmp::Reverse;

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
    families.sort_by_cached_key(|family| Reverse(family.processes.iter().map(most_kib).sum::<u64>()));
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

/// Returns the bytes of some processes together at each sample of the log.
pub fn sums(log: &HostLog, processes: &[usize]) -> Vec<u64> {
    let mut sums = vec![0_u64; log.times_ms.len()];
    for &position in processes {
        let process = &log.processes[position];
        for (&sample, &kib) in process.samples.iter().zip(process.counted_kib()) {
            sums[sample as usize] += u64::from(kib) << 10;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

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
