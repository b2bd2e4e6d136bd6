//! Tests malformed and hostile requests.

use shared::api::ErrorCode;
use testkit::http::{self, check_refusal};

use crate::injected::place::Place;

#[test]
fn what_there_is_not_is_refused_by_method_id_and_parameter() {
    let place = Place::new();
    for (method, path, allowed) in [
        ("PUT", "/api/v1/jobs", "GET, POST"),
        ("BREW", "/api/v1/jobs", "GET, POST"),
        ("PUT", "/api/v1/jobs/x", "GET, PATCH, DELETE"),
        ("GET", "/api/v1/jobs/x/cancel", "POST"),
        ("GET", "/api/v1/shares", "POST"),
        ("POST", "/api/v1/cards", "GET"),
    ] {
        let reply = place.server.send(method, path, &[]);
        check_refusal(&reply, ErrorCode::MethodNotAllowed, method);
        assert_eq!(reply.header("allow"), Some(allowed), "{method} {path}");
    }
    let long = "a".repeat(9000);
    for id in
        ["x", "..%2f..%2f..%2fetc%2fpasswd", "%00", "%ff%fe", "..", "%2e%2e", "' OR 1=1 --", "%F0%9F%92%A9", &long]
    {
        let id = id.replace(' ', "%20");
        for path in [
            format!("/api/v1/jobs/{id}"),
            format!("/api/v1/jobs/{id}/events"),
            format!("/api/v1/jobs/{id}/snapshot"),
            format!("/api/v1/shares/{id}"),
            format!("/api/v1/shares/{id}/snapshot"),
        ] {
            check_refusal(&place.server.get(&path, &[]), ErrorCode::NotFound, "");
        }
        let headers = [("Authorization", "Bearer x")];
        check_refusal(&place.server.send("DELETE", &format!("/api/v1/shares/{id}"), &headers), ErrorCode::NotFound, "");
        check_refusal(&place.post(&format!("/api/v1/jobs/{id}/cancel"), &[], b""), ErrorCode::NotFound, "");
    }
    for (query, part) in [
        ("limit=-1", "limit"),
        ("limit=99999999999999999", "limit"),
        ("limit=1&limit=2", "limit"),
        ("state=dead", "`dead`"),
        ("order=size", "order"),
    ] {
        check_refusal(&place.server.get(&format!("/api/v1/jobs?{query}"), &[]), ErrorCode::BadRequest, part);
    }
    for (query, part) in [("priority=300", "priority"), ("steps=many", "steps"), ("crad=t4-16gb", "crad")] {
        check_refusal(&place.post(&format!("/api/v1/jobs?{query}"), &[], b"model = 1"), ErrorCode::BadRequest, part);
    }
    place.check_untouched();
}

#[test]
fn floods_end_at_a_limit_and_what_is_no_http_is_answered_as_such() {
    let place = Place::new();
    let status = |start: &str, headers: &str| {
        let request = format!("GET {start} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
        http::raw(place.server.address(), request.as_bytes()).map(|reply| reply.status)
    };
    let many = |count: usize| (0..count).map(|index| format!("X-{index}: y\r\n")).collect::<String>();
    assert_eq!(status("/healthz", &many(50)), Some(200));
    assert_eq!(status("/healthz", &many(5000)), Some(431));
    assert_eq!(status("/healthz", &format!("X-Long: {}\r\n", "y".repeat(500_000))), Some(431));
    assert_eq!(status(&format!("/{}", "a".repeat(8192)), ""), Some(404));
    assert_eq!(status(&format!("/healthz?{}", "a".repeat(8192)), ""), Some(200));
    assert_eq!(status(&format!("/{}", "a".repeat(500_000)), ""), Some(431));
    for bytes in [
        b"hello\r\n\r\n".as_slice(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /heal\0thz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: a\0b\r\n\r\n",
    ] {
        let status = http::raw(place.server.address(), bytes).map(|reply| reply.status);
        assert_eq!(status, Some(400), "{}", String::from_utf8_lossy(bytes));
    }
    place.check_untouched();
}
