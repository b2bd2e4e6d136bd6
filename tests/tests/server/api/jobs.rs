//! Tests the API of jobs: submitting, recording, watching, naming, cancelling, deleting.

use serde_json::{Value, json};
use server::config::SettingsArgs;
use shared::analysis::Timeline;
use shared::api::ErrorCode;
use shared::import::import;
use testkit::both;
use testkit::http::check_refusal;
use testkit::patience::ask_until;
use testkit::server::{Reply, Server};
use testkit::storage::Backend;

use crate::api::shares::share;

/// Model that is recorded in a second.
const SMALL: &str = "steps = 3\n[model]\nfamily = \"mlp\"\ninput = 64\nhidden = [128]\nclasses = 10";

/// Model whose recording runs until it is cancelled.
const LONG: &str = "steps = 4000\nbatch = 1\nsequence = 64\n[model]\npreset = \"gpt2\"\nlayers = 2";

const FITTING: &str = "name = \"fits\"\nbatch = 4\nsequence = 128\nsteps = 4\ncard = \"t4-16gb\"\n\
    [model]\npreset = \"gpt2\"\nlayers = 2\nhidden = 256\nheads = 4";

/// Batch that does not fit on a small card.
const TOO_LARGE: &str = "name = \"too large\"\nbatch = 4096\nsequence = 64\nsteps = 2\ncard = \"custom:2GiB\"\n\
    [model]\npreset = \"gpt2\"\nlayers = 4\nhidden = 256\nheads = 4";

fn server(backend: Backend, jobs: &str) -> Server {
    Server::on(backend, SettingsArgs { jobs: Some(jobs.to_owned()), ..SettingsArgs::default() })
}

#[track_caller]
fn submit(server: &Server, config: &str) -> String {
    let reply = server.send_body("POST", "/api/v1/jobs", &[], config.as_bytes());
    assert_eq!(reply.status, 202, "{}", reply.text());
    let id = reply.json()["id"].as_str().expect("an id").to_owned();
    assert_eq!(reply.header("location"), Some(format!("/api/v1/jobs/{id}").as_str()));
    id
}

fn job(server: &Server, id: &str) -> Value {
    server.get(&format!("/api/v1/jobs/{id}"), &[]).json()
}

#[track_caller]
fn wait_for(server: &Server, id: &str, states: &[&str]) -> Value {
    ask_until(|| job(server, id), |job| states.iter().any(|state| job["state"] == *state))
}

/// Returns the events of a stream that has ended, as numbers and data.
fn events(reply: &Reply) -> Vec<(u64, Value)> {
    let pieces = reply.text().split("\n\n").filter(|piece| piece.starts_with("id: "));
    let event = |piece: &str| {
        let (id, data) = piece.strip_prefix("id: ")?.split_once("\ndata: ")?;
        Some((id.parse().ok()?, serde_json::from_str(data).ok()?))
    };
    pieces.filter_map(event).collect()
}

fn a_config_becomes_a_snapshot(backend: Backend) {
    let server = server(backend, "virtual=1");
    let id = submit(&server, SMALL);
    let done = wait_for(&server, &id, &["finished", "failed"]);
    assert_eq!(done["state"], "finished", "{done}");
    assert_eq!((&done["result"]["steps"], &done["attempts"]), (&json!(3), &json!(1)));

    let snapshot = server.get(&format!("/api/v1/jobs/{id}/snapshot"), &[]);
    assert_eq!(snapshot.header("content-type"), Some("application/gzip"));
    assert_eq!(done["snapshot_bytes"], json!(snapshot.body.len()));
    let trace = import(&snapshot.body).expect("a snapshot");
    assert_eq!(done["result"]["events"], json!(trace.devices[0].events.len()));

    let all = events(&server.get(&format!("/api/v1/jobs/{id}/events"), &[]));
    let numbers: Vec<u64> = all.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=all.len() as u64).collect::<Vec<_>>());
    let states: Vec<_> =
        all.iter().filter(|(_, event)| event["type"] == "state").map(|(_, event)| &event["state"]).collect();
    assert_eq!(states, ["queued", "running", "finished"]);
    assert!(all.iter().any(|(_, event)| event["type"] == "progress"), "{all:?}");

    // A client that reconnects continues after its last event.
    let rest = events(&server.get(&format!("/api/v1/jobs/{id}/events"), &[("Last-Event-ID", "2")]));
    assert_eq!(rest, all[2..]);
    // A browser reconnects after each end of the stream, until status 204 tells it to stop.
    for last in [all.len().to_string(), "999999".to_owned()] {
        let nothing = server.get(&format!("/api/v1/jobs/{id}/events"), &[("Last-Event-ID", &last)]);
        assert_eq!((nothing.status, nothing.body.len()), (204, 0));
    }
}

fn configs_come_in_any_form(backend: Backend) {
    let server = server(backend, "virtual=0");
    let body = json!({"config": SMALL, "card": "t4-16gb", "steps": 2, "priority": 3}).to_string();
    let reply = server.send_body("POST", "/api/v1/jobs", &[("Content-Type", "application/json")], body.as_bytes());
    // No worker takes jobs, which is reported before anything is queued.
    check_refusal(&reply, ErrorCode::InvalidConfig, "No worker");
    assert_eq!(server.get("/api/v1/jobs", &[]).json()["jobs"], json!([]));
}

fn what_is_wrong_is_said_by_key_and_line_and_a_repeated_request_is_one_job(backend: Backend) {
    let server = server(backend, "virtual=1");
    let wrong = |config: &str| server.send_body("POST", "/api/v1/jobs", &[], config.as_bytes());
    let reply = wrong("model = \"gpt2\"\nbatch = 0\nsteps = 0");
    check_refusal(&reply, ErrorCode::InvalidConfig, "2 problems");
    let paths: Vec<_> =
        reply.json()["problems"].as_array().expect("problems").iter().map(|p| p["path"].clone()).collect();
    assert!(paths.contains(&json!("steps")) && paths.contains(&json!("batch")), "{paths:?}");
    let reply = wrong("model = \"gpt2\"\nbatch = = 3");
    assert_eq!(reply.json()["problems"][0]["line"], json!(2));
    check_refusal(&server.get("/api/v1/jobs/none", &[]), ErrorCode::NotFound, "no such job");
    check_refusal(&wrong(&format!("device = \"cuda:7\"\n{SMALL}")), ErrorCode::InvalidConfig, "`cuda:7`");
    let send =
        |config: &str| server.send_body("POST", "/api/v1/jobs", &[("Idempotency-Key", "one")], config.as_bytes());
    let first = send(SMALL).json()["id"].clone();
    assert_eq!(send(SMALL).json()["id"], first);
    check_refusal(&send("model = \"gpt2\""), ErrorCode::Conflict, "Idempotency-Key");
}

fn jobs_are_cancelled_while_they_wait_and_while_they_run(backend: Backend) {
    let server = server(backend, "virtual=1");
    let running = submit(&server, LONG);
    wait_for(&server, &running, &["running"]);
    let waiting = submit(&server, SMALL);
    assert_eq!(job(&server, &waiting)["before"], json!(0));
    let cancel = |id: &str| server.send_body("POST", &format!("/api/v1/jobs/{id}/cancel"), &[], b"").json();
    assert_eq!(cancel(&waiting)["state"], "cancelled");
    cancel(&running);
    let stopped = wait_for(&server, &running, &["cancelled", "failed", "finished"]);
    assert_eq!(stopped["state"], "cancelled", "{stopped}");
    check_refusal(&server.get(&format!("/api/v1/jobs/{running}/snapshot"), &[]), ErrorCode::NotFound, "no snapshot");
}

/// Checks that the chart, the figures above it and the snapshot agree to the byte.
#[track_caller]
fn check_story(server: &Server, id: &str, job: &Value) {
    let highest = |name: &str| {
        let curve = job["curve"][name].as_array().unwrap_or_else(|| panic!("no {name} in {job}"));
        curve.iter().map(|bytes| bytes.as_u64().expect("bytes")).max()
    };
    let result = &job["result"];
    assert_eq!(highest("live_curve"), result["peak_live_bytes"].as_u64());
    assert_eq!(highest("reserved_curve"), result["peak_reserved_bytes"].as_u64());
    let snapshot = server.get(&format!("/api/v1/jobs/{id}/snapshot"), &[]);
    let trace = import(&snapshot.body).expect("a snapshot");
    let timeline = Timeline::new(&trace, &trace.devices[0]);
    assert_eq!(result["peak_live_bytes"], json!(timeline.live_peak().1));
    assert_eq!(job["curve"]["peak_event"], json!(i64::from(timeline.live_peak().0) - 1));
    assert_eq!(job["curve"]["events"], json!(timeline.events()));
    assert_eq!(job["curve"]["capacity_bytes"], job["capacity_bytes"]);
}

fn a_finished_job_tells_one_story(backend: Backend) {
    let server = server(backend, "virtual=2");
    let ids = [submit(&server, FITTING), submit(&server, TOO_LARGE)];
    let [fitting, large] = ids.each_ref().map(|id| wait_for(&server, id, &["finished", "failed"]));
    check_story(&server, &ids[0], &fitting);
    check_story(&server, &ids[1], &large);

    assert_eq!((&fitting["state"], &fitting["outcome"]), (&json!("finished"), &json!("completed")));
    assert_eq!(fitting["capacity_bytes"], json!(14_930_u64 << 20));
    let steps: Vec<_> =
        fitting["curve"]["steps"].as_array().expect("steps").iter().map(|s| s["step"].clone()).collect();
    assert_eq!((steps, &fitting["curve"]["oom_events"]), ((0..4).map(|step| json!(step)).collect(), &json!([])));

    // The state is part of the API's contract; the outcome says more.
    assert_eq!((&large["state"], &large["outcome"]), (&json!("finished"), &json!("out_of_memory")), "{large}");
    assert_eq!(large["capacity_bytes"], json!(2_u64 << 30));
    assert_ne!(large["curve"]["oom_events"], json!([]));
    let list = server.get("/api/v1/jobs", &[]).json();
    assert_eq!(list["jobs"][0]["outcome"], "out_of_memory");
    assert_eq!(list["jobs"][0].get("curve"), None, "lists do without");
}

fn jobs_are_named(backend: Backend) {
    let server = server(backend, "virtual=1");
    let id = submit(&server, SMALL);
    wait_for(&server, &id, &["finished"]);
    let rename = |body: &str| server.send_body("PATCH", &format!("/api/v1/jobs/{id}"), &[], body.as_bytes());
    let renamed = rename(r#"{"name": " the small one "}"#);
    assert_eq!((renamed.status, &renamed.json()["name"]), (200, &json!("the small one")), "{}", renamed.text());
    assert_eq!(job(&server, &id)["name"], "the small one");
    assert_eq!(server.get("/api/v1/jobs", &[]).json()["jobs"][0]["name"], "the small one");
    let file = server.get(&format!("/api/v1/jobs/{id}/snapshot"), &[]);
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"the-small-one.pickle.gz\""));
    for name in [json!(""), json!("  "), json!("a\nb"), json!("x".repeat(101)), json!(3)] {
        check_refusal(&rename(&json!({ "name": name }).to_string()), ErrorCode::BadRequest, "name");
    }
    check_refusal(&rename(r#"{"state": "failed"}"#), ErrorCode::BadRequest, "state");
    check_refusal(&rename(&"x".repeat(10 << 10)), ErrorCode::TooLarge, "bytes");
    assert_eq!(rename(&json!({ "name": "ü".repeat(100) }).to_string()).status, 200);
    let unknown = server.send_body("PATCH", "/api/v1/jobs/none", &[], br#"{"name": "a"}"#);
    check_refusal(&unknown, ErrorCode::NotFound, "no such job");
}

fn jobs_are_deleted(backend: Backend) {
    let server = server(backend, "virtual=1");
    let delete = |id: &str| server.send("DELETE", &format!("/api/v1/jobs/{id}"), &[]);
    let done = submit(&server, SMALL);
    wait_for(&server, &done, &["finished"]);
    let snapshot = server.get(&format!("/api/v1/jobs/{done}/snapshot"), &[]).body;
    let link = share(&server, &json!({"title": "mine", "view_state": "", "days": 7}), &snapshot).json();
    let link = format!("/api/v1/shares/{}", link["token"].as_str().expect("a token"));

    let running = submit(&server, LONG);
    wait_for(&server, &running, &["running"]);
    let waiting = submit(&server, SMALL);
    check_refusal(&delete(&running), ErrorCode::Conflict, "cancel it first");
    check_refusal(&delete(&waiting), ErrorCode::Conflict, "cancel it first");
    assert_eq!(job(&server, &running)["state"], "running");
    for id in [&waiting, &running] {
        server.send_body("POST", &format!("/api/v1/jobs/{id}/cancel"), &[], b"");
        wait_for(&server, id, &["cancelled"]);
    }
    for id in [&done, &running, &waiting] {
        assert_eq!(delete(id).status, 204);
        check_refusal(&delete(id), ErrorCode::NotFound, "no such job");
        for path in ["", "/snapshot", "/events"] {
            let reply = server.get(&format!("/api/v1/jobs/{id}{path}"), &[]);
            check_refusal(&reply, ErrorCode::NotFound, "no such job");
        }
    }
    assert_eq!(server.get("/api/v1/jobs", &[]).json()["jobs"], json!([]));
    // A link made from the job is unchanged.
    assert_eq!(server.get(&link, &[]).json()["title"], "mine");
    assert_eq!(server.get(&format!("{link}/snapshot"), &[]).body, snapshot);
    // Later jobs are not affected.
    let again = submit(&server, SMALL);
    wait_for(&server, &again, &["finished"]);
}

fn a_full_queue_says_so(backend: Backend) {
    let settings = SettingsArgs { jobs: Some("virtual=1".to_owned()), queue: Some(1), ..SettingsArgs::default() };
    let server = Server::on(backend, settings);
    let running = submit(&server, LONG);
    wait_for(&server, &running, &["running"]);
    let keyed = || server.send_body("POST", "/api/v1/jobs", &[("Idempotency-Key", "one")], SMALL.as_bytes());
    let accepted = keyed();
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let reply = server.send_body("POST", "/api/v1/jobs", &[], SMALL.as_bytes());
    check_refusal(&reply, ErrorCode::QueueFull, "with 1 job waiting");
    assert!(reply.header("retry-after").is_some());
    // A client that repeats an accepted request gets the same answer, although the queue is full.
    assert_eq!((keyed().status, &keyed().json()["id"]), (202, &accepted.json()["id"]));
}

fn lists_come_in_parts(backend: Backend) {
    let server = server(backend, "virtual=1");
    let ids: Vec<String> = (0..3).map(|_| submit(&server, SMALL)).collect();
    let list = server.get("/api/v1/jobs?limit=2", &[]).json();
    let listed: Vec<_> = list["jobs"].as_array().expect("jobs").iter().map(|job| job["id"].clone()).collect();
    assert_eq!(listed, [json!(ids[2]), json!(ids[1])]);
    let rest = server.get(&format!("/api/v1/jobs?limit=2&before={}", list["next"].as_str().unwrap()), &[]).json();
    assert_eq!(rest["jobs"][0]["id"], json!(ids[0]));
    assert_eq!(rest["next"], Value::Null);
    check_refusal(&server.get("/api/v1/jobs?limt=2", &[]), ErrorCode::BadRequest, "parameter");
}

both!(
    a_config_becomes_a_snapshot,
    configs_come_in_any_form,
    what_is_wrong_is_said_by_key_and_line_and_a_repeated_request_is_one_job,
    jobs_are_cancelled_while_they_wait_and_while_they_run,
    a_finished_job_tells_one_story,
    jobs_are_named,
    jobs_are_deleted,
    a_full_queue_says_so,
    lists_come_in_parts,
);
