//! Waits for processes, and reads their memory and CPU times from Linux's `/proc`.

use std::fmt::Display;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::patience::PATIENCE;

/// Sends a signal by name; returns false if there is no such process.
pub fn signal(name: &str, pid: impl Display) -> bool {
    let kill = Command::new("kill").args([format!("-{name}"), pid.to_string()]).stderr(Stdio::null()).status();
    kill.is_ok_and(|status| status.success())
}

/// Waits until a process has ended.
///
/// # Panics
///
/// Panics past [`PATIENCE`], with what its threads wait for.
#[track_caller]
pub fn ended(child: &mut Child) -> ExitStatus {
    ended_within(child, PATIENCE)
}

#[track_caller]
fn ended_within(child: &mut Child, time: Duration) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child of this process") {
            return status;
        }
        if start.elapsed() > time {
            panic_about(child, "does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reads the first line of a process's standard output, which must be a pipe; the empty text if it ends without one.
///
/// # Panics
///
/// Panics past [`PATIENCE`], like [`ended`].
#[track_caller]
pub fn first_line(child: &mut Child) -> String {
    let (sender, receiver) = mpsc::channel();
    let output = child.stdout.take().expect("a pipe");
    std::thread::spawn(move || {
        let (mut output, mut line) = (BufReader::new(output), String::new());
        output.read_line(&mut line).expect("text");
        // Nobody listens past the timeout.
        let _ = sender.send(line);
        // A process must not fail because nobody reads what else it prints.
        let _ = std::io::copy(&mut output, &mut std::io::sink());
    });
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| panic_about(child, "prints nothing"))
}

/// Kills a process and panics with the system call of each of its threads.
#[track_caller]
fn panic_about(child: &mut Child, what: &str) -> ! {
    let threads = fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
    let read = |folder: &std::path::Path, name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let waits: Vec<_> = threads
        .map(|thread| ["comm", "wchan", "syscall"].map(|name| read(&thread.path(), name).trim().to_owned()).join(" "))
        .collect();
    // It may have ended by itself.
    let _ = child.kill();
    panic!("process {} {what}; its threads:\n{}", child.id(), waits.join("\n"))
}

/// Returns the peak resident memory of a process so far, in bytes.
pub fn peak_memory_bytes(pid: u32) -> Option<u64> {
    field_kib(pid, "VmHWM:").map(|kib| kib * 1024)
}

/// Returns the descendants of `ancestor` whose command line contains a word.
pub fn descendants_with(ancestor: u32, word: &str) -> Vec<u32> {
    let has_word = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| contains(&line, word));
    pids().filter(has_word).filter(|&pid| is_below(pid, ancestor)).collect()
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("Linux");
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the text after a prefix such as `--user-data-dir=` in the command line of a descendant of `ancestor`.
pub fn argument_below(ancestor: u32, word: &str) -> Option<String> {
    let value = |pid: u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let found = line.split(['\0', ' ']).find_map(|part| part.strip_prefix(word))?;
        is_below(pid, ancestor).then(|| found.to_owned())
    };
    pids().find_map(value)
}

/// Chromium's zygotes write the arguments of their children as one text, so words may also end with a space.
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

fn field_kib(pid: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the CPU time of a process so far in seconds, user and system time together.
pub fn cpu_seconds(pid: u32) -> Option<f64> {
    /// Linux's `USER_HZ`, which is 100 on every architecture as user space sees it.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command name in parentheses may contain spaces. The state and ten fields follow it, then `utime` and `stime`.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}

/// Runs a command to its end and returns its seconds and its peak resident memory in bytes.
///
/// The memory is sampled, and `None` if the command ended before the first sample.
///
/// # Errors
///
/// Returns an error if the command cannot be started, or with the end of its standard error if it fails.
pub fn measure(command: &mut std::process::Command) -> Result<(f64, Option<u64>), String> {
    watch(command, std::time::Duration::from_millis(1), peak_memory_bytes)
}

/// Runs a command to its end and returns its seconds and the peak resident memory in bytes of its largest process.
pub fn measure_all(command: &mut std::process::Command) -> Result<(f64, Option<u64>), String> {
    // Looking at every process of the machine takes longer than at one.
    let pause = std::time::Duration::from_millis(50);
    watch(command, pause, |pid| pids().filter(|&other| is_below(other, pid)).filter_map(peak_memory_bytes).max())
}

/// Runs a command to its end; `peak` returns the peak memory of the process with an ID, and of others that count.
fn watch(
    command: &mut std::process::Command,
    pause: std::time::Duration,
    peak: impl Fn(u32) -> Option<u64>,
) -> Result<(f64, Option<u64>), String> {
    let start = std::time::Instant::now();
    let quiet = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let mut child = quiet.spawn().map_err(|error| error.to_string())?;
    let mut stderr = child.stderr.take().expect("a pipe");
    // Read in a thread, because a full pipe would block the command.
    let words = std::thread::spawn(move || {
        let mut words = Vec::new();
        std::io::Read::read_to_end(&mut stderr, &mut words).map(|_| String::from_utf8_lossy(&words).into_owned())
    });
    let mut peak_bytes = None;
    let status = loop {
        // A process that has ended reports no memory, so the last sample counts.
        peak_bytes = peak(child.id()).max(peak_bytes);
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        std::thread::sleep(pause);
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

    use crate::patience::ask_until;

    #[test]
    fn a_process_is_measured_as_it_runs() {
        let script = "import time\nheld = bytearray(b'x') * 50_000_000\ntime.sleep(0.2)";
        let (seconds, peak_bytes) = measure(Command::new("python3").args(["-c", script])).expect("python3");
        let peak_bytes = peak_bytes.expect("that it was looked at");
        assert!(seconds > 0.05 && (50_000_000..200_000_000).contains(&peak_bytes), "{seconds} s, {peak_bytes} B");
        let in_child = format!("import subprocess\nsubprocess.run(['python3', '-c', '''{script}'''], check=True)");
        let (_, peak_bytes) = measure_all(Command::new("python3").args(["-c", &in_child])).expect("python3");
        assert!((50_000_000..200_000_000).contains(&peak_bytes.expect("that it was looked at")), "{peak_bytes:?} B");
        let failed = measure(Command::new("python3").args(["-c", "raise SystemExit('no card')"]));
        assert!(failed.unwrap_err().contains("no card"));
    }

    #[test]
    fn a_process_that_hangs_is_told_and_killed() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
        let waited = std::panic::AssertUnwindSafe(|| ended_within(&mut child, Duration::from_millis(200)));
        let told = std::panic::catch_unwind(waited).expect_err("it sleeps");
        assert!(told.downcast_ref::<String>().is_some_and(|told| told.contains("threads:\nsleep ")), "{told:?}");
        assert!(!ended(&mut child).success());
    }

    #[test]
    fn the_own_process_has_memory_and_parents() {
        let own = std::process::id();
        assert!(peak_memory_bytes(own).expect("Linux") > 1 << 20);
        assert_eq!(peak_memory_bytes(u32::MAX), None);
        let mut child = Command::new("sleep").args(["--", "60.25"]).spawn().expect("sleep");
        // Between `fork` and `exec`, a process has the command line of its parent.
        let below = ask_until(|| descendants_with(own, "60.25"), |below| !below.is_empty());
        let argument = argument_below(own, "60.");
        child.kill().expect("to be ours");
        child.wait().expect("to be ours");
        assert_eq!((below, argument.as_deref()), (vec![child.id()], Some("25")));
    }
}
