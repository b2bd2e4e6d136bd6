//! Tests that a store at its quota accepts nothing more and says what to do.

use shared::api::{ErrorCode, JobErrorCode};
use testkit::http::{Form, Reply, check_refusal};
use testkit::padded::padded;
use testkit::repro::Played;
use testkit::serving::{Launch, ServeProcess};

use crate::injected::jobs::{check_failed, check_finished, recorder, submitted};
use crate::injected::place::{check_no_files, files};

/// Starts a server with a quota and a recorder that plays a script.
fn server(quota: &str, script: &str) -> (ServeProcess, Played) {
    let recorder = recorder(script);
    let launch = Launch::default().with("--jobs", "virtual=1").with("--quota", quota);
    (ServeProcess::launch(&launch.with_variables(recorder.variables())), recorder)
}

#[test]
fn a_recording_beyond_the_quota_is_not_stored() {
    let source = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(source.path(), padded(2 << 20, 1)).expect("room");
    let (server, _recorder) = server("1MiB", &format!("cp '{}' \"$output\"", source.path().display()));
    let id = submitted(&server);
    check_failed(&server, &id, JobErrorCode::NotStored, "quota of the store");
    check_failed(&server, &id, JobErrorCode::NotStored, "Delete jobs");
    check_no_files(&server.data().join("store"));
    check_no_files(&server.data().join("scratch"));
    // A smaller snapshot is stored.
    std::fs::write(source.path(), padded(100 << 10, 1)).expect("room");
    check_finished(&server, &submitted(&server));
    assert_eq!(files(&server.data().join("store")).len(), 1);
}

#[test]
fn configs_count_in_the_quota() {
    // No job ends, so all but the first wait.
    let (server, _recorder) = server("300KiB", "exec sleep 1000");
    let config = format!("# {}\nsteps = 2\nmodel = \"mlp\"\n", "x".repeat(100 << 10));
    let submit = || server.post("/api/v1/jobs", &[], config.as_bytes());
    let taken: Vec<Reply> = (0..2).map(|_| submit()).collect();
    assert!(taken.iter().all(|reply| reply.status == 202), "{}", taken[1].text());
    check_refusal(&submit(), ErrorCode::NoRoom, "quota of the store");
    check_refusal(&server.share(Form::share(&padded(120 << 10, 1))), ErrorCode::NoRoom, "quota of the store");
    let waiting = format!("/api/v1/jobs/{}", taken[1].json()["id"].as_str().expect("an id"));
    assert_eq!(server.post(&format!("{waiting}/cancel"), &[], b"").status, 200);
    assert_eq!(testkit::http::send(server.address, "DELETE", &waiting, &[]).status, 204);
    assert_eq!(submit().status, 202);
}
