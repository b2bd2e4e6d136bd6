//! Tests jobs that make several recordings, and the recordings of the gallery, with a scripted recorder.

use serde_json::{Value, json};
use shared::api::ErrorCode;
use testkit::http::check_refusal;
use testkit::patience::ask_until;
use testkit::repro::Played;
use testkit::serving::{Launch, ServeProcess};

/// Recorder whose GPU holds a batch of at most 13, and which records nothing in steps of a file called `wait`.
const RECORDER: &str = r#"
batch=$(echo "$job" | sed -n 's/^ *"batch": \([0-9]*\).*/\1/p' | head -n 1)
echo '{"type":"started","device":"Fake","memory_bytes":1000000,"parameters":10,"steps":2}'
while [ -e "$HOME/wait" ]; do sleep 0.05; done
cp "$sample" "$output"
echo '{"type":"snapshot","steps":2,"partial":false}'
oom=null
[ "$batch" -le 13 ] || oom='{"message":"CUDA out of memory. Tried to allocate 2.00 GiB.","step":0,"phase":"backward","module":"h.0","operation":""}'
echo "{\"type\":\"finished\",\"steps\":2,\"peak_allocated_bytes\":${batch}000,\"peak_reserved_bytes\":${batch}024,\"oom\":$oom}"
"#;

const CONFIG: &str = "name = \"small\"\ncard = \"t4-16gb\"\n[model]\nfamily = \"mlp\"\ninput = 64\nhidden = [64]\n\
    classes = 10\n";

const RANGES: &str = "[sweep]\nbatch = \"8..16x2\"\nprecision = [\"fp32\", \"bf16\"]\n";

fn server(played: &Played) -> ServeProcess {
    ServeProcess::launch(&Launch::default().with("--jobs", "virtual=1").with_variables(played.variables()))
}

#[track_caller]
fn submit(server: &ServeProcess, path: &str, config: &str) -> Value {
    let reply = server.post(path, &[], config.as_bytes());
    assert_eq!(reply.status, 202, "{}", reply.text());
    reply.json()
}

#[track_caller]
fn wait(server: &ServeProcess, job: &Value, is_there: impl Fn(&Value) -> bool) -> Value {
    let path = format!("/api/v1/jobs/{}", job["id"].as_str().expect("an id"));
    ask_until(|| server.get(&path).json(), is_there)
}

#[track_caller]
fn wait_for(server: &ServeProcess, job: &Value, state: &str) -> Value {
    let is_over = |job: &Value| !["queued", "running"].contains(&job["state"].as_str().unwrap_or_default());
    let job = wait(server, job, |job| job["state"] == state || is_over(job));
    assert_eq!(job["state"], state, "{job}");
    job
}

#[test]
fn a_fit_finds_the_largest_batch() {
    let played = Played::new(RECORDER);
    let server = server(&played);
    let queued = submit(&server, "/api/v1/jobs?task=fit", &format!("batch = 99\n{CONFIG}"));
    assert_eq!((&queued["task"], &queued["steps"], &queued["fit"]), (&json!("fit"), &json!(2), &Value::Null));
    let job = wait_for(&server, &queued, "finished");
    assert_eq!(job["fit"]["batch"], 13, "{job}");
    assert_eq!((&job["fit"]["name"], &job["fit"]["card"]), (&json!("small"), &json!("t4-16gb")));
    let batches: Vec<u64> =
        job["fit"]["probes"].as_array().expect("probes").iter().filter_map(|probe| probe["batch"].as_u64()).collect();
    assert_eq!(batches, [1, 2, 4, 8, 11, 12, 13, 14, 15, 16]);
    assert_eq!(job["summary"], json!({"recordings": 10, "fitting": 7, "failed": 0, "largest_batch": 13}));
    assert_eq!((&job["result"], &job["snapshot_bytes"], &job["recorded"]), (&Value::Null, &Value::Null, &Value::Null));

    // Each recording is an event, in the order in which they ended.
    let events = server.get(&format!("/api/v1/jobs/{}/events", queued["id"].as_str().expect("an id")));
    let told = events.text().lines().filter(|line| line.contains("\"recorded\"")).count();
    assert_eq!(told, 10, "{}", events.text());
    assert!(events.text().contains("\"label\":\"batch 13\""), "{}", events.text());

    // The list of jobs has the summary.
    let list = server.get("/api/v1/jobs").json();
    assert_eq!(list["jobs"][0]["summary"]["largest_batch"], 13);
}

/// Recorder that needs 2 GB per sample, half of it with checkpointing, and 4 GB less with a fused optimizer.
const REMEDIES: &str = r#"
job=$(echo "$job" | tr -d ' \n')
bytes=$(($(echo "$job" | sed 's/.*"batch":\([0-9]*\).*/\1/') * 2000000000))
case "$job" in *'"checkpointing":{"every":1,'*) bytes=$((bytes / 2));; esac
case "$job" in *'"implementation":"fused"'*) bytes=$((bytes > 4000000000 ? bytes - 4000000000 : 0));; esac
echo '{"type":"started","device":"Fake","memory_bytes":1000000,"parameters":10,"steps":2}'
cp "$sample" "$output"
echo '{"type":"snapshot","steps":2,"partial":false}'
oom=null
case "$job" in *1048576MiB*) ;; *) [ "$bytes" -le 14500000000 ] || oom='{"message":"CUDA out of memory.","step":0,"phase":"backward","module":"h.0","operation":""}';; esac
echo "{\"type\":\"finished\",\"steps\":2,\"peak_allocated_bytes\":$bytes,\"peak_reserved_bytes\":$bytes,\"oom\":$oom}"
"#;

#[test]
fn a_fix_finds_what_makes_it_fit() {
    let played = Played::new(REMEDIES);
    let server = server(&played);
    let queued = submit(&server, "/api/v1/jobs?task=fix", &format!("batch = 15\n{CONFIG}"));
    assert_eq!((&queued["task"], &queued["steps"]), (&json!("fix"), &json!(2)));
    let job = wait_for(&server, &queued, "finished");
    let fix = &job["fix"];
    assert_eq!(fix["smallest_set"], json!(["fused", "checkpoint"]), "{job}");
    assert_eq!((&fix["baseline"]["fits"], &fix["together"]["fits"]), (&json!(false), &json!(true)));
    assert_eq!(fix["together"]["lines"], json!(["checkpointing = true", "optimizer = { implementation = \"fused\" }"]));
    assert_eq!((&fix["together"]["name"], &fix["largest_batch"]), (&json!("fused+checkpoint"), &json!(18)));
    assert_eq!((&fix["card"], &fix["name"]), (&json!("t4-16gb"), &json!("small")));
    let saving: Vec<_> = fix["remedies"].as_array().expect("remedies").iter().map(|remedy| &remedy["name"]).collect();
    // What is offloaded is fused, too.
    assert_eq!(saving, ["fused", "checkpoint", "offload-optimizer"]);
    let left_out = fix["left_out"].as_array().expect("others");
    let reason = |name: &str| left_out.iter().find(|left| left["name"] == name).map(|left| left["reason"].clone());
    assert_eq!(reason("expandable-segments"), Some(json!("less than 1 % of the peak is saved")));
    assert_eq!(reason("microbatch"), Some(json!("a batch of 15 samples has no 2, 4 or 8 equal parts")));
    assert_eq!(job["summary"]["remedies"], json!(["fused", "checkpoint"]));
    let events = server.get(&format!("/api/v1/jobs/{}/events", queued["id"].as_str().expect("an id")));
    assert!(events.text().contains("\"label\":\"with fused+checkpoint\""), "{}", events.text());

    let config = format!("device = \"cuda:0\"\n{}", CONFIG.replace("card", "#"));
    let reply = server.post("/api/v1/jobs?task=fix", &[], config.as_bytes());
    assert!(reply.text().contains("remedies are tried on virtual GPUs only"), "{}", reply.text());
}

#[test]
fn a_sweep_records_every_combination_and_wrong_tasks_are_refused() {
    let played = Played::new(RECORDER);
    let server = server(&played);
    let queued = submit(&server, "/api/v1/jobs?task=sweep", &format!("{CONFIG}{RANGES}"));
    let job = wait_for(&server, &queued, "finished");
    assert_eq!(job["sweep"]["axes"], json!(["precision", "batch"]));
    let rows = job["sweep"]["rows"].as_array().expect("rows");
    let row = |row: &Value| (row["precision"].clone(), row["batch"].clone(), row["recording"]["oom"].is_null());
    let rows: Vec<_> = rows.iter().map(row).collect();
    let expected =
        |precision: &str| [(8, true), (16, false)].map(|(batch, fits)| (json!(precision), json!(batch), fits));
    assert_eq!(rows, [expected("fp32"), expected("bf16")].concat());
    assert_eq!(job["summary"], json!({"recordings": 4, "fitting": 2, "failed": 0, "largest_batch": null}));
    let refused = |path: &str, config: &str, part: &str| {
        let reply = server.post(path, &[], config.as_bytes());
        assert!(reply.status == 422 || reply.status == 400, "{}", reply.text());
        assert!(reply.text().contains(part), "{part:?} in {}", reply.text());
    };
    refused("/api/v1/jobs?task=sweep", CONFIG, "the sweep varies nothing");
    refused("/api/v1/jobs", &format!("{CONFIG}{RANGES}"), "the task `sweep`");
    refused("/api/v1/jobs?task=fit", &format!("{CONFIG}{RANGES}"), "describes several recordings");
    refused("/api/v1/jobs?task=guess", CONFIG, "guess");
}

#[test]
fn several_recordings_are_cancelled_and_survive_a_restart() {
    let played = Played::new(RECORDER);
    std::fs::write(played.path("wait"), "").expect("room");
    let data = tempfile::tempdir().expect("a folder");
    let launch = Launch { data: Some(data.path().to_owned()), ..Launch::default() };
    let launch = launch.with("--jobs", "virtual=1").with("--grace", "0s").with_variables(played.variables());
    let server = ServeProcess::launch(&launch);
    let cancelled = submit(&server, "/api/v1/jobs?task=fit", CONFIG);
    wait_for(&server, &cancelled, "running");
    let path = format!("/api/v1/jobs/{}/cancel", cancelled["id"].as_str().expect("an id"));
    assert_eq!(server.post(&path, &[], b"").status, 200);
    let cancelled = wait_for(&server, &cancelled, "cancelled");
    assert_eq!((&cancelled["fit"], &cancelled["summary"]), (&Value::Null, &Value::Null));

    // A server that stops gives the job back, and the next one starts it again.
    let given_back = submit(&server, "/api/v1/jobs?task=sweep", &format!("{CONFIG}{RANGES}"));
    wait_for(&server, &given_back, "running");
    assert_eq!(server.stop("TERM"), Some(0));
    std::fs::remove_file(played.path("wait")).expect("the file");
    let server = ServeProcess::launch(&launch);
    let job = wait_for(&server, &given_back, "finished");
    assert_eq!(job["summary"]["recordings"], 4, "{job}");
    assert_eq!(job["attempts"], 1, "{job}");
}

#[test]
fn a_gallery_config_is_recorded_once() {
    let played = Played::new(RECORDER);
    let server = server(&played);
    let path = "/api/v1/gallery/resnet50-t4/recording";
    assert_eq!(server.get(path).json(), Value::Null, "nobody has asked for it");
    // The gallery has the recording of a script.
    for other in ["unheard-of", "novel_lstm_bad"] {
        let path = format!("/api/v1/gallery/{other}/recording");
        assert_eq!((server.get(&path).status, server.post(&path, &[], b"").status), (404, 404), "{other}");
    }
    let ask = || {
        let reply = server.post(path, &[], b"");
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    };
    let first = ask();
    assert_eq!(first["name"], "ResNet-50 on a T4");
    let job = wait_for(&server, &first, "finished");
    assert!(job["snapshot_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{job}");
    assert_eq!((&ask()["id"], &server.get(path).json()["id"]), (&first["id"], &first["id"]));

    // A recording that was cancelled is made again.
    std::fs::write(played.path("wait"), "").expect("room");
    let other = "/api/v1/gallery/vgg16-v100/recording";
    let cancelled = server.post(other, &[], b"").json();
    let id = cancelled["id"].as_str().expect("an id");
    assert_eq!(server.post(&format!("/api/v1/jobs/{id}/cancel"), &[], b"").status, 200);
    wait_for(&server, &cancelled, "cancelled");
    std::fs::remove_file(played.path("wait")).expect("the file");
    assert_eq!(server.get(other).json(), Value::Null);
    let again = server.post(other, &[], b"").json();
    assert_ne!(again["id"], cancelled["id"]);
    wait_for(&server, &again, "finished");
}

#[track_caller]
fn wait_for_limits(server: &ServeProcess, is_there: impl Fn(&Value) -> bool) {
    ask_until(|| server.get("/api/v1/limits").json(), is_there);
}

#[test]
fn a_gpu_that_cannot_be_used_takes_no_jobs_and_says_why() {
    let jobs = |script: &str| {
        let played = Played::new(script);
        let launch = Launch::default().with("--jobs", "virtual=1,cuda:0=1").with_variables(played.variables());
        (ServeProcess::launch(&launch), played)
    };
    let config = CONFIG.replace("card = \"t4-16gb\"", "device = \"cuda:0\"");

    let failed = r#"echo '{"type":"failed","message":"CUDA error: OS call failed","step":null,"phase":"start","module":""}'; exit 3"#;
    let (server, _played) = jobs(failed);
    wait_for_limits(&server, |limits| limits["problems"] == json!({"cuda:0": "CUDA error: OS call failed"}));
    assert_eq!(server.get("/api/v1/limits").json()["kinds"], json!(["virtual"]));
    let refusal = server.post("/api/v1/jobs", &[], config.as_bytes());
    let says = "No job can run on `cuda:0` at this time: CUDA error: OS call failed.";
    check_refusal(&refusal, ErrorCode::InvalidConfig, says);

    let (server, _played) = jobs(&RECORDER.replace("[ \"$batch\" -le 13 ]", "true"));
    let job = submit(&server, "/api/v1/jobs", &config);
    assert_eq!(wait_for(&server, &job, "finished")["state"], "finished");
    wait_for_limits(&server, |limits| limits["kinds"] == json!(["virtual", "cuda:0"]));
}
