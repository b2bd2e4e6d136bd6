//! Tests `host`, and `diagnose` on logs of host memory.

use serde_json::Value;
use shared::analysis::FindingCode;

use crate::cli::command::{check_refusal, run};

/// The loop `while sleep 30; do date; ps aux | grep train.py; done`, over two epochs and a half of two workers.
#[test]
fn a_loop_of_date_and_ps_is_diagnosed() {
    let mut log = String::new();
    for sample in 0..250_u64 {
        let seconds = sample * 30;
        log +=
            &format!("Mon Nov 23 {:02}:{:02}:{:02} CET 2026\n", 10 + seconds / 3600, seconds / 60 % 60, seconds % 60);
        let mut row = |pid: u64, rss_kib: u64, command: &str| {
            let percent = rss_kib as f64 * 100.0 / f64::from(64 << 20);
            log += &format!("ml {pid} 99.5 {percent:.1} 98765432 {rss_kib} pts/0 Sl+ 10:00 {sample}:00 {command}\n");
        };
        row(4711, 4 << 20, "python train.py --workers 2");
        let (epoch, within) = (sample / 100, sample % 100);
        for worker in (1..=2).filter(|_| within < 95) {
            row(4711 + epoch * 2 + worker, (1 << 20) + within * 80_000, "python train.py --workers 2");
        }
        log += "ml 9000 0.0 0.0 12345 800 pts/1 S+ 10:00 0:00 grep train.py\n";
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("memory.log");
    std::fs::write(&file, log).expect("the log to be written");
    let output = run(&["diagnose", &file.to_string_lossy()]);
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Host memory, ps: 250 samples of 8 processes in 2 h 5 min; the machine has 64.0 GiB",
        "Host memory of python train.py climbs by",
        "within each epoch and falls at its end",
        "3 rises follow each other every 50 min 0 s",
        "per minute",
        "6 processes, 2 at a time, climb by",
        "at this rate, an epoch that lasts",
        "resident sizes (RSS), which count shared memory once for each process",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

#[test]
fn a_process_that_the_kernel_killed_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("dmesg.txt");
    let line = "[12.5] Memory cgroup out of memory: Killed process 4711 (python) total-vm:99999999kB, \
                anon-rss:33554432kB, file-rss:0kB, shmem-rss:1048576kB, UID:0 pgtables:1kB oom_score_adj:0\n";
    std::fs::write(&file, format!("[12.4] python invoked oom-killer\n{line}")).expect("the log to be written");
    let output = run(&["diagnose", "--json", &file.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(1), "an error was found");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let finding = &document["findings"][0];
    assert_eq!(finding["code"], FindingCode::HostProcessKilled.name());
    let title = "The kernel killed process 4711 (python) at 33.0 GiB: its control group is full";
    assert_eq!(finding["title"], title);
}

#[test]
fn the_status_is_that_of_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("host.csv").to_string_lossy().into_owned();
    let status = |command: &[&str]| run(&[&["host", "-o", &log, "--"], command].concat()).status.code();
    assert_eq!(status(&["sh", "-c", "exit 7"]), Some(7));
    assert_eq!(status(&["sh", "-c", "kill -9 $$"]), Some(137));
    check_refusal(&["host", "-o", &log, "--", "no-such-program"], &["no-such-program"]);
    check_refusal(&["host", "-o", &log, "4000000000"], &["there is no process 4000000000"]);
}
