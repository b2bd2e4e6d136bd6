//! Tests creating, opening and deleting links, and uploads that are refused.

use std::process::Command;

use serde_json::{Value, json};
use server::config::SettingsArgs;
use shared::api::ErrorCode;
use testkit::both;
use testkit::http::{Form, check_refusal};
use testkit::server::{Reply, Server, root, snapscope};
use testkit::storage::Backend;

const SNAPSHOT: &str = "tests/data/snapshots/torch2.15-basic-py311.pickle.gz";

fn server(backend: Backend) -> Server {
    Server::on(backend, SettingsArgs::default())
}

pub(crate) fn snapshot() -> Vec<u8> {
    std::fs::read(root().join(SNAPSHOT)).expect("a snapshot")
}

/// Returns what the command line finds in the stored snapshot, without the file's name and without groups.
fn diagnosed_by_command() -> Value {
    let file = root().join(SNAPSHOT);
    let output = Command::new(snapscope()).args(["diagnose", "--json"]).arg(file).output().expect("it runs");
    let mut all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for rows in all.as_object_mut().expect("an object").values_mut() {
        for row in rows.as_array_mut().expect("a list").iter_mut().filter_map(Value::as_object_mut) {
            row.remove("file");
            if let Some(groups) = row.get_mut("groups") {
                *groups = json!([]);
            }
        }
    }
    all
}

/// Builds a form of files, whose names lead out of their folder.
fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
    parts.iter().fold(Form::default(), |form, (name, content)| form.file(name, "../../x", content)).finish()
}

fn post(server: &Server, parts: &[(&str, &[u8])]) -> Reply {
    server.send_body("POST", "/api/v1/shares", &[("Content-Type", &Form::content_type())], &form(parts))
}

pub(crate) fn share(server: &Server, view: &Value, snapshot: &[u8]) -> Reply {
    post(server, &[("view", view.to_string().as_bytes()), ("snapshot", snapshot)])
}

fn view() -> Value {
    json!({"title": "a leak", "view_state": "v1;device=0", "days": 7})
}

fn a_link_opens_what_was_shared_until_it_is_deleted(backend: Backend) {
    let server = server(backend);
    let made = share(&server, &view(), &snapshot());
    assert_eq!(made.status, 201, "{}", made.text());
    let made = made.json();
    let path = format!("/api/v1/shares/{}", made["token"].as_str().expect("a token"));

    let link = server.get(&path, &[]).json();
    assert_eq!((&link["title"], &link["view_state"]), (&json!("a leak"), &json!("v1;device=0")));
    assert_eq!(link["snapshot_bytes"], json!(snapshot().len()));
    let digest = |key: &str| link["digest"][key].as_u64();
    assert!(digest("events") > Some(0) && digest("peak_live_bytes") > Some(0), "{link}");
    let found = server.get(&format!("{path}/findings"), &[]);
    assert_eq!(found.status, 200, "{}", found.text());
    assert_eq!(found.json(), diagnosed_by_command());
    let known = [("If-None-Match", found.header("etag").expect("a tag"))];
    assert_eq!(server.get(&format!("{path}/findings"), &known).status, 304);
    let file = server.get(&format!("{path}/snapshot"), &[]);
    assert_eq!((&file.body, file.header("cache-control")), (&snapshot(), Some("private, no-cache")));
    let known = [("If-None-Match", file.header("etag").expect("a tag"))];
    let again = server.get(&format!("{path}/snapshot"), &known);
    assert_eq!((again.status, again.body.len(), again.header("cache-control")), (304, 0, Some("private, no-cache")));

    let delete = |token: &str| server.send("DELETE", &path, &[("Authorization", &format!("Bearer {token}"))]);
    check_refusal(&server.send("DELETE", &path, &[]), ErrorCode::Unauthorized, "token");
    check_refusal(&delete("wrong"), ErrorCode::NotFound, "does not delete");
    assert_eq!(delete(made["delete_token"].as_str().expect("a token")).status, 204);
    check_refusal(&server.get(&path, &[]), ErrorCode::NotFound, "no such link");
    check_refusal(&server.get(&format!("{path}/snapshot"), &[]), ErrorCode::NotFound, "no such link");
    // A client with a cached copy is not told that it is unchanged.
    check_refusal(&server.get(&format!("{path}/snapshot"), &known), ErrorCode::NotFound, "no such link");
}

fn a_title_is_read_as_it_is_written_and_the_same_bytes_live_as_long_as_one_link(backend: Backend) {
    let server = server(backend);
    let made = share(&server, &json!({"title": "run \u{202e}gpj.exe\u{2066}\n2", "days": 7}), &snapshot()).json();
    let link = server.get(&format!("/api/v1/shares/{}", made["token"].as_str().expect("a token")), &[]).json();
    assert_eq!(link["title"], "run gpj.exe 2");
    let links: Vec<Value> = (0..2).map(|_| share(&server, &view(), &snapshot()).json()).collect();
    let path = |link: &Value| format!("/api/v1/shares/{}", link["token"].as_str().expect("a token"));
    let token = format!("Bearer {}", links[0]["delete_token"].as_str().expect("a token"));
    assert_eq!(server.send("DELETE", &path(&links[0]), &[("Authorization", &token)]).status, 204);
    assert_eq!(server.get(&format!("{}/snapshot", path(&links[1])), &[]).body, snapshot());
}

fn what_is_too_much_is_not_taken(backend: Backend) {
    let server = Server::on(backend, SettingsArgs { upload: Some("4KiB".to_owned()), ..SettingsArgs::default() });
    let large: Vec<u8> = [vec![0x1f, 0x8b], vec![7; 64 << 10]].concat();
    check_refusal(&share(&server, &view(), &large), ErrorCode::TooLarge, "4.00 KiB");
    let view = json!({"title": "a", "view_state": "x".repeat(100 << 10)});
    check_refusal(&share(&server, &view, &snapshot()), ErrorCode::TooLarge, "`view`");
    let server = Server::on(backend, SettingsArgs { quota: Some("1KiB".to_owned()), ..SettingsArgs::default() });
    check_refusal(&share(&server, &self::view(), &snapshot()), ErrorCode::NoRoom, "quota of the store");
}

fn forms_that_are_none_are_refused(backend: Backend) {
    let server = server(backend);
    check_refusal(&post(&server, &[("view", b"{}")]), ErrorCode::BadRequest, "no part `snapshot`");
    check_refusal(&post(&server, &[("else", b"x")]), ErrorCode::BadRequest, "unknown part `else`");
    check_refusal(&post(&server, &[("view", b"{\"titel\": 1}")]), ErrorCode::BadRequest, "`view`");
    let json = server.send_body("POST", "/api/v1/shares", &[("Content-Type", "application/json")], b"{}");
    check_refusal(&json, ErrorCode::BadRequest, "multipart/form-data");
    let days = json!({"title": "a", "view_state": "", "days": 365});
    check_refusal(&share(&server, &days, &snapshot()), ErrorCode::BadRequest, "30 days");
}

both!(
    a_link_opens_what_was_shared_until_it_is_deleted,
    a_title_is_read_as_it_is_written_and_the_same_bytes_live_as_long_as_one_link,
    what_is_too_much_is_not_taken,
    forms_that_are_none_are_refused,
);
