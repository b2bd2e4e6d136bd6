//! Reads the memory of processes from Linux's `/proc`.

use std::collections::HashMap;
use std::fs;

/// Memory of one process, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sampled {
    pub(super) pid: u32,
    parent: u32,
    rss_bytes: u64,
    /// Memory that stays at its place, as far as the kernel knows: locked by `mlock`, or pinned by drivers.
    pinned_bytes: Option<u64>,
    /// `None` for a process of another user, whose maps cannot be read.
    detail: Option<Detail>,
    command: String,
}

/// Parts of a process's memory, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Detail {
    /// Proportional set: a page that several processes share counts in equal parts.
    pss: u64,
    /// Unique set: pages that no other process has.
    uss: u64,
    /// Pages of shared memory in the proportional set.
    shared: u64,
    /// Pages of files in the proportional set; `None` before Linux 5.4.
    file: Option<u64>,
}

/// Number of times that the processes are sampled again because some started or ended meanwhile.
const MOST_TRIES: usize = 3;

/// Returns the first lines of a file of samples: the memory of the machine, the limit of the control group, and the
/// names of the columns, whose sizes are bytes.
pub(super) fn header() -> String {
    let machine = of_machine("MemTotal:");
    let machine = machine.map_or_else(String::new, |bytes| format!("# memory of the machine: {bytes} bytes\n"));
    let limit =
        cgroup_limit().map_or_else(String::new, |bytes| format!("# limit of the control group: {bytes} bytes\n"));
    format!("{machine}{limit}time,pid,ppid,rss,pss,uss,shmem,file,pinned,command\n")
}

/// Returns the limit of this process's control group, of version 2 or 1.
fn cgroup_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let of_version_2 = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let path = of_version_2.map(|path| format!("/sys/fs/cgroup{path}/memory.max"));
    // In a container, the group's own folder is the top of the tree.
    let paths = path
        .into_iter()
        .chain(["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"].map(str::to_owned));
    // Version 1 writes a huge number for no limit, version 2 the word "max".
    paths.filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok()).find(|limit| *limit < 1 << 50)
}

/// Returns a process and all its descendants, in ascending order; none if the process has ended.
///
/// A page counts in equal parts in the processes that share it, so that the sum is too low if one of them is missing, as
/// when it starts or ends while the others are sampled.
pub(super) fn tree(root: u32) -> Vec<Sampled> {
    let mut pids = below(root);
    for _ in 0..MOST_TRIES {
        let sampled = pids.iter().filter_map(|&(pid, parent)| sample(pid, parent)).collect();
        let after = below(root);
        if after == pids {
            return sampled;
        }
        pids = after;
    }
    pids.iter().filter_map(|&(pid, parent)| sample(pid, parent)).collect()
}

/// Returns a process and all its descendants, each with its parent, in ascending order.
pub(in crate::commands) fn below(root: u32) -> Vec<(u32, u32)> {
    let parents = parents();
    let is_below = |pid: &u32| is_below(*pid, root, &parents);
    let mut pids: Vec<_> = parents.keys().filter(|pid| is_below(pid)).map(|&pid| (pid, parents[&pid])).collect();
    pids.sort_unstable();
    pids
}

fn is_below(mut pid: u32, root: u32, parents: &HashMap<u32, u32>) -> bool {
    // Processes can end while they are listed, so the chain is followed for a bounded number of times.
    for _ in 0..64 {
        if pid == root {
            return true;
        }
        match parents.get(&pid) {
            Some(&parent) if parent != 0 => pid = parent,
            _ => return false,
        }
    }
    false
}

fn parents() -> HashMap<u32, u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, parent_of(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))).collect()
}

/// Reads the parent from a line of `stat`: `17 (name) S 1 …`, where the name can have any characters.
fn parent_of(stat: &str) -> Option<u32> {
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn sample(pid: u32, parent: u32) -> Option<Sampled> {
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let command = String::from_utf8_lossy(&command).replace(['\0', '\n', '\r'], " ").trim_end().to_owned();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok();
    let of_status = |key: &str| status.as_deref().and_then(|text| kib_of(text, key));
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok();
    let detail = rollup.as_deref().and_then(|text| {
        let of = |key: &str| kib_of(text, key);
        let uss = of("Private_Clean:")?.saturating_add(of("Private_Dirty:")?);
        let (pss, shared, file) = (of("Pss:")?, of("Pss_Shmem:").unwrap_or(0), of("Pss_File:"));
        Some((of("Rss:")?, Detail { pss, uss, shared, file }))
    });
    let rss_bytes = match detail {
        Some((rss_bytes, _)) => rss_bytes,
        None => of_status("VmRSS:")?,
    };
    let pinned_bytes = of_status("VmLck:").map(|locked| locked.saturating_add(of_status("VmPin:").unwrap_or(0)));
    Some(Sampled { pid, parent, rss_bytes, pinned_bytes, detail: detail.map(|(_, detail)| detail), command })
}

/// Returns the bytes of a line such as `VmRSS:     1234 kB`.
pub(in crate::commands) fn kib_of(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// Returns the bytes of a line of `/proc/meminfo`, such as `MemTotal:`.
pub(in crate::commands) fn of_machine(key: &str) -> Option<u64> {
    kib_of(&fs::read_to_string("/proc/meminfo").ok()?, key)
}

impl Sampled {
    /// Returns the memory that is neither of files nor shared memory, if the kernel tells.
    pub(super) fn own_bytes(&self) -> Option<u64> {
        let Detail { pss, shared, file, .. } = self.detail?;
        Some(pss.saturating_sub(shared).saturating_sub(file?))
    }

    /// Returns the cells of its row without the time; sizes that are not known are empty.
    pub(super) fn cells(&self) -> String {
        let Self { pid, parent, rss_bytes, pinned_bytes, detail, command } = self;
        let cell = |bytes: Option<u64>| bytes.map_or_else(String::new, |bytes| bytes.to_string());
        let detail = detail.map_or_else(
            || ",,,".to_owned(),
            |Detail { pss, uss, shared, file }| format!("{pss},{uss},{shared},{}", cell(file)),
        );
        format!("{pid},{parent},{rss_bytes},{detail},{},{command}", cell(*pinned_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory() {
        let own = tree(std::process::id());
        let detail = own[0].detail.unwrap();
        assert!(own[0].rss_bytes >= detail.pss && detail.pss >= detail.uss && detail.uss > 1 << 16, "{own:?}");
        assert!(header().contains("# memory of the machine: "));
        assert_eq!(tree(u32::MAX), []);
    }

    #[test]
    fn names_can_have_parentheses_and_what_is_not_known_is_empty() {
        assert_eq!([parent_of("17 (a) b) c) S 4 17 17"), parent_of("17 (a")], [Some(4), None]);
        let row = Sampled { pid: 7, parent: 1, rss_bytes: 9, command: "a b".into(), ..Sampled::default() };
        assert_eq!(row.cells(), "7,1,9,,,,,,a b");
    }
}
