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
    the_server_says_what_it_has,
);
