//! What processes take, from Linux's `/proc`.

use std::fs;

/// The highest resident memory of a process so far, in bytes.
pub fn peak_memory_bytes(pid: u32) -> Option<u64> {
    field_kib(pid, "VmHWM:").map(|kib| kib * 1024)
}

/// The processes below `ancestor` whose command line has a word.
pub fn descendants_with(ancestor: u32, word: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("Linux");
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_word = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| contains(&line, word));
    pids.filter(has_word).filter(|&pid| is_below(pid, ancestor)).collect()
}

/// Chromium's zygotes write the arguments of their children as one text, so words may end with a space.
fn contains(line: &[u8], word: &str) -> bool {
    line.split(|&byte| byte == 0 || byte == b' ').any(|part| part == word.as_bytes())
}

fn is_below(mut pid: u32, ancestor: u32) -> bool {
    while pid > 1 {
        if pid == ancestor {
            return true;
        }
        let Some(parent) = field_kib(pid, "PPid:") else { return false };
        pid = parent as u32;
    }
    false
}

/// The number behind a name in `/proc/PID/status`.
fn field_kib(pid: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Seconds that a process has had of processors so far, in its own code and in the system's.
pub fn cpu_seconds(pid: u32) -> Option<f64> {
    /// What Linux calls `USER_HZ`: it is the same on every machine that programs see.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may have spaces; after it come the state and ten fields, then the two.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}
