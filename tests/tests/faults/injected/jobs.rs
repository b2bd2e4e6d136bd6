//! Runs jobs with a scripted recorder, on a server in a separate process.

use serde_json::Value;
use shared::api::{ErrorCode, JobErrorCode};
use testkit::http::{Reply, check_refusal};
use testkit::patience::ask_until;
use testkit::repro::Played;
use testkit::serving::ServeProcess;

const CONFIG: &[u8] = b"steps = 2\nmodel = \"mlp\"\n";

/// Returns a recorder that starts, runs `script` and ends successfully; the script writes the snapshot.
pub(crate) fn recorder(script: &str) -> Played {
    let started = r#"echo '{"type":"started","device":"Fake","memory_bytes":100,"parameters":7,"steps":2}'"#;
    let written = r#"echo '{"type":"snapshot","steps":2,"partial":false}'"#;
    let finished =
        r#"echo '{"type":"finished","steps":2,"peak_allocated_bytes":30,"peak_reserved_bytes":40,"oom":null}'"#;
    Played::new(&[started, script, written, finished].join("\n"))
}

pub(crate) fn submit(server: &ServeProcess) -> Reply {
    server.post("/api/v1/jobs", &[], CONFIG)
}

#[track_caller]
pub(crate) fn submitted(server: &ServeProcess) -> String {
    let reply = submit(server);
    assert_eq!(reply.status, 202, "{}", reply.text());
    reply.json()["id"].as_str().expect("an id").to_owned()
}

#[track_caller]
pub(crate) fn wait_for(server: &ServeProcess, id: &str, states: &[&str]) -> Value {
    let job = || server.get(&format!("/api/v1/jobs/{id}")).json();
    ask_until(job, |job| states.iter().any(|state| job["state"] == *state))
}

#[track_caller]
pub(crate) fn check_failed(server: &ServeProcess, id: &str, code: JobErrorCode, part: &str) {
    let job = wait_for(server, id, &["failed", "finished", "cancelled"]);
    assert_eq!((&job["state"], &job["error"]["code"]), (&"failed".into(), &code.name().into()), "{job}");
    for key in ["message", "hint"] {
        assert!(job["error"][key].as_str().is_some_and(|text| text.ends_with('.')), "{job}");
    }
    assert!(job["error"].to_string().contains(part) || job["log"].to_string().contains(part), "{part:?} in {job}");
    check_refusal(&server.get(&format!("/api/v1/jobs/{id}/snapshot")), ErrorCode::NotFound, "no snapshot");
}

#[track_caller]
pub(crate) fn check_finished(server: &ServeProcess, id: &str) -> Value {
    let job = wait_for(server, id, &["failed", "finished", "cancelled"]);
    assert_eq!(job["state"], "finished", "{job}");
    let snapshot = server.get(&format!("/api/v1/jobs/{id}/snapshot"));
    assert_eq!((snapshot.status, &job["snapshot_bytes"]), (200, &snapshot.body.len().into()));
    assert!(shared::import::import(&snapshot.body).is_ok());
    job
}
