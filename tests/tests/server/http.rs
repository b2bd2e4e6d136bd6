//! Tests the HTTP answers of the server: headers, caching, compression and refusals.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::time::Duration;

use flate2::Compression;
use flate2::read::GzDecoder;
use shared::api::ErrorCode;
use tempfile::TempDir;
use testkit::padded::gzip;
use testkit::server::{Reply, ServeProcess, Server, send, snapscope};

const SCRIPT: &str = "export const moment = 0;\n";

/// Makes a page with the layout of `target/dist`, and a secret file beside it that no request may read.
fn page() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dist = folder.path().join("dist");
    let assets = dist.join("assets/0123");
    fs::create_dir_all(&assets).unwrap();
    fs::write(folder.path().join("secret.txt"), "secret").unwrap();
    fs::write(dist.join("index.html"), "<!doctype html>").unwrap();
    fs::write(dist.join("sample.pickle.gz"), gzip(b"a snapshot", Compression::best())).unwrap();
    fs::write(assets.join("boot.js"), SCRIPT).unwrap();
    fs::write(assets.join("boot.js.br"), brotli(SCRIPT.as_bytes())).unwrap();
    fs::write(assets.join("boot.js.gz"), gzip(SCRIPT.as_bytes(), Compression::best())).unwrap();
    fs::write(assets.join("snapscope_bg.wasm"), b"\0asm").unwrap();
    fs::write(assets.join("style.css"), "p {}").unwrap();
    folder
}

/// Encodes a brotli stream without compression: header, one uncompressed block, empty last block (RFC 7932, 9.2).
fn brotli(bytes: &[u8]) -> Vec<u8> {
    // WBITS=16 (0), ISLAST=0, MNIBBLES=4 (00), MLEN-1 in 16 bits, ISUNCOMPRESSED=1; then ISLAST, ISLASTEMPTY.
    let length = u32::try_from(bytes.len() - 1).unwrap();
    let head = (length << 4) | (1 << 20);
    [&head.to_le_bytes()[..3], bytes, &[0b11]].concat()
}

fn serve() -> (Server, TempDir) {
    let folder = page();
    (Server::start(&folder.path().join("dist")), folder)
}

#[track_caller]
fn check_refusal(reply: &Reply, status: u16) {
    assert_eq!(reply.status, status, "{}", String::from_utf8_lossy(&reply.body));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    check_guarded(reply);
}

/// Checks that an answer has the headers that keep foreign code and pages out.
#[track_caller]
fn check_guarded(reply: &Reply) {
    let policy = reply.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "), "{policy}");
    for directive in ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'"] {
        assert!(policy.contains(directive), "{directive} in {policy}");
    }
    assert!(!["unsafe-inline", "'unsafe-eval'", "*"].iter().any(|part| policy.contains(part)), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{name}");
    }
}

#[test]
fn the_index_is_revalidated_each_time_assets_are_kept_for_ever_and_health_never() {
    let (server, _folder) = serve();
    let first = server.get("/", &[]);
    assert_eq!((first.status, first.text()), (200, "<!doctype html>"));
    assert_eq!(first.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(first.header("cache-control"), Some("no-cache"));
    check_guarded(&first);

    let tag = first.header("etag").unwrap();
    for known in [tag.to_owned(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
        let again = server.get("/", &[("If-None-Match", &known)]);
        assert_eq!((again.status, again.body.len()), (304, 0), "{known}");
        assert_eq!(again.header("etag"), Some(tag));
        check_guarded(&again);
    }
    assert_eq!(server.get("/", &[("If-None-Match", "\"other\"")]).status, 200);
    assert_eq!(server.get("/?sample", &[]).text(), "<!doctype html>");

    for (name, content_type) in [
        ("boot.js", "text/javascript; charset=utf-8"),
        ("snapscope_bg.wasm", "application/wasm"),
        ("style.css", "text/css; charset=utf-8"),
    ] {
        let reply = server.get(&format!("/assets/0123/{name}"), &[]);
        assert_eq!(reply.status, 200, "{name}");
        assert_eq!(reply.header("content-type"), Some(content_type), "{name}");
        assert_eq!(reply.header("cache-control"), Some("public, max-age=31536000, immutable"), "{name}");
        check_guarded(&reply);
    }

    let reply = server.get("/healthz", &[]);
    assert_eq!((reply.status, reply.text()), (200, "ok\n"));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    check_guarded(&reply);
}

#[test]
fn the_best_copy_that_the_client_reads_is_sent() {
    let (server, _folder) = serve();
    let get = |accepted| server.get("/assets/0123/boot.js", &[("Accept-Encoding", accepted)]);

    let best = get("gzip, deflate, br, zstd");
    assert_eq!(best.header("content-encoding"), Some("br"));
    let mut text = String::new();
    brotli_decompressor::Decompressor::new(&best.body[..], 4096).read_to_string(&mut text).unwrap();
    assert_eq!(text, SCRIPT);

    let zipped = get("gzip");
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    text.clear();
    GzDecoder::new(&zipped.body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, SCRIPT);

    let plain = get("br;q=0, gzip;q=0");
    assert_eq!((plain.header("content-encoding"), plain.text()), (None, SCRIPT));

    let tags = [&best, &zipped, &plain].map(|reply| reply.header("etag").unwrap());
    assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
    for reply in [&best, &zipped, &plain] {
        assert_eq!(reply.header("vary"), Some("Accept-Encoding"));
        assert_eq!(reply.header("content-type"), Some("text/javascript; charset=utf-8"));
    }
    let reply = server.get("/sample.pickle.gz", &[("Accept-Encoding", "gzip, br")]);
    assert_eq!(reply.header("content-type"), Some("application/gzip"));
    assert_eq!(reply.header("content-encoding"), None);
    assert_eq!(reply.header("cache-control"), Some("no-cache"));
    assert_eq!(reply.body, gzip(b"a snapshot", Compression::best()));
}

#[test]
fn head_is_get_without_the_body_and_other_methods_are_refused() {
    let (server, _folder) = serve();
    let (get, head) = (server.get("/", &[]), server.send("HEAD", "/", &[]));
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), get.header("content-length"));
    assert_eq!(head.header("etag"), get.header("etag"));
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let reply = server.send(method, "/", &[("Content-Length", "0")]);
        check_refusal(&reply, 405);
        assert_eq!(reply.header("allow"), Some("GET, HEAD"));
    }
}

#[test]
fn unknown_paths_and_resources_are_refused_and_none_leads_out_of_the_page() {
    let (server, _folder) = serve();
    for path in ["/nothing", "/assets/0123", "/assets/0123/", "/assets/", "/index.html/", "//", "/%00", "/%ff"] {
        let reply = server.get(path, &[]);
        check_refusal(&reply, 404);
        assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"), "{path}");
    }
    for path in ["/api", "/api/", "/api/v1/nothing", "/api/../secret"] {
        let reply = server.get(path, &[]);
        check_refusal(&reply, 404);
        assert_eq!(reply.header("content-type"), Some("application/json"), "{path}");
        let envelope: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(envelope["code"], ErrorCode::NotFound.name());
        assert_eq!(envelope["message"], format!("There is no resource at {path}."));
        assert!(envelope["hint"].is_string());
    }
    for path in [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/a/../../secret.txt",
        "/assets/../../secret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/..\\secret.txt",
        "/./../secret.txt",
        "//secret.txt",
    ] {
        check_refusal(&server.get(path, &[]), 404);
    }
}

#[test]
fn the_binary_serves_and_stops_on_a_signal() {
    let folder = page();
    for signal in ["TERM", "INT"] {
        let process = ServeProcess::start(&folder.path().join("dist"));
        assert_eq!(send(process.address, "GET", "/healthz", &[]).status, 200);
        assert_eq!(process.stop(signal), Some(0), "{signal}");
    }
}

/// Runs `snapscope serve`, which has to end with a refusal.
#[track_caller]
fn check_start_fails(arguments: &[&str], expected: [&str; 2]) {
    let run = Command::new(snapscope()).arg("serve").args(arguments).output();
    let Output { status, stdout, stderr } = run.unwrap();
    let said = String::from_utf8_lossy(&stderr);
    assert_eq!((status.code(), stdout.as_slice()), (Some(2), &b""[..]), "{said}");
    for part in expected {
        assert!(said.contains(part), "{part} in {said}");
    }
}

#[test]
fn a_start_that_fails_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    check_start_fails(&["--dist", name], ["error: there are no built web pages in", "hint: run `./dev build`"]);
    let folder = page();
    let [dist, data] = ["dist", "data"].map(|name| folder.path().join(name).display().to_string());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    check_start_fails(
        &["--dist", &dist, "--data", &data, "--listen", &address.to_string()],
        [&format!("error: port {} on 127.0.0.1 is in use", address.port()), "hint: stop the program"],
    );
    check_start_fails(&["--listen", "localhost"], ["error: `localhost` is not an address", "use a numeric address"]);
}

#[test]
fn documents_say_that_a_server_sends_them() {
    let folder = page();
    let dist = folder.path().join("dist");
    fs::write(dist.join("index.html"), "<!doctype html>\n<html lang=\"en\"><p>text").unwrap();
    fs::write(dist.join("sw.js"), "// kept").unwrap();
    let server = Server::start(&dist);
    for headers in [&[][..], &[("Accept-Encoding", "gzip, br")][..]] {
        let reply = server.get("/", headers);
        let mut text = reply.body.clone();
        if reply.header("content-encoding") == Some("gzip") {
            text.clear();
            GzDecoder::new(&reply.body[..]).read_to_end(&mut text).unwrap();
        }
        assert_eq!(String::from_utf8(text).unwrap(), "<!doctype html>\n<html data-server=\"\" lang=\"en\"><p>text");
    }
    // A browser has to notice a new build.
    let script = server.get("/sw.js", &[]);
    assert_eq!(script.header("cache-control"), Some("no-cache"));
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    check_guarded(&script);
}

#[test]
fn only_an_unfinished_body_ends_its_connection() {
    let (server, _folder) = serve();
    for (head, status) in [
        ("GET /healthz HTTP/1.1\r\nHost: localhost", "200"),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close", "200"),
        ("GET / HTTP/1.1\r\nHost: localhost", "200"),
        ("GET /nothing HTTP/1.1\r\nHost: localhost", "404"),
        ("DELETE /healthz HTTP/1.1\r\nHost: localhost", "405"),
        ("GET /healthz HTTP/1.1\r\nHost: evil.example.org", "403"),
    ] {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(stream, "{head}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the end of the connection");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head}: {answer}");
    }
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let first = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    let second = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    write!(stream, "{first}{second}").unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2, "{answers}");
}
