//! Tests pages whose paths are no files: links with previews for chats, and jobs.

use std::collections::HashSet;

use serde_json::json;
use server::config::SettingsArgs;
use shared::api::ErrorCode;
use testkit::http::{Form, check_refusal};
use testkit::server::{Reply, Server, root};

const TITLE: &str = "a <b>\"leak\"</b> & more";
const ESCAPED: &str = "a &lt;b&gt;&quot;leak&quot;&lt;/b&gt; &amp; more";

/// Shares a snapshot; returns the path of the link's page and the token that deletes it.
#[track_caller]
fn share(server: &Server) -> (String, String) {
    let snapshot = std::fs::read(root().join("tests/data/snapshots/torch2.15-basic-py311.pickle.gz")).unwrap();
    let view = json!({"title": TITLE, "view_state": "v1", "days": 1}).to_string();
    let form = Form::default().part("view", view.as_bytes()).file("snapshot", "a.gz", &snapshot).finish();
    let made = server.send_body("POST", "/api/v1/shares", &[("Content-Type", &Form::content_type())], &form);
    assert_eq!(made.status, 201, "{}", made.text());
    let made = made.json();
    let text = |key: &str| made[key].as_str().expect("a token").to_owned();
    (format!("/s/{}", text("token")), text("delete_token"))
}

#[track_caller]
fn content<'a>(page: &'a str, name: &str) -> &'a str {
    let start = format!("\"{name}\" content=\"");
    let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("{name} in {page}"));
    rest.split('"').next().unwrap()
}

/// Checks that every file named by a page exists, by an absolute path.
#[track_caller]
fn check_assets(server: &Server, page: &str) {
    let pieces: Vec<&str> = page.split('"').collect();
    let named = pieces.windows(2).filter(|pair| pair[0].ends_with(" href=") || pair[0].ends_with(" src="));
    let addresses: Vec<&str> = named.map(|pair| pair[1]).collect();
    assert!(addresses.len() > 3, "{page}");
    for address in addresses {
        assert!(address.starts_with('/'), "{address}");
        assert_eq!(server.get(address, &[]).status, 200, "{address}");
    }
}

#[test]
fn a_link_unfolds() {
    let server = Server::with(SettingsArgs::default());
    let (path, _) = share(&server);
    let reply = server.get(&path, &[]);
    let page = reply.text();
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(reply.header("cache-control"), Some("private, no-cache"));
    assert!(page.contains(&format!("<title>{ESCAPED} – Snapscope</title>")), "{page}");
    assert_eq!(content(page, "og:title"), ESCAPED);
    assert_eq!(content(page, "description"), "Peak 59.1 MiB live, 86.0 MiB reserved · 2 devices · 71 events");
    assert_eq!(content(page, "og:description"), content(page, "description"));
    assert_eq!(content(page, "og:url"), server.url(&path));
    assert_eq!(content(page, "og:image"), server.url(&format!("{path}/preview.png")));
    // Nobody but a proxy says under which address it was asked.
    let said = server.get(&path, &[("X-Forwarded-Host", "evil.example.org"), ("Forwarded", "host=evil.example.org")]);
    assert_eq!(content(said.text(), "og:url"), server.url(&path));
    assert_eq!((content(page, "twitter:card"), content(page, "robots")), ("summary_large_image", "noindex"));
    assert_eq!(page.matches("<title>").count(), 1);
    assert_eq!(page.matches("name=\"description\"").count(), 1);
    check_assets(&server, page);
    let head = server.send("HEAD", &path, &[]);
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn addresses_are_those_that_people_reach() {
    let public = Some("https://snap.example.org/".to_owned());
    let server = Server::with(SettingsArgs { public_address: public, ..SettingsArgs::default() });
    let (path, _) = share(&server);
    let reply = server.get(&path, &[]);
    assert_eq!(content(reply.text(), "og:url"), format!("https://snap.example.org{path}"));
}

#[test]
fn a_link_has_a_picture_and_says_on_the_same_page_that_it_is_gone() {
    let server = Server::with(SettingsArgs::default());
    let (path, delete_token) = share(&server);
    let delete = |path: &str| {
        let path = path.replace("/s/", "/api/v1/shares/");
        server.send("DELETE", &path, &[("Authorization", &format!("Bearer {delete_token}"))]).status
    };
    assert_eq!(delete(&path), 204);
    for path in [path.as_str(), "/s/none", "/s/%22%3E%3Cscript%3E"] {
        let reply = server.get(path, &[]);
        assert_eq!((reply.status, reply.header("content-type")), (404, Some("text/html; charset=utf-8")), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert!(reply.text().contains("id=\"app\"") && !reply.text().contains("og:"), "{}", reply.text());
        check_assets(&server, reply.text());
        check_refusal(&server.get(&format!("{path}/preview.png"), &[]), ErrorCode::NotFound, "no such link");
    }

    let (path, _) = share(&server);
    let path = format!("{path}/preview.png");
    let reply = server.get(&path, &[]);
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("image/png")));
    assert_eq!(reply.header("cross-origin-resource-policy"), Some("cross-origin"));
    let (width, height, pixels) = pixels(&reply);
    assert_eq!((width, height), (1200, 630));
    let count = |color: [u8; 3]| pixels.iter().filter(|pixel| **pixel == color).count();
    assert!(pixels.iter().collect::<HashSet<_>>().len() > 100);
    // Colours of live and reserved bytes as on the page, on a white background.
    assert!(count([0x1b, 0x3a, 0x7a]) > 1000 && count([0xa8, 0x57, 0x08]) > 1000, "lines");
    assert!(count([0xff; 3]) > pixels.len() / 2, "paper");

    // Shared caches must not store it, and it is revalidated each time, because links can be deleted.
    assert_eq!(reply.header("cache-control"), Some("private, no-cache"));
    let tag = reply.header("etag").expect("a tag");
    let again = server.get(&path, &[("If-None-Match", tag)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(server.get(&path, &[("If-None-Match", "\"other\"")]).body, reply.body);
}

/// Decodes a picture to its size and its RGB pixels.
#[track_caller]
fn pixels(reply: &Reply) -> (u32, u32, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(&reply.body)).read_info().expect("a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut bytes).expect("a picture");
    assert_eq!(info.color_type, png::ColorType::Rgb);
    (info.width, info.height, bytes.as_chunks().0.to_vec())
}

#[test]
fn jobs_have_pages_and_files_of_the_gallery_their_types() {
    let server = Server::with(SettingsArgs::default());
    let list = server.get("/jobs", &[]);
    assert_eq!((list.status, list.header("content-type")), (200, Some("text/html; charset=utf-8")));
    check_assets(&server, list.text());
    assert_eq!(server.get("/jobs/any", &[]).body, list.body);
    let tag = list.header("etag").expect("a tag");
    assert_eq!(server.get("/jobs", &[("If-None-Match", tag)]).status, 304);
    let refused = server.send("POST", "/jobs", &[("Content-Length", "0")]);
    check_refusal(&refused, ErrorCode::MethodNotAllowed, "The method POST is not allowed for /jobs");
    assert_eq!(refused.header("allow"), Some("GET, HEAD"));
    let content_type = |path: &str| {
        let reply = server.get(path, &[]);
        (reply.status, reply.header("content-type").map(str::to_owned))
    };
    assert_eq!(content_type("/gallery/resnet50-t4.toml"), (200, Some("application/toml".to_owned())));
    assert_eq!(content_type("/gallery/novel_lstm_bad.py"), (200, Some("text/plain; charset=utf-8".to_owned())));
    assert_eq!(content_type("/gallery/novel_lstm_bad.pickle.gz"), (200, Some("application/gzip".to_owned())));
    assert_eq!(content_type("/gallery/README.md"), (200, Some("text/markdown; charset=utf-8".to_owned())));
}
