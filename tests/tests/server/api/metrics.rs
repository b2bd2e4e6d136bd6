//! Tests the Prometheus metrics.

use std::time::{Duration, Instant};

use server::config::SettingsArgs;
use shared::api::ErrorCode;
use testkit::http::{Form, check_refusal};
use testkit::server::{Server, root};

#[track_caller]
fn metrics(server: &Server) -> String {
    let reply = server.get("/metrics", &[]);
    assert_eq!((reply.status, reply.header("cache-control")), (200, Some("no-store")));
    let expected = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(reply.header("content-type"), Some(expected));
    assert!(reply.text().ends_with("# EOF\n"), "{}", reply.text());
    reply.text().to_owned()
}

/// Returns the value of a metric; `None` if there is no such line.
fn value(metrics: &str, name: &str) -> Option<f64> {
    metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn requests_are_counted_by_their_templates() {
    let server = Server::with(SettingsArgs::default());
    for job in ["one", "two", "three"] {
        server.get(&format!("/api/v1/jobs/{job}"), &[]);
        server.get(&format!("/files/{job}"), &[]);
        server.get(&format!("/api/v1/{job}"), &[]);
        server.send(&format!("METHOD-{job}"), "/healthz", &[]);
    }
    let metrics = metrics(&server);
    let count = |method: &str, route: &str, status: u16| {
        let labels = format!("{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}}");
        value(&metrics, &format!("snapscope_http_requests_total{labels}"))
    };
    assert_eq!(count("GET", "/api/v1/jobs/{id}", 404), Some(3.0), "{metrics}");
    assert_eq!(count("GET", "/*", 404), Some(3.0), "{metrics}");
    assert_eq!(count("GET", "/api/*", 404), Some(3.0), "{metrics}");
    let seconds = "snapscope_http_request_duration_seconds_count{method=\"GET\",route=\"/api/v1/jobs/{id}\"}";
    assert_eq!(value(&metrics, seconds), Some(3.0), "{metrics}");
    // Clients cannot create labels.
    assert!(!["one", "two", "three"].iter().any(|name| metrics.contains(name)), "{metrics}");
}

#[test]
fn the_store_and_its_links_are_counted() {
    let server = Server::with(SettingsArgs { quota: Some("1GiB".to_owned()), ..SettingsArgs::default() });
    let snapshot = std::fs::read(root().join("tests/data/snapshots/torch2.15-basic-py311.pickle.gz")).unwrap();
    let form = Form::share(&snapshot).finish();
    let made = server.send_body("POST", "/api/v1/shares", &[("Content-Type", &Form::content_type())], &form);
    let token = made.json()["token"].as_str().expect("a token").to_owned();
    server.get(&format!("/api/v1/shares/{token}/snapshot"), &[]);
    let metrics = metrics(&server);
    let size_bytes = snapshot.len() as f64;
    for (name, expected) in [
        ("snapscope_store_operations_total{operation=\"put\",outcome=\"done\"}", 1.0),
        ("snapscope_store_operations_total{operation=\"read\",outcome=\"done\"}", 1.0),
        ("snapscope_store_transferred_bytes_total{direction=\"written\"}", size_bytes),
        ("snapscope_store_transferred_bytes_total{direction=\"read\"}", size_bytes),
        ("snapscope_store_snapshots_bytes", size_bytes),
        ("snapscope_store_jobs_bytes", 0.0),
        ("snapscope_store_quota_bytes", f64::from(1 << 30)),
        ("snapscope_shares", 1.0),
        ("snapscope_database_up", 1.0),
        ("snapscope_queue_oldest_wait_seconds", 0.0),
    ] {
        assert_eq!(value(&metrics, name), Some(expected), "{name} in {metrics}");
    }
    assert!(!metrics.contains(&token), "{metrics}");
    assert!(value(&metrics, "process_resident_memory_bytes") > Some(1e6), "{metrics}");
}

#[test]
fn recordings_are_counted() {
    let server = Server::with(SettingsArgs { jobs: Some("virtual=1".to_owned()), ..SettingsArgs::default() });
    let config = "steps = 2\n[model]\nfamily = \"mlp\"\ninput = 64\nhidden = [128]\nclasses = 10";
    let submitted = server.send_body("POST", "/api/v1/jobs", &[], config.as_bytes());
    assert_eq!(submitted.status, 202, "{}", submitted.text());
    let (start, patience) = (Instant::now(), Duration::from_secs(120));
    let finished = "snapscope_jobs{kind=\"virtual\",state=\"finished\"}";
    let mut now = metrics(&server);
    while value(&now, finished).is_none() {
        assert!(start.elapsed() < patience, "{now}");
        std::thread::sleep(Duration::from_millis(100));
        now = metrics(&server);
    }
    for (name, expected) in [
        (finished, 1.0),
        ("snapscope_recordings_total{outcome=\"finished\"}", 1.0),
        ("snapscope_recording_duration_seconds_count", 1.0),
        ("snapscope_recorder_memory_bytes_count", 1.0),
        ("snapscope_workers{kind=\"virtual\"}", 1.0),
    ] {
        assert_eq!(value(&now, name), Some(expected), "{name} in {now}");
    }
    assert!(value(&now, "snapscope_recording_duration_seconds_sum") > Some(0.0), "{now}");
    assert!(value(&now, "snapscope_recorder_memory_bytes_sum") > Some(1e6), "{now}");
}

#[test]
fn metrics_need_a_token_where_one_is_set() {
    let token = |token: &str| Some(token.to_owned());
    let get = |server: &Server, sent: &str| server.get("/metrics", &[("Authorization", &format!("Bearer {sent}"))]);
    let closed = Server::with(SettingsArgs { token: token("secret"), ..SettingsArgs::default() });
    check_refusal(&closed.get("/metrics", &[]), ErrorCode::Unauthorized, "metrics");
    assert_eq!(get(&closed, "secret").status, 200);
    // A separate token for metrics, which allows nothing else.
    let settings = SettingsArgs { token: token("secret"), metrics_token: token("figures"), ..SettingsArgs::default() };
    let apart = Server::with(settings);
    assert_eq!((get(&apart, "figures").status, get(&apart, "secret").status), (200, 401));
    let submit = apart.send_body("POST", "/api/v1/jobs", &[("Authorization", "Bearer figures")], b"steps = 1");
    check_refusal(&submit, ErrorCode::Unauthorized, "token");
}
