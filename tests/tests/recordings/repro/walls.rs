//! Tests that the recorder gives up its privileges before it reads its job.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use server::config::RecorderConfig;
use server::recording::repro::{Limits, Recording, run};
use shared::job::Job;
use testkit::patience::ask_until;
use testkit::repro::{Audience, built_recorder, config, job};

/// Starts a recorder that waits for its job; without a card, its virtual GPU stands in for the driver of a real one.
fn start(output: &Path, card: &str) -> Child {
    let config = built_recorder();
    let libraries = std::env::join_paths([&config.virtual_gpu, &config.built_libtorch.join("lib")]).expect("a path");
    Command::new(&config.program)
        .arg("--output")
        .arg(output)
        .env_clear()
        .env("LD_LIBRARY_PATH", libraries)
        .env("SNAPSCOPE_VIRTUAL_GPU", card)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the recorder to start")
}

/// Gives a recorder its job and waits for its end.
fn hand(mut recorder: Child, job: &Job) -> Output {
    let mut input = recorder.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, job.to_json().as_bytes()).expect("it listens");
    drop(input);
    recorder.wait_with_output().expect("it ends")
}

/// Waits until a field of `/proc/PID/status` has this value; returns the whole status.
#[track_caller]
fn wait_for(process: &Child, field: &str, value: &str) -> String {
    let status = || fs::read_to_string(format!("/proc/{}/status", process.id())).expect("it runs");
    ask_until(status, |status| status.lines().any(|line| line.split_once(":\t") == Some((field, value))))
}

#[test]
fn walls_are_up_before_a_job_is_there_and_a_recorder_writes_into_its_own_folder_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut recorder = start(&folder.path().join("out.pickle"), "t4-16gb");
    let status = wait_for(&recorder, "Seccomp_filters", "3");
    let has = |line: &str| status.lines().any(|found| found == line);
    assert!(has("Seccomp:\t2") && has("NoNewPrivs:\t1") && has("Threads:\t1"), "{status}");
    drop(recorder.stdin.take());
    assert_eq!(recorder.wait().expect("it ends").code(), Some(3), "nothing is no job");
    let (folder, outside) = (tempfile::tempdir().expect("a folder"), tempfile::NamedTempFile::new().expect("a file"));
    let output = folder.path().join("out.pickle");
    // The recorder writes to this name before it renames the file.
    std::os::unix::fs::symlink(outside.path(), folder.path().join("out.pickle.part")).expect("a link");
    let ended = hand(start(&output, "t4-16gb"), &job("t4-16gb"));
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(said.contains("the snapshot could not be written") && said.contains("Permission denied"), "{said}");
    assert_eq!((ended.status.code(), fs::read(outside.path()).expect("it is there")), (Some(3), Vec::new()));
}

fn on_driver() -> Job {
    config("name = \"a small job\"\nmodel = \"mlp\"\nsteps = 2\ndevice = \"cuda:0\"\n")
}

/// The virtual GPU stands in for the driver: in place of NVIDIA's library it makes the accesses of a driver that starts.
#[test]
fn a_job_on_a_real_gpu_has_a_driver_behind_the_walls() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = |config: &RecorderConfig, job: &Job| {
        let output = folder.path().join("out.pickle");
        run(config, job, &Limits::default(), &output, &mut Audience::default()).expect("a recording")
    };
    let virtual_gpu = built_recorder();
    let _daemon = UnixListener::bind(folder.path().join("control")).expect("a socket");
    let real_gpu = RecorderConfig {
        named_libtorch: Some(virtual_gpu.built_libtorch.clone()),
        library_path: Some(virtual_gpu.virtual_gpu.clone().into()),
        real_gpu: vec![("CUDA_MPS_PIPE_DIRECTORY".into(), folder.path().into())],
        ..virtual_gpu.clone()
    };
    let real = record(&real_gpu, &on_driver());
    assert_eq!(real.card, "NVIDIA A100-SXM4-80GB");
    let figures = |recording: &Recording| (recording.events, recording.peak_live_bytes, recording.peak_reserved_bytes);
    assert_eq!(figures(&real), figures(&record(virtual_gpu, &job("a100-80gb"))));
}

#[test]
fn what_a_driver_is_refused_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    // The variable is there, so that the walls are those of a virtual GPU, and names none, so that a driver starts.
    let ended = hand(start(&folder.path().join("out.pickle"), ""), &on_driver());
    let said = String::from_utf8_lossy(&ended.stdout);
    let refused = "the sandbox of the recorder refused: opening /proc/self/task/";
    assert!(said.contains("OS call failed") && said.contains(refused) && said.contains("/comm for writing"), "{said}");
    assert_eq!(ended.status.code(), Some(3));
}
