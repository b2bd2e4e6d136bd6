//! Tests `snapscope mcp` by the conversation of a client of the protocol.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::Command;

use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::server::{root, snapscope};

/// Most characters of an answer, text and data.
const MOST: usize = 45_000;

/// A conversation with the server.
struct Talk {
    folder: TempDir,
    client: RunningService<RoleClient, ()>,
}

impl Talk {
    async fn begin() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("virtual-gpu")).expect("room");
        std::fs::write(folder.path().join("virtual-gpu/libsnapscope_virtual_gpu.so"), "").expect("room");
        let mut command = Command::new(snapscope());
        command
            .arg("mcp")
            .current_dir(folder.path())
            .env("SNAPSCOPE_VIRTUAL_GPU_LIBRARIES", folder.path().join("virtual-gpu"))
            .env("PYTHONPATH", root().join("tests/data/run/site-packages"));
        let client = ().serve(TokioChildProcess::new(tokio::process::Command::from(command)).expect("the server"));
        Self { client: client.await.expect("a conversation"), folder }
    }

    async fn call(&self, tool: &'static str, parameters: Value) -> CallToolResult {
        let Value::Object(parameters) = parameters else { panic!("parameters are an object") };
        let answer = self.client.call_tool(CallToolRequestParams::new(tool).with_arguments(parameters)).await;
        let answer = answer.expect("an answer");
        assert!(serde_json::to_string(&answer).expect("JSON").len() < MOST, "{tool} answers too much");
        answer
    }

    /// Asks and returns the text and the data of the answer.
    async fn ask(&self, tool: &'static str, parameters: Value) -> (String, Value) {
        let answer = self.call(tool, parameters).await;
        let text = text(&answer);
        assert_ne!(answer.is_error, Some(true), "{tool}: {text}");
        let data = answer.structured_content.expect("data");
        assert!(data["next"].is_array(), "{tool} names the next question");
        (text, data)
    }

    /// Asks what is refused, and checks what is said about it.
    async fn refused(&self, tool: &'static str, parameters: Value, parts: &[&str]) {
        let answer = self.call(tool, parameters).await;
        assert_eq!(answer.is_error, Some(true), "{tool}: {answer:?}");
        let said = text(&answer);
        for part in parts {
            assert!(said.contains(part), "{part:?} in {said}");
        }
    }
}

fn text(answer: &CallToolResult) -> String {
    let content = serde_json::to_value(&answer.content).expect("JSON");
    content[0]["text"].as_str().expect("text").to_owned()
}

fn sample(name: &str) -> String {
    let path: PathBuf = root().join("tests/data/snapshots").join(name);
    path.display().to_string()
}

#[tokio::test]
async fn an_out_of_memory_error_is_explained_from_question_to_question() {
    let talk = Talk::begin().await;
    let tools = talk.client.list_all_tools().await.expect("tools");
    let mut names: Vec<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
    names.sort();
    assert_eq!(names, ["allocations", "diff", "findings", "fit", "fix", "open", "peak", "replay", "run", "summary"]);
    assert!(tools.iter().all(|tool| tool.description.is_some()));
    let file = sample("virtual-py-gpt2-oom-t4.pickle.gz");
    let (opened, data) = talk.ask("open", json!({ "path": file })).await;
    assert!(opened.contains("ran out of memory, tried to allocate 1.53 GiB") && opened.contains("Next:"), "{opened}");
    assert!(data["next"][0].as_str().unwrap().starts_with("findings {"), "{data}");
    let (found, data) = talk.ask("findings", json!({ "files": [file] })).await;
    assert!(found.contains("oomt4.py") && data["findings"][0]["severity"] == "error", "{found}");
    assert!(found.contains("replay {"), "it names the replay: {found}");
    let (limited, _) = talk.ask("findings", json!({ "files": [file], "max_reserved": "1GiB" })).await;
    assert!(limited.contains("limit of 1.00 GiB"), "{limited}");
    let (groups, data) = talk.ask("peak", json!({ "snapshot": file, "by": "category", "top": 3 })).await;
    assert!(groups.contains("13.1 GiB") && data["groups"].as_array().unwrap().len() == 3, "{groups}");
    let question = json!({ "snapshot": file, "filter": "fixed_cross_entropy", "by": "stack" });
    let (allocations, data) = talk.ask("allocations", question).await;
    assert!(allocations.contains("fixed_cross_entropy") && data["allocations"].as_u64() > Some(0), "{allocations}");
    let (difference, _) = talk.ask("diff", json!({ "a": file, "b": file, "at_a": 0 })).await;
    assert!(difference.contains("Compared with A, B has"), "{difference}");
    let (replayed, data) = talk.ask("replay", json!({ "snapshot": file, "capacity": "24GiB" })).await;
    assert!(replayed.contains("Out of memory") && data["ooms"] == json!([]), "{replayed}");
    let (summed, data) = talk.ask("summary", json!({ "snapshot": file })).await;
    assert!(summed.contains("peak live") && data["devices"][0]["events"] == 7646, "{summed}");
    talk.client.cancel().await.expect("an end");
}

/// Serves one snapshot under one link, to as many requests.
fn serve_link(requests: usize) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let snapshot = std::fs::read(sample("torch2.15-basic-py311.pickle.gz")).expect("a snapshot");
        for mut stream in listener.incoming().take(requests).flatten() {
            let mut head = [0; 4096];
            let len = stream.read(&mut head).unwrap_or(0);
            let is_known = head[..len].starts_with(b"GET /api/v1/shares/abc/snapshot HTTP/1.1\r\n");
            let (status, body) = if is_known { ("200 OK", snapshot.as_slice()) } else { ("404 Not Found", &[][..]) };
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    format!("http://{address}/s/")
}

#[tokio::test]
async fn a_shared_link_is_opened_once() {
    let talk = Talk::begin().await;
    let links = serve_link(2);
    let link = format!("{links}abc");
    let (opened, _) = talk.ask("open", json!({ "path": link })).await;
    assert!(opened.contains(&format!("\"files\":[\"{link}\"]")), "{opened}");
    let (_, data) = talk.ask("summary", json!({ "snapshot": link })).await;
    assert_eq!(data["file"], link);
    talk.refused("open", json!({ "path": format!("{links}gone") }), &["there is no such link"]).await;
    // No server is there anymore.
    talk.refused("open", json!({ "path": format!("{links}abcd") }), &["check the address"]).await;
    talk.client.cancel().await.expect("an end");
}

#[tokio::test]
async fn logs_and_folders_are_opened_too() {
    let talk = Talk::begin().await;
    let log = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.77 \
               GiB of which 1.20 GiB is free. Of the allocated memory 13.00 GiB is allocated by PyTorch, and 500.00 MiB \
               is reserved by PyTorch but unallocated.";
    let late = "step 3 loss 0.4\n".repeat(5000) + log;
    for (name, text) in [("train.log", log), ("late.log", &late)] {
        std::fs::write(talk.folder.path().join(name), text).unwrap();
        let (opened, _) = talk.ask("open", json!({ "path": name })).await;
        assert!(opened.contains("is a log"), "{name}: {opened}");
    }
    let (listed, data) = talk.ask("open", json!({ "path": "." })).await;
    assert!(listed.contains("train.log") && data["kind"] == "folder", "{listed}");
    let (found, _) = talk.ask("findings", json!({ "files": ["train.log"] })).await;
    assert!(found.contains("2.00 GiB"), "{found}");
    talk.client.cancel().await.expect("an end");
}

#[tokio::test]
async fn scripts_run_and_what_is_wrong_is_said() {
    let talk = Talk::begin().await;
    let script = "import torch\nprint('of the script')\nkept = torch.Block(3 << 30)\n";
    std::fs::write(talk.folder.path().join("train.py"), script).unwrap();
    let command = json!(["python3", "train.py"]);
    let (ran, data) = talk.ask("run", json!({ "command": command, "card": "t4-16gb" })).await;
    assert!(ran.contains("t4-16gb: fits after 0 steps") && data["runs"][0]["status"] == "fits", "{ran}");
    assert!(data["next"][0].as_str().unwrap().contains("train.pickle"), "{data}");
    let (fit, _) = talk.ask("fit", json!({ "command": command, "cards": ["custom:2048MiB", "t4-16gb"] })).await;
    assert!(fit.contains("The smallest card that holds it is t4-16gb"), "{fit}");
    let sized = "import sys, torch\nblock = torch.Block(int(sys.argv[1]) << 30)\n";
    std::fs::write(talk.folder.path().join("sized.py"), sized).unwrap();
    let command_with = json!(["python3", "sized.py", "{1..2}"]);
    let (fit, data) = talk.ask("fit", json!({ "command": command_with, "card": "t4-16gb" })).await;
    assert!(fit.contains("value 2 is the largest that fits on t4-16gb") && data["batch"] == 2, "{fit}");
    let one = "pass `config` or `command`";
    for (tool, parameters, parts) in [
        ("run", json!({ "command": command, "card": "gtx" }), &["gtx", "What to do:"][..]),
        ("fit", json!({}), &[one]),
        ("fix", json!({ "command": command, "config": "small.toml" }), &[one]),
        ("fix", json!({ "config": "missing.toml" }), &["missing.toml"]),
        ("open", json!({ "path": "missing.pickle" }), &["missing.pickle", "paths are relative to"]),
        ("open", json!({ "path": "https://127.0.0.1:1/x" }), &["is no link to a shared snapshot"]),
        ("peak", json!({ "snapshot": "train.pickle", "by": "colour" }), &["'colour'", "category"]),
    ] {
        talk.refused(tool, parameters, parts).await;
    }
    talk.client.cancel().await.expect("an end");
}
