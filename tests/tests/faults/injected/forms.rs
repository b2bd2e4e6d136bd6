//! Tests forms with missing, repeated or unknown parts, and with dangerous file names.

use serde_json::json;
use server::config::SettingsArgs;
use shared::api::ErrorCode;
use testkit::http::{Form, Reply, check_refusal};

use crate::injected::place::{Place, files, snapshot};

const CONFIG: &[u8] = b"steps = 2\nmodel = \"mlp\"\n";

/// File names that would lead out of a folder, end a header, or name another file if they were used.
const NAMES: &[&[u8]] = &[
    b"../../../../etc/passwd",
    b"..\\..\\windows\\system.ini",
    b"/etc/passwd",
    b"a\0b.pickle.gz",
    b"%2e%2e%2f%2e%2e%2fx",
    "Лог — 記録 \u{202e}zg.elkcip".as_bytes(),
    b"\xff\xfe\xfd",
    b".",
    b"",
    &[b'n'; 5000],
];

fn submit(place: &Place, form: Form) -> Reply {
    place.post("/api/v1/jobs", &[("Content-Type", &Form::content_type())], &form.finish())
}

#[test]
fn names_of_files_lead_nowhere() {
    let place = Place::with(SettingsArgs { jobs: Some("virtual=1".to_owned()), ..SettingsArgs::default() });
    for name in NAMES {
        let shown = String::from_utf8_lossy(name);
        let form = Form::default().part("view", br#"{"days": 7}"#).file("snapshot", name, &snapshot());
        let reply = place.share(form);
        // An invalid name may be refused; it is never used as a path.
        assert!(matches!(reply.status, 201 | 400), "{shown:?}: {}", reply.text());
    }
    // All uploads share one object, under a name that the store chose.
    assert_eq!(files(&place.data().join("store")).len(), 1);
    assert!(files(&place.data().join("scratch")).is_empty());
}

#[test]
fn a_title_is_no_header_and_no_path() {
    let place = Place::new();
    for (title, file) in [
        ("../../etc/passwd", "etc-passwd"),
        ("a\"; filename=\"b\r\nX-Evil: 1", "a---filename--b--X-Evil--1"),
        ("\0\u{1}\u{7f}", "Snapshot"),
        ("記録", "snapshot"),
        ("a leak", "a-leak"),
    ] {
        let view = json!({"title": title, "view_state": "", "days": 1}).to_string();
        let made = place.share(Form::default().part("view", view.as_bytes()).part("snapshot", &snapshot()));
        assert_eq!(made.status, 201, "{title:?}: {}", made.text());
        let token = made.json()["token"].as_str().expect("a token").to_owned();
        let reply = place.server.get(&format!("/api/v1/shares/{token}/snapshot"), &[]);
        let expected = format!("attachment; filename=\"{file}.pickle.gz\"");
        assert_eq!(reply.header("content-disposition"), Some(expected.as_str()), "{title:?}");
        assert_eq!(reply.header("x-evil"), None);
    }
}

#[test]
fn forms_of_other_parts_or_shapes_are_refused() {
    let place = Place::with(SettingsArgs { jobs: Some("virtual=1".to_owned()), ..SettingsArgs::default() });
    let check = |reply: &Reply, part: &str| check_refusal(reply, ErrorCode::BadRequest, part);
    let once = || Form::default().part("view", b"{}").part("snapshot", &snapshot());
    check(&place.share(Form::default()), "no part `snapshot`");
    check(&place.share(once().part("snapshot", &snapshot())), "`snapshot` twice");
    check(&place.share(once().part("view", b"{}")), "`view` twice");
    check(&place.share(once().part("owner", b"me")), "`owner`");
    check(&place.share(Form::default().part("", &snapshot())), "``");
    check(&submit(&place, Form::default().part("config", CONFIG)), "A job is no form");
    let post = |content_type: &str, body: &[u8]| {
        let reply = place.post("/api/v1/shares", &[("Content-Type", content_type)], body);
        check_refusal(&reply, ErrorCode::BadRequest, "form");
    };
    post("multipart/form-data", &Form::share(&snapshot()).finish());
    post("multipart/form-data; boundary=another", &Form::share(&snapshot()).finish());
    post("multipart/form-data; boundary=\"\"", &Form::share(&snapshot()).finish());
    post("application/x-www-form-urlencoded", b"view=%7B%7D&snapshot=x");
    post("nonsense", b"");
    post(&Form::content_type(), b"");
    post(&Form::content_type(), &vec![b'-'; 1 << 20]);
    let parts = |count: usize| (0..count).fold(Form::default(), |form, index| form.part(&format!("p{index}"), b"x"));
    check_refusal(&place.share(parts(10_000)), ErrorCode::BadRequest, "`p0`");
    let large = Form::default().part("config", &vec![b'x'; 10 << 20]);
    check_refusal(&submit(&place, large), ErrorCode::TooLarge, "");
    place.check_untouched();
}
