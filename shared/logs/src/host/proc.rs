//! Reads what `/proc` says about single processes: `smaps_rollup`, `smaps` and `status`.
//!
//! ```text
//! ==> /proc/4711/smaps_rollup <==                      the process, as `tail`, `echo` and `grep -H` name it
//! 55d0c1a00000-7ffd2a5f5000 ---p 00000000 … [rollup]
//! Rss:              226072 kB
//! Pss:              221000 kB
//! ```
//!
//! A process ends where another one is named or where a line comes again, except that the lines of mappings add up.

use super::log::{Mapping, Parts};
use hashbrown::HashMap;
use shared::base::ShortSort;

/// Largest number of names of mappings that are kept for a process.
const MOST_MAPPINGS: usize = 50_000;

/// What the log says about one process at one moment, in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Dump {
    /// `None` if nothing names the process.
    pub(super) pid: Option<u32>,
    pub(super) parent: Option<u32>,
    pub(super) name: String,
    /// First and last address of a rollup, which stay the same while a process lives.
    pub(super) range: (u64, u64),
    pub(super) rss_bytes: Option<u64>,
    pub(super) pss_bytes: Option<u64>,
    pub(super) parts: Parts,
    /// Mappings by name, each with its resident and its proportional bytes.
    pub(super) mappings: HashMap<String, (u64, u64)>,
    /// Position in [`SIZES`] and then [`TEXTS`] of each line so far, as bits.
    seen: u32,
    /// True within mappings, whose lines add up.
    is_mapped: bool,
    /// Address of the last mapping; a lower one belongs to another process.
    address: u64,
    mapping: String,
}

type Place = fn(&mut Dump) -> &mut Option<u64>;

/// Lines that are read, each with its place and whether sizes of several lines add up.
const SIZES: [(&str, Place, bool); 13] = [
    ("Rss", |dump| &mut dump.rss_bytes, true),
    ("Pss", |dump| &mut dump.pss_bytes, true),
    ("Pss_Anon", |dump| &mut dump.parts.anonymous_bytes, true),
    ("Pss_File", |dump| &mut dump.parts.file_bytes, true),
    ("Pss_Shmem", |dump| &mut dump.parts.shmem_bytes, true),
    ("Private_Clean", |dump| &mut dump.parts.uss_bytes, true),
    ("Private_Dirty", |dump| &mut dump.parts.uss_bytes, true),
    ("VmRSS", |dump| &mut dump.rss_bytes, false),
    ("RssAnon", |dump| &mut dump.parts.anonymous_bytes, false),
    ("RssFile", |dump| &mut dump.parts.file_bytes, false),
    ("RssShmem", |dump| &mut dump.parts.shmem_bytes, false),
    ("VmLck", |dump| &mut dump.parts.pinned_bytes, true),
    ("VmPin", |dump| &mut dump.parts.pinned_bytes, true),
];

/// Lines that are read and are no sizes.
const TEXTS: [&str; 3] = ["Name", "Pid", "PPid"];

/// Lines of `smaps` that are not needed.
const OTHER_KEYS: &str = "Size KernelPageSize MMUPageSize Pss_Dirty Shared_Clean Shared_Dirty Referenced Anonymous KSM \
                          LazyFree AnonHugePages ShmemPmdMapped ShmemHugePages FilePmdMapped Shared_Hugetlb \
                          Private_Hugetlb Swap SwapPss Locked VmHWM VmSwap";

/// Lines of `smaps` that are no sizes.
const FLAGS: [&str; 3] = ["THPeligible", "ProtectionKey", "VmFlags"];

/// Process that the line above names.
#[derive(Debug)]
struct Named {
    pid: u32,
    command: String,
    line: String,
}

#[derive(Debug, Default)]
pub(super) struct ProcReader {
    dump: Dump,
    named: Option<Named>,
    ended: Vec<Dump>,
}

impl ProcReader {
    /// Reads a line; returns true if it is one of a file of `/proc`, or may name the process of the next one.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let (pid, line) = prefix(line);
        if let Some(pid) = pid {
            self.name(pid, "");
        }
        self.mapping(line) || self.key(line)
    }

    /// Remembers the process that a line may name; only a dump right below it makes it one.
    pub(super) fn may_name(&mut self, line: &str) -> bool {
        self.named = header(line).map(|(pid, command)| Named { pid, command, line: line.to_owned() });
        self.named.is_some()
    }

    /// Returns the line above if it may have named a process and nothing followed.
    ///
    /// A file of `/proc` is empty once its process has ended.
    pub(super) fn forget_name(&mut self) -> Option<String> {
        self.named.take().map(|named| named.line).filter(|line| !line.contains("/proc/"))
    }

    /// Ends the current process, as at a time or at the end of the log.
    pub(super) fn end(&mut self) {
        let dump = std::mem::take(&mut self.dump);
        if dump.rss_bytes.or(dump.pss_bytes).is_some() {
            self.ended.push(dump);
        }
    }

    pub(super) fn take(&mut self) -> Vec<Dump> {
        std::mem::take(&mut self.ended)
    }

    /// Begins another process, unless the current one has this id.
    fn name(&mut self, pid: u32, command: &str) {
        if self.dump.pid != Some(pid) {
            self.end();
            self.dump.pid = Some(pid);
        }
        if !command.is_empty() {
            command.clone_into(&mut self.dump.name);
        }
    }

    /// Takes the name that the line above has given.
    fn take_name(&mut self) {
        if let Some(named) = self.named.take() {
            self.name(named.pid, &named.command);
        }
    }

    /// Begins the same process once more, because a line came again.
    fn again(&mut self) {
        let (pid, name) = (self.dump.pid, self.dump.name.clone());
        self.end();
        (self.dump.pid, self.dump.name) = (pid, name);
    }

    /// `55d0c1a00000-7ffd2a5f5000 ---p 00000000 00:00 0 [rollup]`
    fn mapping(&mut self, line: &str) -> bool {
        let Some(((start, end), name)) = mapping(line) else { return false };
        self.take_name();
        let is_rollup = name == "[rollup]";
        let has_sums = self.dump.seen & 1 != 0;
        let begins_another = has_sums && (is_rollup || !self.dump.is_mapped);
        if begins_another || start < self.dump.address {
            // Another process if nothing names it, or the same once more.
            if self.dump.pid.is_some() { self.again() } else { self.end() }
        }
        let dump = &mut self.dump;
        if is_rollup {
            dump.range = (start, end);
            return true;
        }
        dump.range.0 = if dump.is_mapped { dump.range.0 } else { start };
        (dump.is_mapped, dump.address) = (true, start);
        dump.mapping = group(name);
        true
    }

    /// `Rss:              226072 kB`
    fn key(&mut self, line: &str) -> bool {
        let Some((key, value)) = line.split_once(':') else { return false };
        let of_size = SIZES.iter().position(|(name, ..)| *name == key);
        let of_text = || TEXTS.iter().position(|name| *name == key).map(|at| SIZES.len() + at);
        let Some(position) = of_size.or_else(of_text) else {
            let is_status = value.starts_with('\t') && is_word(key);
            let is_size = value.ends_with("kB") && OTHER_KEYS.split(' ').any(|known| known == key);
            return is_size || (self.dump.seen != 0 && (is_status || FLAGS.contains(&key)));
        };
        let text = value.trim();
        // Other programs print names, too, but without a tab.
        if key == "Name" && !value.starts_with('\t') {
            return false;
        }
        let size = text.strip_suffix("kB").and_then(|text| text.trim_end().parse::<u64>().ok()?.checked_mul(1 << 10));
        if size.is_none() && of_size.is_some() {
            return false;
        }
        self.take_name();
        let bit = 1 << position;
        if self.dump.seen & bit != 0 && !self.dump.is_mapped {
            self.again();
        }
        self.dump.seen |= bit;
        let (dump, bytes) = (&mut self.dump, size.unwrap_or(0));
        match (of_size, key) {
            (Some(position), _) => {
                let (_, place, adds_up) = SIZES[position];
                let sum = place(dump);
                *sum = if adds_up { Some(sum.unwrap_or(0).saturating_add(bytes)) } else { sum.or(Some(bytes)) };
            }
            (None, "Name") => text.clone_into(&mut dump.name),
            (None, "Pid") => dump.pid = text.parse().ok().or(dump.pid),
            _ => dump.parent = text.parse().ok(),
        }
        if dump.is_mapped {
            dump.count_mapping(key, bytes);
        }
        true
    }
}

impl Dump {
    /// Adds the size of a line to those of the current mapping, unless there are too many names.
    fn count_mapping(&mut self, key: &str, bytes: u64) {
        if self.mappings.len() >= MOST_MAPPINGS && !self.mappings.contains_key(&self.mapping) {
            return;
        }
        let (rss, pss) = self.mappings.entry_ref(&*self.mapping).or_default();
        match key {
            "Rss" => *rss = rss.saturating_add(bytes),
            "Pss" => *pss = pss.saturating_add(bytes),
            _ => {}
        }
    }
}

/// Splits off what `grep -H` puts before each line: `/proc/4711/smaps_rollup:Rss: …`.
fn prefix(line: &str) -> (Option<u32>, &str) {
    let split = || {
        let (path, rest) = line.strip_prefix("/proc/")?.split_once(':')?;
        let (pid, _) = path.split_once('/')?;
        Some((Some(pid.parse().ok()?), rest)).filter(|(_, rest)| !rest.is_empty())
    };
    split().unwrap_or((None, line))
}

/// Reads a line that names a process: `==> /proc/4711/status <==`, `/proc/4711`, `PID 4711`, `4711`, `4711: python t.py`.
fn header(line: &str) -> Option<(u32, String)> {
    let line = line.trim().trim_matches(['=', '-', '#', '*', '<', '>', ' ']);
    let of_path = line.find("/proc/").map(|at| &line[at + "/proc/".len()..]);
    let lower = line.to_ascii_lowercase();
    let of_word = ["pid", "process"]
        .iter()
        .find_map(|word| lower.strip_prefix(word))
        .map(|rest| &line[line.len() - rest.len()..]);
    let rest = of_path.or(of_word).unwrap_or(line).trim_start_matches([' ', ':', '=', '#']);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (pid, after) = rest.split_at(end);
    let is_path = of_path.is_some() && (after.is_empty() || after.starts_with(['/', ':', ' ']));
    let is_word = after.is_empty() || after.starts_with([':', ' ']);
    // A process id has at most 22 bits.
    let pid = pid.parse().ok().filter(|pid| *pid < 1 << 22 && (is_path || is_word))?;
    let command = if is_path { "" } else { after.trim_start_matches([':', ' ']) };
    Some((pid, command.to_owned()))
}

/// Reads the first line of a mapping; returns its addresses and its name.
fn mapping(line: &str) -> Option<((u64, u64), &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let rest = rest.trim_start();
    let is_permissions = rest.len() >= 4 && rest.bytes().take(4).all(|byte| b"rwxsp-".contains(&byte));
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let name = rest.splitn(5, ' ').nth(4)?.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    is_permissions.then(|| Some(((hex(start)?, hex(end)?), name.trim_start()))).flatten()
}

/// Returns the name under which mappings are counted: PyTorch and Python name each block of shared memory by a number.
fn group(name: &str) -> String {
    match name {
        "" => "anonymous".to_owned(),
        _ if name.starts_with("/dev/shm/") => "/dev/shm".to_owned(),
        _ if name.starts_with("/memfd:") => "/memfd".to_owned(),
        name => name.trim_end_matches(" (deleted)").to_owned(),
    }
}

fn is_word(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns mappings in the order of their names.
pub(super) fn sorted(mappings: HashMap<String, (u64, u64)>) -> Vec<Mapping> {
    let mut all: Vec<Mapping> =
        mappings.into_iter().map(|(name, (rss_bytes, pss_bytes))| Mapping { name, rss_bytes, pss_bytes }).collect();
    all.short_sort_by(|a, b| a.name.cmp(&b.name));
    all
}
