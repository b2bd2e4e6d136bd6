//! Compares the OpenAPI document with the behaviour of the API.

use std::collections::BTreeSet;

use serde_json::Value;
use server::config::SettingsArgs;
use testkit::server::Server;

fn server() -> Server {
    Server::with(SettingsArgs { token: Some("secret".to_owned()), ..SettingsArgs::default() })
}

fn document(server: &Server) -> Value {
    let reply = server.get("/api/v1/openapi.json", &[]);
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    reply.json()
}

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let items = document["paths"].as_object().expect("paths");
    let of_item = |(path, item): (&String, &Value)| {
        let methods = item.as_object().expect("methods").clone();
        let path = path.clone();
        methods.into_iter().map(move |(method, operation)| (method.to_uppercase(), path.clone(), operation))
    };
    items.iter().flat_map(of_item).collect()
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn the_description_is_the_stored_one_and_what_it_describes_is_there() {
    let text = serde_json::to_string_pretty(&document(&server())).expect("a document");
    testkit::documents::check("openapi.json", &format!("{text}\n"));
    let server = server();
    let document = document(&server);
    let operations = operations(&document);
    assert!(operations.len() > 20, "{}", operations.len());
    for (method, template, operation) in operations {
        let path = template.replace("{id}", "none").replace("{token}", "none");
        let reply = server.send(&method, &path, &[("Content-Length", "0")]);
        let status = reply.status.to_string();
        assert!(operation["responses"].get(&status).is_some(), "{method} {template}: {status} is not described");
        // Without arguments the request may fail, but not because the route is missing.
        let said = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(reply.status != 405 && !said.contains("no resource at"), "{method} {template}: {said}");
        assert!(!said.contains("no such page"), "{method} {template}: {said}");
    }
}

#[test]
fn what_is_refused_is_described_references_lead_somewhere_and_examples_fit_their_types() {
    let server = server();
    let document = document(&server);
    let authorized = ("Authorization", "Bearer secret");
    let json = ("Content-Type", "application/json");
    for (method, path, template, headers, body, status) in [
        ("POST", "/api/v1/jobs", "/api/v1/jobs", vec![authorized], "steps = ", 422),
        ("POST", "/api/v1/jobs?steps=x", "/api/v1/jobs", vec![authorized], "steps = 1", 400),
        ("POST", "/api/v1/jobs", "/api/v1/jobs", vec![], "steps = 1", 401),
        ("POST", "/api/v1/shares", "/api/v1/shares", vec![authorized, json], "{}", 400),
        ("PATCH", "/api/v1/jobs/x", "/api/v1/jobs/{id}", vec![], "{\"name\": \"a\"}", 401),
        ("PATCH", "/api/v1/jobs/x", "/api/v1/jobs/{id}", vec![authorized], "{}", 400),
        ("PATCH", "/api/v1/jobs/x", "/api/v1/jobs/{id}", vec![authorized], "{\"name\": \"a\"}", 404),
        ("DELETE", "/api/v1/jobs/x", "/api/v1/jobs/{id}", vec![], "", 401),
        ("DELETE", "/api/v1/jobs/x", "/api/v1/jobs/{id}", vec![authorized], "", 404),
        ("DELETE", "/api/v1/shares/x", "/api/v1/shares/{token}", vec![], "", 401),
        ("DELETE", "/api/v1/shares/x", "/api/v1/shares/{token}", vec![authorized], "", 404),
        ("GET", "/api/v1/jobs?limit=x", "/api/v1/jobs", vec![], "", 400),
        ("GET", "/api/v1/jobs/x/snapshot", "/api/v1/jobs/{id}/snapshot", vec![], "", 404),
        ("GET", "/api/v1/cards", "/api/v1/cards", vec![("Host", "evil.example.org")], "", 403),
        ("GET", "/metrics", "/metrics", vec![], "", 401),
    ] {
        let reply = server.send_body(method, path, &headers, body.as_bytes());
        assert_eq!(reply.status, status, "{method} {path}: {}", reply.text());
        let described = &document["paths"][template][method.to_lowercase()]["responses"][status.to_string()];
        let code = reply.json()["code"].as_str().expect("a code").to_owned();
        let description = described["description"].as_str().unwrap_or_default();
        assert!(description.contains(&format!("`{code}`")), "{method} {path}: {code} in {described}");
        assert_eq!(described["content"]["application/json"]["schema"]["$ref"], "#/components/schemas/ErrorBody");
    }

    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")), "{}", document["openapi"]);
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.contains("#/components/schemas/JobDetails"), "{found:?}");
    for reference in found {
        let place = reference.strip_prefix('#').expect("a place in this document");
        assert!(document.pointer(place).is_some(), "{reference}");
    }
    let schemes = document["components"]["securitySchemes"].as_object().expect("schemes");
    assert!(schemes.values().all(|scheme| scheme["scheme"] == "bearer"), "{schemes:?}");
    // An answer has exactly the fields of its type.
    for (path, schema) in [("/api/v1/limits", "ServerLimits"), ("/api/v1/cards", "CardRow")] {
        let answer = server.get(path, &[]).json();
        let row = answer.as_array().map_or(&answer, |rows| &rows[0]);
        let fields = |value: &Value| value.as_object().expect("fields").keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(fields(row), fields(&document["components"]["schemas"][schema]["properties"]), "{path}");
    }
}

#[test]
fn the_page_loads_only_files_of_this_server() {
    let server = server();
    let reply = server.get("/api/v1/docs", &[]);
    let page = reply.text();
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/html; charset=utf-8")));
    for forbidden in [" style=", "<style", "http://", "https://"] {
        assert!(!page.contains(forbidden), "{forbidden} on the page, which the policy does not allow");
    }
    let links: Vec<&str> = page.split(['"']).filter(|part| part.starts_with(['.', '/'])).collect();
    assert_eq!(links.len(), 7, "{links:?}");
    for link in links {
        let file = server.get(link, &[("Accept-Encoding", "gzip")]);
        assert_eq!((file.status, file.header("content-encoding")), (200, Some("gzip")), "{link}");
    }
    // Scripts are in files, because the policy allows no others.
    assert!(page.split("<script").skip(1).all(|script| script.starts_with(" src=")), "{page}");
    assert!(server.get("/api/v1/docs/swagger-initializer.js", &[]).text().contains("\"/api/v1/openapi.json\""));
    assert_eq!(server.get("/api/v1/docs/oauth2-redirect.html", &[]).status, 404);
}
