//! Tests that many large uploads and jobs do not accumulate in the server's memory.

use testkit::http::Form;
use testkit::padded::padded;
use testkit::process::peak_memory_bytes;
use testkit::serving::{Launch, ServeProcess};

use crate::injected::jobs::recorder;

/// Limit of the server's peak memory, less than the 500 MB of a hundred uploads of 5 MB.
const MOST_BYTES: u64 = 300_000_000;

#[test]
fn a_hundred_uploads_at_once_stay_out_of_memory() {
    let launch = Launch::default().with("--requests", "0").with("--submissions", "0");
    let server = ServeProcess::launch(&launch);
    let upload = |seed| drop(server.shared(Form::share(&padded(5_000_000, seed))));
    std::thread::scope(|scope| (0..100).for_each(|seed| drop(scope.spawn(move || upload(seed)))));
    let peak_bytes = peak_memory_bytes(server.pid()).expect("Linux");
    assert!(peak_bytes < MOST_BYTES, "{peak_bytes} bytes");
    assert_eq!(crate::injected::place::files(&server.data().join("store")).len(), 100);
    crate::injected::place::check_no_files(&server.data().join("scratch"));
}

#[test]
fn lists_of_large_jobs_stay_out_of_memory() {
    const JOBS: usize = 100;
    // No job ends, so all but the first wait.
    let recorder = recorder("exec sleep 1000");
    let launch = Launch::default().with("--requests", "0").with("--submissions", "0").with("--jobs", "virtual=1");
    let server = ServeProcess::launch(&launch.with_variables(recorder.variables()));
    let config = format!("# {}\nsteps = 2\nmodel = \"mlp\"\n", "x".repeat(1_000_000));
    for _ in 0..JOBS {
        let reply = server.post("/api/v1/jobs", &[], config.as_bytes());
        assert_eq!(reply.status, 202, "{}", reply.text());
    }
    let before_bytes = peak_memory_bytes(server.pid()).expect("Linux");
    let list = || {
        let jobs = server.get("/api/v1/jobs?limit=200").json()["jobs"].clone();
        let jobs = jobs.as_array().expect("jobs");
        assert_eq!((jobs.len(), &jobs[0]["steps"], &jobs[0]["before"]), (JOBS, &2.into(), &(JOBS - 2).into()));
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(list))));
    let more_bytes = peak_memory_bytes(server.pid()).expect("Linux") - before_bytes;
    assert!(more_bytes < JOBS as u64 * 1_000_000 / 2, "{more_bytes} bytes for lists of {before_bytes}");
}
