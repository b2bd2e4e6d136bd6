//! Tests tokens, rate limits and private mode of the API.

use server::config::SettingsArgs;
use shared::api::ErrorCode;
use testkit::both;
use testkit::http::{Form, check_refusal};
use testkit::server::{ServeProcess, Server};
use testkit::serving::Launch;
use testkit::storage::Backend;

use crate::api::shares::snapshot;

fn a_token_is_needed_where_one_is_set(backend: Backend) {
    let server = Server::on(backend, SettingsArgs { token: Some("secret".to_owned()), ..SettingsArgs::default() });
    let post = |headers: &[(&str, &str)]| server.send_body("POST", "/api/v1/jobs", headers, b"model = \"gpt2\"");
    check_refusal(&post(&[]), ErrorCode::Unauthorized, "token");
    check_refusal(&post(&[("Authorization", "Bearer wrong")]), ErrorCode::Unauthorized, "token");
    // With the token, the request reaches the queue, which no worker serves.
    check_refusal(&post(&[("Authorization", "Bearer secret")]), ErrorCode::InvalidConfig, "No worker");
    assert_eq!(server.get("/api/v1/jobs", &[]).status, 200);
}

fn pages_of_other_sites_are_refused(backend: Backend) {
    let server = Server::on(backend, SettingsArgs::default());
    let origin = format!("http://{}", server.address());
    let post = |headers: &[(&str, &str)]| server.send_body("POST", "/api/v1/jobs", headers, b"model = \"gpt2\"");
    check_refusal(&post(&[("Origin", "https://evil.example.org")]), ErrorCode::Forbidden, "another site");
    check_refusal(&post(&[("Origin", "null")]), ErrorCode::Forbidden, "another site");
    check_refusal(&post(&[("Origin", &origin)]), ErrorCode::InvalidConfig, "No worker");
    let rebound = server.get("/api/v1/jobs", &[("Host", "evil.example.org")]);
    check_refusal(&rebound, ErrorCode::Forbidden, "names of this machine");
}

fn whoever_asks_too_often_waits(backend: Backend) {
    let server = Server::on(backend, SettingsArgs { requests: Some(5), ..SettingsArgs::default() });
    let replies: Vec<_> = (0..8).map(|_| server.get("/api/v1/cards", &[])).collect();
    assert!(replies[..5].iter().all(|reply| reply.status == 200));
    check_refusal(&replies[7], ErrorCode::TooManyRequests, "more requests");
    assert!(replies[7].header("retry-after").and_then(|wait| wait.parse::<u64>().ok()) > Some(0));
}

/// Returns a path with the first letter of each part percent-encoded.
fn encoded(path: &str) -> String {
    let part = |part: &str| match part.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => format!("%{:02X}{}", u32::from(first), &part[1..]),
        _ => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn no_spelling_of_a_path_gets_around_a_token(backend: Backend) {
    let server = Server::on(backend, SettingsArgs { token: Some("secret".to_owned()), ..SettingsArgs::default() });
    let rows = [
        ("GET", "/metrics"),
        ("POST", "/api/v1/jobs"),
        ("PATCH", "/api/v1/jobs/none"),
        ("DELETE", "/api/v1/jobs/none"),
        ("POST", "/api/v1/jobs/none/cancel"),
        ("POST", "/api/v1/gallery/none/recording"),
        ("POST", "/api/v1/shares"),
    ];
    assert_eq!(encoded("/api/v1/jobs"), "/%61pi/%761/%6Aobs");
    for (method, path) in rows {
        for spelling in [path.to_owned(), encoded(path)] {
            let reply = server.send_body(method, &spelling, &[], b"model = \"gpt2\"");
            check_refusal(&reply, ErrorCode::Unauthorized, "token");
        }
    }
    // The OpenAPI document names all operations that need a token, so a new one cannot be forgotten here.
    let document = server.get("/api/v1/openapi.json", &[]).json();
    let refuses = |operation: &serde_json::Value| operation["responses"].get("401").is_some();
    let paths = document["paths"].as_object().expect("paths");
    let needing =
        paths.values().flat_map(|path| path.as_object().expect("operations").values()).filter(|row| refuses(row));
    // Deleting a link needs the link's own token, and logging in sends it; in private mode, reading needs one, too.
    assert_eq!(needing.count(), rows.len() + 2 + PRIVATE_ROWS.len());
}

/// API paths that need the token in private mode, besides the HTML documents of the page.
const PRIVATE_ROWS: [&str; 5] = [
    "/api/v1/gallery/none/recording",
    "/api/v1/jobs",
    "/api/v1/jobs/none",
    "/api/v1/jobs/none/events",
    "/api/v1/jobs/none/snapshot",
];

fn private(backend: Backend, settings: SettingsArgs) -> Server {
    Server::on(backend, SettingsArgs { private: Some(true), token: Some("secret".to_owned()), ..settings })
}

fn nothing_is_read_in_private_mode_without_the_token(backend: Backend) {
    let server = private(backend, SettingsArgs::default());
    for path in PRIVATE_ROWS {
        for spelling in [path.to_owned(), encoded(path)] {
            check_refusal(&server.get(&spelling, &[]), ErrorCode::Unauthorized, "token");
            let status = server.get(&spelling, &[("Authorization", "Bearer secret")]).status;
            assert!([200, 404].contains(&status), "{spelling}: {status}");
        }
    }
    for path in ["/jobs", "/jobs/none"] {
        let form = server.get(path, &[]);
        assert_eq!(form.status, 401);
        assert!(form.text().contains(&format!("name=\"next\" value=\"{path}\"")), "{}", form.text());
    }
    // Public even in private mode: the page itself, the requests of its start, and links by their own tokens.
    for path in ["/", "/login", "/api/v1/limits", "/api/v1/cards", "/api/v1/docs", "/healthz"] {
        assert_eq!(server.get(path, &[]).status, 200, "{path}");
    }
    let form = Form::share(&snapshot()).finish();
    let headers = [("Authorization", "Bearer secret"), ("Content-Type", &Form::content_type())];
    let shared = server.send_body("POST", "/api/v1/shares", &headers, &form).json();
    let token = shared["token"].as_str().expect("a token");
    for path in [format!("/s/{token}"), format!("/api/v1/shares/{token}"), format!("/api/v1/shares/{token}/snapshot")] {
        assert_eq!(server.get(&path, &[]).status, 200, "{path}");
    }
}

fn a_browser_logs_in_once(backend: Backend) {
    let server = private(backend, SettingsArgs::default());
    let address = format!("http://{}", server.address());
    let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", &*address)];
    let log_in = |form: &str| server.send_body("POST", "/login", &headers, form.as_bytes());
    let wrong = log_in("token=wrong&next=%2Fjobs");
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, None));
    assert!(wrong.text().contains("not the server") && wrong.text().contains("value=\"/jobs\""), "{}", wrong.text());
    let right = log_in("token=secret&next=%2Fjobs");
    assert_eq!((right.status, right.header("location")), (303, Some("/jobs")));
    let cookie = right.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && !cookie.contains("secret"), "{cookie}");
    let session = ("Cookie", cookie.split(';').next().expect("a name and a value"));
    assert_eq!([server.get("/jobs", &[session]).status, server.get("/api/v1/jobs", &[session]).status], [200, 200]);
    let needs_token = |headers: &[(&str, &str)]| server.get("/api/v1/limits", headers).json()["needs_token"].clone();
    assert_eq!([needs_token(&[]), needs_token(&[session])], [true, false]);
    // The session allows changes as well, but not from a page of another site or port.
    let submit =
        |origin: &str| server.send_body("POST", "/api/v1/jobs", &[session, ("Origin", origin)], b"model = \"gpt2\"");
    check_refusal(&submit(&address), ErrorCode::InvalidConfig, "No worker");
    check_refusal(&submit("http://127.0.0.1:1"), ErrorCode::Forbidden, "another site");
    // The URL that `serve` prints, and `next` targets that lead to another host.
    let at = |query: &str| server.get(&format!("/login?{query}"), &[]);
    assert_eq!((at("token=secret").status, at("token=secret").header("location")), (303, Some("/")));
    assert_eq!(at("token=secret&next=//evil.example.org").header("location"), Some("/"));
    assert_eq!(at("token=wrong").status, 401);
}

fn whoever_tries_tokens_waits(backend: Backend) {
    let server = private(backend, SettingsArgs { submissions: Some(2), ..SettingsArgs::default() });
    let get = || server.get("/api/v1/jobs", &[("Authorization", "Bearer wrong")]);
    assert_eq!([get().status, get().status], [401, 401]);
    check_refusal(&get(), ErrorCode::TooManyRequests, "more requests");
    assert_eq!(server.get("/login?token=wrong", &[]).status, 429);
    // The right token waits too: otherwise a guess would be known to be right.
    assert_eq!(server.get("/api/v1/jobs", &[("Authorization", "Bearer secret")]).status, 429);
}

#[test]
fn a_token_that_is_made_stands_in_the_address() {
    let data = tempfile::tempdir().expect("a folder");
    let launch = Launch { data: Some(data.path().to_owned()), ..Launch::default() }.with("--private", "true");
    let server = ServeProcess::launch(&launch);
    let login = server.login.clone().expect("an address with a token");
    assert_eq!(server.get("/api/v1/jobs").status, 401);
    assert_eq!((server.get(&login).status, server.get("/login?token=wrong").status), (303, 401));
    // The token stays the same after a restart, so bookmarks keep working.
    drop(server);
    assert_eq!(ServeProcess::launch(&launch).login, Some(login));
}

fn no_spelling_of_a_path_gets_around_a_limit(backend: Backend) {
    let server = Server::on(backend, SettingsArgs { submissions: Some(2), ..SettingsArgs::default() });
    let post = |path: &str| server.send_body("POST", path, &[], b"model = \"gpt2\"");
    assert_eq!([post("/api/v1/jobs").status, post(&encoded("/api/v1/jobs")).status], [422, 422]);
    check_refusal(&post(&encoded("/api/v1/jobs")), ErrorCode::TooManyRequests, "more requests");
    check_refusal(&post("/api/v1/shares"), ErrorCode::TooManyRequests, "more requests");
}

fn health_and_files_of_the_page_are_outside_of_limits(backend: Backend) {
    let server = Server::on(backend, SettingsArgs { requests: Some(2), ..SettingsArgs::default() });
    for path in ["/healthz", "/readyz", "/"] {
        assert!((0..5).all(|_| server.get(path, &[]).status == 200), "{path}");
    }
    assert_eq!(server.get("/api/v1/cards", &[]).status, 200);
}

fn a_trusted_proxy_says_who_asks(backend: Backend) {
    let trusted_proxies = Some("127.0.0.1".to_owned());
    let server = Server::on(backend, SettingsArgs { requests: Some(2), trusted_proxies, ..SettingsArgs::default() });
    let get = |address: &str| server.get("/api/v1/cards", &[("X-Forwarded-For", address)]).status;
    for address in ["203.0.113.1", "203.0.113.2"] {
        assert_eq!([get(address), get(address), get(address)], [200, 200, 429]);
    }
    // An attacker's name may resolve to this machine, and without a public address the proxy's own name is not known.
    let named = server.get("/api/v1/cards", &[("X-Forwarded-For", "203.0.113.3"), ("Host", "evil.example")]);
    check_refusal(&named, ErrorCode::Forbidden, "--public-address");
    let other = Server::on(backend, SettingsArgs { requests: Some(2), ..SettingsArgs::default() });
    let get = |address: &str| other.get("/api/v1/cards", &[("X-Forwarded-For", address)]).status;
    assert_eq!([get("203.0.113.1"), get("203.0.113.2"), get("203.0.113.3")], [200, 200, 429], "nobody else does");
}

fn the_server_says_what_it_has(backend: Backend) {
    let server = Server::on(backend, SettingsArgs::default());
    let cards = server.get("/api/v1/cards", &[]).json();
    assert!(cards.as_array().expect("cards").iter().any(|card| card["name"] == "h100-80gb"));
    let models = server.get("/api/v1/models", &[]).json();
    let gpt2 = models.as_array().expect("models").iter().find(|model| model["preset"] == "gpt2").expect("gpt2");
    assert_eq!((&gpt2["family"], &gpt2["parameters"]), (&"transformer".into(), &124_439_808_u64.into()));
    let gallery = server.get("/api/v1/gallery", &[]).json();
    let rows = gallery.as_array().expect("rows");
    let mistake = rows.iter().find(|row| row["name"] == "novel_lstm_bad").expect("a mistake");
    assert_eq!((&mistake["repair"], &mistake["config"]), (&"novel_lstm_good".into(), &serde_json::Value::Null));
    assert_eq!(mistake["change"][0], "-loss.backward(retain_graph=True)");
    // Every row has a topic, and a repaired script stands with the faulty one.
    let topicless: Vec<_> = rows.iter().filter(|row| row["topic"] == "").map(|row| &row["name"]).collect();
    assert_eq!(topicless, [&serde_json::Value::Null; 0]);
    let repaired = rows.iter().find(|row| row["name"] == "novel_lstm_good").expect("its repair");
    assert_eq!((&mistake["topic"], &mistake["place"]), (&repaired["topic"], &repaired["place"]));
    assert!(mistake["text"].as_str().is_some_and(|text| text.lines().count() == 2));
    let config = rows.iter().find(|row| row["name"] == "resnet50-t4").expect("a config");
    assert!(config["text"].as_str().is_some_and(|text| text.lines().count() == 3));
    assert!(config["config"].as_str().is_some_and(|text| text.contains("resnet50")));
    let limits = server.get("/api/v1/limits", &[]).json();
    assert_eq!((&limits["share_days"], &limits["needs_token"]), (&serde_json::json!([1, 7, 30]), &false.into()));
    assert_eq!((server.get("/healthz", &[]).status, server.get("/readyz", &[]).status), (200, 200));
}

both!(
    a_token_is_needed_where_one_is_set,
    pages_of_other_sites_are_refused,
    whoever_asks_too_often_waits,
    no_spelling_of_a_path_gets_around_a_token,
    no_spelling_of_a_path_gets_around_a_limit,
    nothing_is_read_in_private_mode_without_the_token,
    a_browser_logs_in_once,
    whoever_tries_tokens_waits,
    health_and_files_of_the_page_are_outside_of_limits,
    a_trusted_proxy_says_who_asks,
    the_server_says_what_it_has,
);
