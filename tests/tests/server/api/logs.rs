//! Tests the log lines of requests, which must not contain secrets.

use std::ffi::OsString;
use std::fs;

use serde_json::Value;
use tempfile::TempDir;
use testkit::http::{Form, Reply, send, send_body};
use testkit::server::root;
use testkit::serving::{Launch, ServeProcess};

struct Logged {
    server: ServeProcess,
    folder: TempDir,
}

impl Logged {
    fn start(settings: &[(&'static str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log").into_os_string();
        let before: Vec<OsString> = vec!["sh".into(), "-c".into(), "exec \"$@\" 2>\"$0\"".into(), log];
        let settings = settings.iter().map(|(name, value)| (*name, (*value).into())).collect();
        let server = ServeProcess::launch(&Launch { before, settings, ..Launch::default() });
        Self { server, folder }
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        send(self.server.address, "GET", path, headers)
    }

    fn stop(self) -> String {
        assert_eq!(self.server.stop("TERM"), Some(0));
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

/// Sends requests of all kinds that contain secrets; returns the secrets.
fn ask_with_secrets(server: &Logged) -> Vec<String> {
    let snapshot = fs::read(root().join("tests/data/snapshots/torch2.15-basic-py311.pickle.gz")).unwrap();
    let bearer = ("Authorization", "Bearer the-servers-token");
    let headers = [bearer, ("Content-Type", &Form::content_type())];
    let made = send_body(server.server.address, "POST", "/api/v1/shares", &headers, &Form::share(&snapshot).finish());
    assert_eq!(made.status, 201, "{}", made.text());
    let made = made.json();
    let [token, delete_token] = ["token", "delete_token"].map(|key| made[key].as_str().expect("a token").to_owned());
    for path in ["/s/TOKEN", "/s/TOKEN/preview.png", "/api/v1/shares/TOKEN", "/api/v1/shares/TOKEN/snapshot"] {
        assert_eq!(server.get(&path.replace("TOKEN", &token), &[]).status, 200, "{path}");
    }
    assert_eq!(server.get("/api/v1/jobs?key=in-the-query", &[]).status, 400);
    assert_eq!(server.get("/in-the-path", &[("Cookie", "in-a-cookie")]).status, 404);
    assert_eq!(server.get("/metrics", &[("Authorization", "Bearer a-wrong-token")]).status, 401);
    let path = format!("/api/v1/shares/{token}");
    let delete = |sent: &str| {
        let sent = format!("Bearer {sent}");
        send(server.server.address, "DELETE", &path, &[("Authorization", sent.as_str())]).status
    };
    assert_eq!((delete("a-wrong-token"), delete(&delete_token)), (404, 204));
    let secrets = ["the-servers-token", "in-the-query", "in-the-path", "in-a-cookie", "a-wrong-token"];
    [token, delete_token].into_iter().chain(secrets.map(str::to_owned)).collect()
}

#[test]
fn a_request_is_known_by_its_name() {
    let settings = [("--log", "debug"), ("--log-format", "json"), ("--token", "the-servers-token")];
    let server = Logged::start(&settings);
    let given = server.get("/api/v1/jobs/none", &[("X-Request-Id", "from-a-proxy.1")]);
    assert_eq!(given.header("x-request-id"), Some("from-a-proxy.1"));
    assert_eq!(given.json()["request_id"], "from-a-proxy.1");
    let odd = server.get("/healthz", &[("X-Request-Id", "two words")]);
    let made = odd.header("x-request-id").expect("a name").to_owned();
    assert!(made.len() == 32 && made.bytes().all(|letter| letter.is_ascii_hexdigit()), "{made}");
    let secrets = ask_with_secrets(&server);

    let log = server.stop();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let answered: Vec<&Value> = lines.iter().filter(|line| line["fields"]["message"] == "answered").collect();
    assert!(answered.len() > 8, "{log}");
    for line in lines.iter().filter(|line| line["span"]["name"] == "request") {
        let span = &line["span"];
        assert!(["id", "method", "route"].iter().all(|key| span[key].is_string()), "{line}");
    }
    for line in answered {
        assert!(line["fields"]["status"].is_u64() && line["fields"]["milliseconds"].is_number(), "{line}");
        assert_eq!(line["span"]["name"], "request", "{line}");
    }
    let line_of = |id: &str| lines.iter().find(|line| line["span"]["id"] == *id).unwrap_or_else(|| panic!("{id}"));
    assert_eq!(line_of("from-a-proxy.1")["span"]["route"], "/api/v1/jobs/{id}");
    assert_eq!(line_of("from-a-proxy.1")["fields"]["status"], 404);
    assert_eq!(line_of(&made)["span"]["route"], "/healthz");
    check_silent(&log, &secrets);
}

#[test]
fn lines_for_people_tell_no_secrets_either() {
    let server = Logged::start(&[("--log", "debug"), ("--token", "the-servers-token")]);
    let secrets = ask_with_secrets(&server);
    let log = server.stop();
    let line = log.lines().find(|line| line.contains("route=\"/api/v1/shares\"")).expect("a line");
    assert!(line.contains("request{id=") && line.contains("status=201 milliseconds="), "{line}");
    check_silent(&log, &secrets);
}

#[track_caller]
fn check_silent(log: &str, secrets: &[String]) {
    for secret in secrets {
        let line = log.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(line, None, "{secret} is in the log");
    }
}
