//! Tests that any behaviour of a recorder ends in a recording or in a readable failure.

use std::time::{Duration, Instant};

use server::recording::repro::{Recording, RecordingFailure};
use shared::api::RecorderLine;
use shared::job::RawJob;
use testkit::patience::wait_until;
use testkit::repro::{Played, job};

const STARTED: &str = r#"echo '{"type":"started","device":"Fake","memory_bytes":100,"parameters":7,"steps":2}'"#;
const BACKWARD: &str = r#"echo '{"type":"progress","step":1,"phase":"backward","live_bytes":10,"reserved_bytes":20}'"#;
const WRITTEN: &str = r#"cp "$sample" "$output"; echo '{"type":"snapshot","steps":1,"partial":true}'"#;
const FINISHED: &str =
    r#"echo '{"type":"finished","steps":2,"peak_allocated_bytes":30,"peak_reserved_bytes":40,"oom":null}'"#;

fn script(parts: &[&str]) -> Played {
    Played::new(&parts.join("\n"))
}

#[track_caller]
fn check_failure(mut played: Played, parts: &[&str]) -> (RecordingFailure, Played) {
    let start = Instant::now();
    let failure = *played.run(&job("t4-16gb")).expect_err("a failure");
    assert!(start.elapsed() < Duration::from_secs(15), "it took {:?}", start.elapsed());
    let text = format!("{}\n{}\n{}", failure.message, failure.hint, failure.log_tail.join("\n"));
    for part in parts {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let scratch = played.files().into_iter().filter(|name| name.to_string_lossy().starts_with('.')).count();
    assert_eq!(scratch, 0, "nothing is left behind");
    assert_eq!(failure.partial.is_some(), played.output().exists(), "{failure:?}");
    (failure, played)
}

#[track_caller]
fn check_recording(mut played: Played) -> (Recording, Played) {
    let recording = played.run(&job("t4-16gb")).expect("a recording");
    assert!(played.output().exists());
    (recording, played)
}

#[test]
fn a_run_to_the_end_or_out_of_memory_is_a_recording() {
    let (recording, played) = check_recording(script(&[STARTED, BACKWARD, WRITTEN, FINISHED]));
    assert_eq!((recording.card.as_str(), recording.steps), ("t4-16gb", 2));
    assert_eq!((recording.peak_allocated_bytes, recording.peak_reserved_bytes), (30, 40));
    assert!(recording.events > 0 && recording.peak_live_bytes > 0, "from the trace: {recording:?}");
    assert_eq!(recording.oom, None);
    let report = serde_json::to_value(recording.report()).unwrap();
    let keys: Vec<_> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let promised =
        ["card", "events", "oom", "peak_allocated_bytes", "peak_live_bytes", "peak_reserved_bytes", "seconds", "steps"];
    assert_eq!(keys, promised);
    let lines = &played.audience.lines;
    assert!(matches!(lines[0], RecorderLine::Started(_)) && matches!(lines[3], RecorderLine::Finished(_)));
    let oom = r#"{"message":"CUDA out of memory.","step":1,"phase":"backward","module":"h.0","operation":"aten::mm"}"#;
    let finished = FINISHED.replace("null", oom);
    let (recording, _) = check_recording(script(&[STARTED, WRITTEN, &finished]));
    let oom = recording.oom.expect("where memory ran out");
    assert_eq!((oom.step, oom.module.as_str(), oom.operation.as_str()), (Some(1), "h.0", "aten::mm"));
}

#[test]
fn the_job_arrives_and_the_environment_is_clean() {
    let mut played = script(&[r#"echo "$job" | grep name >&2; env >&2; exit 3"#]);
    let allocator = Some("expandable_segments:True".to_owned());
    let job = RawJob { allocator, ..job("2x t4-16gb").to_raw() }.resolve().expect("a valid config");
    let failure = played.run(&job).expect_err("a failure");
    let has = |start: &str| failure.log_tail.iter().any(|line| line.starts_with(start));
    assert!(failure.log_tail[0].contains("a small job"), "{failure:?}");
    assert!(has("SNAPSCOPE_VIRTUAL_GPU=2x t4-16gb") && has("SNAPSCOPE_VIRTUAL_GPU_LOG=/"), "{failure:?}");
    assert!(has("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True") && has("PATH="), "{failure:?}");
    let folders = format!("LD_LIBRARY_PATH={}:", played.config.virtual_gpu.display());
    assert!(has(&folders), "the stand-ins come before libtorch: {failure:?}");
    assert!(!has("CARGO") && !has("LD_PRELOAD"), "nothing else is passed on: {failure:?}");
}

#[test]
fn a_failure_that_the_recorder_tells_keeps_its_words_place_and_stack() {
    let failed = r#"echo '{"type":"failed","message":"no kernel","step":1,"phase":"forward","module":"h.0"}'; exit 3"#;
    let (failure, _) = check_failure(script(&[STARTED, WRITTEN, "echo hm >&2", failed]), &["no kernel", "hm"]);
    assert_eq!(failure.place(Some(2)), "step 2 of 2, forward, h.0");
    assert!(failure.partial.is_some(), "the trace until then is kept");
    let message = r"a bad shape\nException raised from f at g.cpp:1 (most recent call first):\nframe #0: c10::Error";
    let line = format!(r#"{{"type":"failed","message":"{message}","step":null,"phase":"setup","module":""}}"#);
    let failed = format!("printf '%s\\n' '{line}'");
    let (failure, _) = check_failure(script(&[&failed, "exit 3"]), &["frame #0: c10::Error"]);
    assert_eq!(failure.message, "a bad shape");
}

#[test]
fn a_crash_names_its_signal_and_the_last_place_but_changes_nothing_after_the_end() {
    let (failure, _) = check_failure(script(&[STARTED, BACKWARD, WRITTEN, "kill -SEGV $$"]), &["SIGSEGV"]);
    assert_eq!(failure.place(Some(2)), "step 2 of 2, backward");
    assert!(failure.partial.is_some());
    check_failure(script(&["echo 'what(): bad' >&2; kill -ABRT $$"]), &["SIGABRT", "what(): bad"]);
    check_failure(script(&["kill -KILL $$"]), &["SIGKILL", "run out of memory"]);
    check_recording(script(&[STARTED, WRITTEN, FINISHED, "kill -SEGV $$"]));
}

#[test]
fn an_end_without_a_last_line_or_with_something_missing_says_what_to_run() {
    check_failure(script(&[STARTED, "exit 0"]), &["without a result", "status 0"]);
    check_failure(script(&["echo oops >&2; exit 7"]), &["status 7", "oops"]);
    let loader = "recorder: error while loading shared libraries: libcudart.so.13: cannot open shared object file";
    check_failure(script(&[&format!("echo '{loader}' >&2; exit 127")]), &["libcudart.so.13", "./dev build"]);
    let mut played = script(&[]);
    played.config.program = "/no/such/recorder".into();
    check_failure(played, &["no recorder at /no/such/recorder", "./dev build", "SNAPSCOPE_RECORDER"]);
    let mut played = script(&[]);
    played.config.virtual_gpu = "/no/such/gpu".into();
    check_failure(played, &["no virtual GPU in /no/such/gpu", "./dev build"]);
    let mut played = script(&[]);
    played.config.named_libtorch = Some("/no/such/torch".into());
    check_failure(played, &["no libtorch with CUDA in /no/such/torch", "SNAPSCOPE_LIBTORCH"]);
}

#[test]
fn snapshots_that_are_missing_broken_or_too_large_are_failures_of_a_reader_apart() {
    check_failure(script(&[STARTED, FINISHED]), &["finished without a snapshot"]);
    check_failure(script(&[STARTED, r#"echo broken >"$output""#, FINISHED]), &["the recorder's snapshot: "]);
    check_failure(script(&[r#"head -c 300 "$sample" >"$output"; kill -SEGV $$"#]), &["SIGSEGV"]);
    // 300 kB that decompress to deeply nested lists, which need more than 1 GiB once they are decoded.
    let bomb = r#"(printf '\200\004'; head -c 300000000 /dev/zero | tr '\0' ']') | gzip >"$output""#;
    let mut played = script(&[STARTED, bomb, FINISHED]);
    played.limits.memory_bytes = 100 << 20;
    let (failure, played) = check_failure(played, &["the recording is too large", "1.00 GiB of memory", "fewer steps"]);
    assert!(failure.partial.is_some() && played.output().exists(), "it can be read elsewhere");
    let mut played = script(&[STARTED, WRITTEN, FINISHED]);
    played.config.reader = "/no/such/program".into();
    check_failure(played, &["cannot be read by /no/such/program", "No such file"]);
    let mut played = script(&[STARTED, WRITTEN, FINISHED]);
    played.config.reader = "/bin/false".into();
    check_failure(played, &["the recording is too large"]);
}

#[test]
fn a_run_that_takes_too_long_is_stopped_or_killed() {
    let mut played = script(&[STARTED, BACKWARD, WRITTEN, "sleep 60"]);
    played.limits.time = Duration::from_millis(500);
    let (failure, _) = check_failure(played, &["longer than 0.5 s"]);
    assert!(failure.partial.is_some());
    assert_eq!(failure.phase, "backward");
    let mut played = script(&["trap '' TERM INT HUP", WRITTEN, "while :; do sleep 0.1; done"]);
    played.limits.time = Duration::from_millis(500);
    check_failure(played, &["longer than 0.5 s"]);
}

#[test]
fn a_run_that_takes_too_much_memory_is_stopped_with_what_it_started() {
    // `tail` keeps what may be the last line; the shell's own limit protects the machine if the test fails.
    for command in ["exec tail /dev/zero", "tail /dev/zero & wait"] {
        let mut played = script(&[WRITTEN, &format!("ulimit -v 4000000; {command}")]);
        played.limits.memory_bytes = 100 << 20;
        check_failure(played, &["of this machine's memory", "more than its limit of 100 MiB"]);
    }
}

#[test]
fn the_kernel_holds_limits_and_a_file_that_grows_too_large_ends_the_run() {
    let limits = r#"echo "core $(ulimit -c), descriptors $(ulimit -n), seconds $(ulimit -t)" >&2; exit 3"#;
    let (failure, played) = check_failure(script(&[limits]), &["core 0, descriptors 4096, seconds "]);
    let seconds = failure.log_tail[0].rsplit(' ').next().and_then(|seconds| seconds.parse().ok());
    let seconds = Duration::from_secs(seconds.expect("a number"));
    assert!(seconds > played.limits.time && seconds < Duration::from_secs(1_000_000), "{seconds:?}");
    let mut played = script(&[r#"exec head -c 1000000 /dev/zero >"$output""#]);
    played.limits.output_bytes = 100_000;
    check_failure(played, &["larger than its limit of 97.7 KiB"]);
}

#[test]
fn a_run_can_be_cancelled() {
    let mut played = script(&[STARTED, WRITTEN, "sleep 60"]);
    played.audience.until = Some(Instant::now() + Duration::from_millis(300));
    let (failure, _) = check_failure(played, &["cancelled"]);
    assert!(failure.partial.is_some());
}

#[test]
fn noise_does_no_harm() {
    let noise =
        r#"echo 'not JSON'; echo '{"type":"unheard of"}'; printf '\377\376\n'; head -c 3000000 /dev/zero; echo"#;
    let flood = r"yes 'a line of the log that says little' | head -c 5000000 >&2; printf '\nthe last words\n' >&2";
    let (recording, _) = check_recording(script(&[noise, flood, STARTED, WRITTEN, FINISHED]));
    assert_eq!(recording.steps, 2);
    for (parts, kept) in [([noise, "exit 1"], "unheard of"), ([flood, "exit 1"], "the last words")] {
        let (failure, _) = check_failure(script(&parts), &[kept]);
        assert!(failure.log_tail.len() <= 40 && failure.log_tail.iter().all(|line| line.len() < 10_000));
    }
}

#[test]
fn what_the_recorder_started_ends_with_it() {
    let pid = tempfile::NamedTempFile::new().unwrap();
    let start = format!("sleep 1000 & echo $! >'{}'", pid.path().display());
    check_recording(script(&[STARTED, WRITTEN, FINISHED, &start]));
    let pid: u32 = std::fs::read_to_string(pid.path()).unwrap().trim().parse().unwrap();
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The process that adopts orphans may not have reaped it yet.
    let is_gone = || state().is_empty() || state().contains(") Z ");
    wait_until("what it started ends", is_gone);
}

#[test]
fn a_failure_before_the_first_snapshot_leaves_older_files_alone_and_names_a_missing_folder() {
    let mut played = script(&["exit 1"]);
    std::fs::write(played.output(), "an older recording").unwrap();
    let failure = played.run(&job("t4-16gb")).expect_err("a failure");
    assert_eq!(failure.partial, None);
    assert_eq!(std::fs::read(played.output()).unwrap(), b"an older recording");
    let mut played = script(&[]);
    let output = played.output().join("deeper/out.pickle");
    let outcome =
        server::recording::repro::run(&played.config, &job("t4-16gb"), &played.limits, &output, &mut played.audience);
    let failure = outcome.expect_err("a failure");
    assert!(failure.message.contains("cannot be written"), "{failure}");
}
