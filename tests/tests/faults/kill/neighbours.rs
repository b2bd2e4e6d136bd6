//! Tests that a job that kills its worker each time fails alone, and jobs beside it finish.

use std::time::{Duration, Instant};

use serde_json::Value;
use shared::api::JobErrorCode;
use testkit::both;
use testkit::repro::Played;
use testkit::serving::{Launch, ServeProcess};
use testkit::storage::{Backend, Storage};

use testkit::histories::Client;

/// Timeout of the whole test on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(400);

const NEIGHBOURS: usize = 3;

/// Recorder script in which the culprit kills its worker after its neighbours start and before they end.
const SCRIPT: &str = r#"
case "$job" in *culprit*) sleep 2; kill -KILL $PPID; sleep 60;; esac
sleep 6
cp "$sample" "$output"
echo '{"type":"finished","steps":1,"peak_allocated_bytes":1,"peak_reserved_bytes":1,"oom":null}'
"#;

fn neighbours_live_on(backend: Backend) {
    let recorder = Played::new(SCRIPT);
    let (storage, data) = (Storage::new(backend), tempfile::tempdir().expect("a folder"));
    let mut launch = Launch { data: Some(data.path().to_owned()), ..Launch::default() }
        .with("--jobs", format!("virtual={}", NEIGHBOURS + 1))
        .with("--lease", "5s")
        .with("--requests", "0")
        .with_variables(recorder.variables());
    if let Some(database) = storage.database.clone() {
        launch = launch.with("--database", database);
    }
    let mut server = ServeProcess::launch(&launch);
    let client = Client::new(server.address);
    let culprit = submit(&client, "culprit");
    let neighbours: Vec<String> =
        (0..NEIGHBOURS).map(|number| submit(&client, &format!("neighbour {number}"))).collect();
    let start = Instant::now();
    let ids: Vec<&String> = neighbours.iter().chain([&culprit]).collect();
    let mut jobs = loop {
        if server.has_ended() {
            server = ServeProcess::launch(&launch);
            client.go_to(server.address);
        }
        let jobs: Vec<Value> = ids.iter().filter_map(|id| Some(client.get(&path(id))?.json())).collect();
        if jobs.len() == ids.len() && jobs.iter().all(is_over) {
            break jobs;
        }
        assert!(start.elapsed() < PATIENCE, "{jobs:?}");
        std::thread::sleep(Duration::from_millis(200));
    };
    let culprit = jobs.pop().expect("it is the last");
    assert_eq!(culprit["state"], "failed", "{culprit}");
    assert_eq!(culprit["error"]["code"], JobErrorCode::WorkerDied.name(), "{culprit}");
    assert_eq!(culprit["attempts"], 3, "{culprit}");
    assert!(jobs.iter().all(|job| job["state"] == "finished"), "{jobs:?}");
    assert!(jobs.iter().any(|job| job["attempts"] == 3), "some of them ran beside it: {jobs:?}");
}

fn submit(client: &Client, name: &str) -> String {
    let config = format!("name = \"{name}\"\nsteps = 1\nmodel = \"mlp\"\n");
    let reply = client.post("/api/v1/jobs", &[], config.as_bytes()).expect("an answer");
    reply.json()["id"].as_str().expect("an id").to_owned()
}

fn path(id: &str) -> String {
    format!("/api/v1/jobs/{id}")
}

fn is_over(job: &Value) -> bool {
    ["finished", "failed", "cancelled"].iter().any(|state| job["state"] == *state)
}

both!(neighbours_live_on);
