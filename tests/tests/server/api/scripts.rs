//! Tests jobs that are scripts: refused unless the operator allows them, and then without any right but their folder.

use std::fs;

use serde_json::{Value, json};
use shared::api::ErrorCode;
use testkit::environment::Environment;
use testkit::http::check_refusal;
use testkit::patience::ask_until;
use testkit::serving::{Launch, ServeProcess};

/// Takes memory in three steps, then tries what a script from strangers must not do, and lists what it could.
const SCRIPT: &str = r#"
import os, pathlib, socket, subprocess
import torch
from torch.utils.data.dataloader import DataLoader

kept = [torch.Block(1 << 20) for _ in DataLoader(range(3), num_workers=2)]
optimizer = torch.optim.SGD()
for _ in range(9):
    optimizer.step()
    if _ == 1:
        parent = os.getppid()
        tried = {
            "read the home folder": lambda: os.listdir(pathlib.Path("~").expanduser().parent.parent.parent),
            "read the environment of the server": lambda: open(f"/proc/{parent}/environ").read(),
            "read its data": lambda: open("DATA/snapscope.sqlite", "rb").read(),
            "change its data": lambda: os.utime("DATA/snapscope.sqlite"),
            "remove its data": lambda: os.remove("DATA/snapscope.sqlite"),
            "write elsewhere": lambda: open("/tmp/snapscope-escaped", "w"),
            "link to its data": lambda: os.symlink("DATA/snapscope.sqlite", "link"),
            "connect": lambda: socket.create_connection(("127.0.0.1", PORT)),
            "start a program": lambda: subprocess.run(["true"]),
            "fork": os.fork,
            "signal": lambda: os.kill(parent, 0),
            "read a secret": lambda: os.environ["SNAPSCOPE_TOKEN"],
            "write beside itself": lambda: open("own.txt", "w").write("mine"),
        }
        reached = []
        for name, action in tried.items():
            try:
                action()
                reached.append(name)
            except Exception:
                pass
        if reached != ["write beside itself"]:
            raise RuntimeError(f"reached: {reached}")
"#;

fn launch(environment: &Environment) -> Launch {
    let libraries = environment.virtual_gpu().into_os_string();
    Launch::default().with_variables([("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES".to_owned(), libraries)])
}

fn body(config: &str) -> Vec<u8> {
    let request =
        json!({"config": config, "file_name": "my train.py", "task": "script", "card": "t4-16gb", "steps": 4});
    request.to_string().into_bytes()
}

const AS_JSON: &[(&str, &str)] = &[("Content-Type", "application/json")];

/// Submits a script and returns its job once it is over.
#[track_caller]
fn ended(server: &ServeProcess, script: &str) -> Value {
    let reply = ask_until(|| server.post("/api/v1/jobs", AS_JSON, &body(script)), |reply| reply.status == 202);
    let path = format!("/api/v1/jobs/{}", reply.json()["id"].as_str().expect("an id"));
    let is_over = |job: &Value| !["queued", "running"].contains(&job["state"].as_str().unwrap_or_default());
    ask_until(|| server.get(&path).json(), is_over)
}

#[test]
fn a_server_runs_no_scripts_unless_its_operator_allows_them() {
    let environment = Environment::new();
    let server = ServeProcess::launch(&launch(&environment).with("--jobs", "virtual=1"));
    let refusal = server.post("/api/v1/jobs", AS_JSON, &body(SCRIPT));
    check_refusal(&refusal, ErrorCode::InvalidConfig, "This server runs no scripts, because they are foreign code");
    assert_eq!(server.get("/api/v1/limits").json()["kinds"], json!(["virtual"]));
}

#[test]
fn a_script_is_recorded_and_reaches_nothing_else() {
    let environment = Environment::new();
    let with = launch(&environment).with("--scripts", environment.python()).with("--job-time", "2min");
    let secret = [("SNAPSCOPE_TOKEN".to_owned(), "")];
    let server = ServeProcess::launch(&with.with_variables(secret).with("--no-token", "true"));
    let data = server.data().display().to_string();
    let script = SCRIPT.replace("DATA", &data).replace("PORT", &server.address.port().to_string());
    let job = ended(&server, &script);
    assert_eq!((&job["state"], &job["error"]), (&json!("finished"), &Value::Null), "{job}");
    assert_eq!((&job["name"], &job["task"], &job["kind"]), (&json!("my train"), &json!("script"), &json!("script")));
    assert_eq!((&job["result"]["steps"], &job["result"]["card"]), (&json!(4), &json!("t4-16gb")), "{job}");
    assert_eq!(job["source"], script);
    assert!(job["result"]["peak_allocated_bytes"].as_u64() >= Some(3 << 20), "{job}");
    assert_eq!(job["capacity_bytes"], 15_655_239_680_u64);
    let snapshot = server.get(&format!("/api/v1/jobs/{}/snapshot", job["id"].as_str().expect("an id")));
    assert_eq!(snapshot.status, 200);
    assert!(fs::exists(format!("{data}/snapscope.sqlite")).expect("it can be asked"));

    // What fails says why, and its last lines are kept.
    let failed = ended(&server, "import torch\nprint('so far')\ntorch.Block(7)\nraise ValueError('too many heads')\n");
    assert_eq!(failed["state"], "failed", "{failed}");
    assert!(failed["error"]["message"].as_str().expect("a message").contains("too many heads"), "{failed}");
    assert_eq!(failed["error"]["hint"], "See the last lines of its log; change the job and try again.");
    assert!(failed["log"].to_string().contains("so far"), "{failed}");
    let out = ended(&server, "import torch\nkept = torch.Block(1 << 40)\n");
    assert_eq!((&out["state"], &out["outcome"]), (&json!("finished"), &json!("out_of_memory")), "{out}");
}

#[test]
fn a_script_that_never_ends_is_ended() {
    let environment = Environment::new();
    let with = launch(&environment).with("--scripts", environment.python()).with("--job-time", "5s");
    let server = ServeProcess::launch(&with);
    let job = ended(&server, "import torch, time\ntorch.Block(7)\ntime.sleep(1000)\n");
    assert_eq!(job["state"], "finished", "what it used until then is known: {job}");
}

#[test]
fn scripts_that_cannot_run_here_are_refused_with_the_reason() {
    let environment = Environment::new();
    let server = ServeProcess::launch(&launch(&environment).with("--scripts", "/nowhere/python3"));
    let limits = ask_until(|| server.get("/api/v1/limits").json(), |limits| limits["problems"]["script"].is_string());
    assert_eq!(limits["problems"]["script"], "there is no Python `/nowhere/python3`");
    let refusal = server.post("/api/v1/jobs", AS_JSON, &body(SCRIPT));
    check_refusal(&refusal, ErrorCode::InvalidConfig, "No job can run on `script` at this time");
    let wrong = json!({"config": " ", "task": "script", "card": "t5", "batch": 3}).to_string();
    let refusal = server.post("/api/v1/jobs", AS_JSON, wrong.as_bytes());
    check_refusal(&refusal, ErrorCode::InvalidConfig, "3 problems");
}
