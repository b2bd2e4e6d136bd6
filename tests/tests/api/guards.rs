//! Who may ask, and how often.

use server::config::SettingsArgs;
use testkit::both;
use testkit::server::{Server, built_page};
use testkit::storage::Backend;

use crate::check_refusal;

fn with(backend: Backend, settings: SettingsArgs) -> Server {
    Server::on(backend, SettingsArgs { dist: Some(built_page()), jobs: Some(String::new()), ..settings })
}

fn a_token_is_needed_where_one_is_set(backend: Backend) {
    let server = with(backend, SettingsArgs { token: Some("secret".to_owned()), ..SettingsArgs::default() });
    let post = |headers: &[(&str, &str)]| server.send_body("POST", "/api/v1/jobs", headers, b"model = \"gpt2\"");
    check_refusal(&post(&[]), 401, "unauthorized", "token");
    check_refusal(&post(&[("Authorization", "Bearer wrong")]), 401, "unauthorized", "token");
    // With it the request comes as far as the queue, which nobody works on.
    check_refusal(&post(&[("Authorization", "Bearer secret")]), 422, "invalid_config", "No worker");
    assert_eq!(server.get("/api/v1/jobs", &[]).status, 200);
}

fn pages_of_other_sites_are_refused(backend: Backend) {
    let server = with(backend, SettingsArgs::default());
    let origin = format!("http://{}", server.address());
    let post = |headers: &[(&str, &str)]| server.send_body("POST", "/api/v1/jobs", headers, b"model = \"gpt2\"");
    check_refusal(&post(&[("Origin", "https://evil.example.org")]), 403, "forbidden", "another site");
    check_refusal(&post(&[("Origin", "null")]), 403, "forbidden", "another site");
    check_refusal(&post(&[("Origin", &origin)]), 422, "invalid_config", "No worker");
    let rebound = server.get("/api/v1/jobs", &[("Host", "evil.example.org")]);
    check_refusal(&rebound, 403, "forbidden", "names of this machine");
}

fn whoever_asks_too_often_waits(backend: Backend) {
    let server = with(backend, SettingsArgs { requests: Some(5), ..SettingsArgs::default() });
    let replies: Vec<_> = (0..8).map(|_| server.get("/api/v1/cards", &[])).collect();
    assert!(replies[..5].iter().all(|reply| reply.status == 200));
    check_refusal(&replies[7], 429, "too_many_requests", "more often");
    assert!(replies[7].header("retry-after").and_then(|wait| wait.parse::<u64>().ok()) > Some(0));
}

/// A path with one letter of each part written as its code.
fn encoded(path: &str) -> String {
    let part = |part: &str| match part.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => format!("%{:02X}{}", u32::from(first), &part[1..]),
        _ => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn no_spelling_of_a_path_gets_around_a_token(backend: Backend) {
    let server = with(backend, SettingsArgs { token: Some("secret".to_owned()), ..SettingsArgs::default() });
    let rows = [
        ("GET", "/metrics"),
        ("POST", "/api/v1/jobs"),
        ("PATCH", "/api/v1/jobs/none"),
        ("DELETE", "/api/v1/jobs/none"),
        ("POST", "/api/v1/jobs/none/cancel"),
        ("POST", "/api/v1/shares"),
    ];
    assert_eq!(encoded("/api/v1/jobs"), "/%61pi/%761/%6Aobs");
    for (method, path) in rows {
        for spelling in [path.to_owned(), encoded(path)] {
            let reply = server.send_body(method, &spelling, &[], b"model = \"gpt2\"");
            check_refusal(&reply, 401, "unauthorized", "token");
        }
    }
    // The document names all rows that need a token, so that a new one is not forgotten here.
    let document = server.get("/api/v1/openapi.json", &[]).json();
    let refuses = |operation: &serde_json::Value| operation["responses"].get("401").is_some();
    let paths = document["paths"].as_object().expect("paths");
    let needing =
        paths.values().flat_map(|path| path.as_object().expect("operations").values()).filter(|row| refuses(row));
    // Whoever deletes a link has a token of that link.
    assert_eq!(needing.count(), rows.len() + 1);
}

fn no_spelling_of_a_path_gets_around_a_limit(backend: Backend) {
    let server = with(backend, SettingsArgs { submissions: Some(2), ..SettingsArgs::default() });
    let post = |path: &str| server.send_body("POST", path, &[], b"model = \"gpt2\"");
    assert_eq!([post("/api/v1/jobs").status, post(&encoded("/api/v1/jobs")).status], [422, 422]);
    check_refusal(&post(&encoded("/api/v1/jobs")), 429, "too_many_requests", "more often");
    check_refusal(&post("/api/v1/shares"), 429, "too_many_requests", "more often");
}

fn health_and_files_of_the_page_are_outside_of_limits(backend: Backend) {
    let server = with(backend, SettingsArgs { requests: Some(2), ..SettingsArgs::default() });
    for path in ["/healthz", "/readyz", "/"] {
        assert!((0..5).all(|_| server.get(path, &[]).status == 200), "{path}");
    }
    assert_eq!(server.get("/api/v1/cards", &[]).status, 200);
}

fn a_trusted_proxy_says_who_asks(backend: Backend) {
    let trusted_proxies = Some("127.0.0.1".to_owned());
    let server = with(backend, SettingsArgs { requests: Some(2), trusted_proxies, ..SettingsArgs::default() });
    let get = |address: &str| server.get("/api/v1/cards", &[("X-Forwarded-For", address)]).status;
    for address in ["203.0.113.1", "203.0.113.2"] {
        assert_eq!([get(address), get(address), get(address)], [200, 200, 429]);
    }
    let other = with(backend, SettingsArgs { requests: Some(2), ..SettingsArgs::default() });
    let get = |address: &str| other.get("/api/v1/cards", &[("X-Forwarded-For", address)]).status;
    assert_eq!([get("203.0.113.1"), get("203.0.113.2"), get("203.0.113.3")], [200, 200, 429], "nobody else does");
}

fn the_server_says_what_it_has(backend: Backend) {
    let server = with(backend, SettingsArgs::default());
    let cards = server.get("/api/v1/cards", &[]).json();
    assert!(cards.as_array().expect("cards").iter().any(|card| card["name"] == "h100-80gb"));
    let models = server.get("/api/v1/models", &[]).json();
    let gpt2 = models.as_array().expect("models").iter().find(|model| model["preset"] == "gpt2").expect("gpt2");
    assert_eq!((&gpt2["family"], &gpt2["parameters"]), (&"transformer".into(), &124_439_808_u64.into()));
    let gallery = server.get("/api/v1/gallery", &[]).json();
    let mistake = gallery.as_array().expect("rows").iter().find(|row| row["name"] == "keep-losses").expect("a mistake");
    assert_eq!(mistake["repair"], "keep-losses-repaired");
    assert!(mistake["text"].as_str().is_some_and(|text| text.lines().count() == 3));
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
    health_and_files_of_the_page_are_outside_of_limits,
    a_trusted_proxy_says_who_asks,
    the_server_says_what_it_has,
);
