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

/// What follows a word such as `--user-data-dir=` in the command line of a process below `ancestor`.
pub(super) fn argument_below(ancestor: u32, word: &str) -> Option<String> {
    let entries = fs::read_dir("/proc").expect("Linux");
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let value = |pid: u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let found = line.split(['\0', ' ']).find_map(|part| part.strip_prefix(word))?;
        is_below(pid, ancestor).then(|| found.to_owned())
    };
    pids.filter_map(value).next()
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

/// Runs a command to its end: the seconds it took, and its highest resident memory in bytes, as often as looked at.
///
/// # Errors
///
/// It cannot be started or fails; then its last words.
pub(super) fn measure(command: &mut std::process::Command) -> Result<(f64, Option<u64>), String> {
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(1);
    let start = std::time::Instant::now();
    let quiet = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let mut child = quiet.spawn().map_err(|error| error.to_string())?;
    let mut stderr = child.stderr.take().expect("a pipe");
    // Read as it comes: a pipe that is full would stop the command.
    let words = std::thread::spawn(move || {
        let mut words = Vec::new();
        std::io::Read::read_to_end(&mut stderr, &mut words).map(|_| String::from_utf8_lossy(&words).into_owned())
    });
    let mut peak_bytes = None;
    let status = loop {
        // A process that has ended has no memory any more; so the highest is what it last said.
        peak_bytes = peak_memory_bytes(child.id()).or(peak_bytes);
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        std::thread::sleep(PAUSE);
    };
    let seconds = start.elapsed().as_secs_f64();
    if status.success() {
        return Ok((seconds, peak_bytes));
    }
    let words = words.join().ok().and_then(Result::ok).unwrap_or_default();
    Err(format!("{status}: {}", words.trim().lines().last().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn a_process_is_measured_as_it_runs() {
        let script = "import time\nheld = bytearray(b'x') * 50_000_000\ntime.sleep(0.05)";
        let (seconds, peak_bytes) = measure(Command::new("python3").args(["-c", script])).expect("python3");
        let peak_bytes = peak_bytes.expect("that it was looked at");
        assert!(seconds > 0.05 && (50_000_000..200_000_000).contains(&peak_bytes), "{seconds} s, {peak_bytes} B");
        let failed = measure(Command::new("python3").args(["-c", "raise SystemExit('no card')"]));
        assert!(failed.unwrap_err().contains("no card"));
    }

    #[test]
    fn the_own_process_has_memory_and_parents() {
        let own = std::process::id();
        assert!(peak_memory_bytes(own).expect("Linux") > 1 << 20);
        assert_eq!(peak_memory_bytes(u32::MAX), None);
        let mut child = Command::new("sleep").args(["--", "60.25"]).spawn().expect("sleep");
        // A process has the command line of the one that started it for a moment.
        let started = Instant::now();
        while descendants_with(own, "60.25").is_empty() && started.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let below = descendants_with(own, "60.25");
        let argument = argument_below(own, "60.");
        child.kill().expect("to be ours");
        child.wait().expect("to be ours");
        assert_eq!((below, argument.as_deref()), (vec![child.id()], Some("25")));
    }
}
