//! Tests that the recorder gives up its privileges before it reads its job.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testkit::repro::{built_recorder, job};

const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a recorder that waits for its job.
fn start(output: &Path) -> Child {
    let config = built_recorder();
    let libraries = std::env::join_paths([&config.virtual_gpu, &config.built_libtorch.join("lib")]).expect("a path");
    Command::new(&config.program)
        .arg("--output")
        .arg(output)
        .env_clear()
        .env("LD_LIBRARY_PATH", libraries)
        .env("SNAPSCOPE_VIRTUAL_GPU", "t4-16gb")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the recorder to start")
}

/// Waits until a field of `/proc/PID/status` has this value; returns the whole status.
#[track_caller]
fn wait_for(process: &Child, field: &str, value: &str) -> String {
    let start = Instant::now();
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", process.id())).expect("it runs");
        let fields: Vec<_> = status.lines().filter_map(|line| line.split_once(":\t")).collect();
        if fields.contains(&(field, value)) {
            return status;
        }
        assert!(start.elapsed() < PATIENCE, "{status}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn walls_are_up_before_a_job_or_a_thread_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut recorder = start(&folder.path().join("out.pickle"));
    let status = wait_for(&recorder, "Seccomp_filters", "2");
    let has = |line: &str| status.lines().any(|found| found == line);
    assert!(has("Seccomp:\t2") && has("NoNewPrivs:\t1") && has("Threads:\t1"), "{status}");
    drop(recorder.stdin.take());
    assert_eq!(recorder.wait().expect("it ends").code(), Some(3), "nothing is no job");
}

#[test]
fn a_recorder_writes_into_its_own_folder_only() {
    let (folder, outside) = (tempfile::tempdir().expect("a folder"), tempfile::NamedTempFile::new().expect("a file"));
    let output = folder.path().join("out.pickle");
    // The recorder writes to this name before it renames the file.
    std::os::unix::fs::symlink(outside.path(), folder.path().join("out.pickle.part")).expect("a link");
    let mut recorder = start(&output);
    let mut input = recorder.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, job("t4-16gb").to_json().as_bytes()).expect("it listens");
    drop(input);
    let ended = recorder.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(said.contains("the snapshot could not be written") && said.contains("Permission denied"), "{said}");
    assert_eq!((ended.status.code(), fs::read(outside.path()).expect("it is there")), (Some(3), Vec::new()));
}
