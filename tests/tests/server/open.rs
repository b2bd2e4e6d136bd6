//! Tests `snapscope open`: what its server answers to whom, and when it ends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use testkit::http::send;
use testkit::opening::OpenProcess;
use testkit::repro::check_output;
use testkit::server::{root, snapscope};

/// A small page and two files beside it.
struct Stage {
    folder: TempDir,
}

impl Stage {
    fn new() -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        stage.write("dist/index.html", "<!doctype html>\n<html lang=\"en\"><script src=\"assets/0/boot.js\"></script>");
        stage.write("dist/assets/0/boot.js", "// boot");
        stage.write("runs/2.pickle", "the first");
        stage.write("runs/10.pickle", &"the second".repeat(300_000));
        stage.write("runs/train.py", "no recording");
        stage
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
    }

    #[track_caller]
    fn open(&self, files: &[&str], variables: &[(&str, &str)]) -> OpenProcess {
        let files: Vec<_> = files.iter().map(|name| self.path(name)).collect();
        let files: Vec<&Path> = files.iter().map(|path| &**path).collect();
        OpenProcess::start(&self.path("dist"), &files, variables)
    }
}

/// Connects as an open page does; the connection ends when it is dropped.
#[track_caller]
fn attend(opened: &OpenProcess) -> TcpStream {
    let mut page = TcpStream::connect(opened.address).unwrap();
    write!(page, "GET {}api/v1/attendance HTTP/1.1\r\nHost: localhost\r\n\r\n", opened.path).unwrap();
    let mut answer = [0; 15];
    page.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    page
}

#[test]
fn the_page_gets_the_files_of_a_folder() {
    let stage = Stage::new();
    let opened = stage.open(&["runs"], &[]);
    let page = opened.get("");
    assert!(page.text().contains("<html data-files=\"\" lang"), "{}", page.text());
    assert!(page.header("content-security-policy").is_some());
    assert_eq!(opened.get("assets/0/boot.js").header("cache-control"), Some("public, max-age=31536000, immutable"));
    let listed = opened.get("api/v1/files").json();
    let names: Vec<_> = listed["files"].as_array().unwrap().iter().map(|file| file["name"].clone()).collect();
    assert_eq!(names, ["2.pickle", "10.pickle"]);
    let second = opened.get("api/v1/files/1");
    assert_eq!(second.text(), "the second".repeat(300_000));
    assert_eq!(second.header("content-length"), Some("3000000"));
    assert_eq!(second.header("cache-control"), Some("no-store"));
    assert_eq!(second.header("access-control-allow-origin"), None);
    assert_eq!(second.header("cross-origin-resource-policy"), Some("same-origin"));
    std::fs::remove_file(stage.path("runs/2.pickle")).unwrap();
    for missing in ["api/v1/files/0", "api/v1/files/2", "api/v1/files/x", "api/v1/files/..%2f1", "secret"] {
        assert_eq!(opened.get(missing).status, 404, "{missing}");
    }
}

#[test]
fn whoever_does_not_know_the_token_gets_nothing() {
    let stage = Stage::new();
    let opened = stage.open(&["runs/2.pickle"], &[]);
    let token = opened.path.trim_matches('/');
    assert_eq!(token.len(), 39, "192 bits");
    let get = |path: &str, headers: &[(&str, &str)]| send(opened.address, "GET", path, headers).status;
    let file = format!("/{token}/api/v1/files/0");
    assert_eq!(get(&file, &[]), 200);
    for path in ["/", "/api/v1/files", "/api/v1/files/0", "/index.html", &file.replace(token, "0"), &file[1..]] {
        let status = get(path, &[]);
        assert!(matches!(status, 400 | 404), "{path}: {status}");
    }
    // A name that an attacker lets lead to this machine, and one through which SSH forwards.
    assert_eq!(get(&file, &[("Host", "evil.example")]), 403);
    assert_eq!(get(&file, &[("Host", "localhost:9")]), 200);
    assert_eq!(get(&format!("/{token}"), &[]), 308);
    assert_eq!(send(opened.address, "POST", &format!("/{token}/"), &[("Content-Length", "0")]).status, 405);
}

#[test]
fn it_ends_with_its_page_or_an_interrupt_but_not_with_a_reload() {
    let stage = Stage::new();
    let mut opened = stage.open(&["runs/2.pickle"], &[]);
    let page = attend(&opened);
    drop(page);
    std::thread::sleep(Duration::from_secs(2));
    let page = attend(&opened);
    std::thread::sleep(Duration::from_secs(7));
    assert!(!opened.has_ended(), "the page was only reloaded");
    drop(page);
    let (status, said) = opened.ended();
    assert_eq!((status, said.as_str()), (Some(0), ""));
    let mut opened = stage.open(&["runs/2.pickle"], &[]);
    let _page = attend(&opened);
    opened.signal("INT");
    assert_eq!(opened.ended().0, Some(0));
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_opened() {
    let stage = Stage::new();
    let ssh = [("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.9 22"), ("USER", "ada")];
    let mut opened = stage.open(&["missing.pickle", "runs/2.pickle"], &ssh);
    assert_eq!(opened.get("api/v1/files").json()["files"].as_array().unwrap().len(), 1);
    let port = opened.address.port();
    opened.signal("TERM");
    let (status, said) = opened.ended();
    assert_eq!(status, Some(2));
    assert!(said.contains("missing.pickle: No such file"), "{said}");
    assert!(said.contains(&format!("ssh -N -L {port}:127.0.0.1:{port} ada@192.0.2.9")), "{said}");
    let alone = Command::new(snapscope()).arg("open").arg(stage.path("missing.pickle")).output().unwrap();
    check_output(&alone, 2, &[], &["missing.pickle: No such file"]);
}

#[test]
fn a_terminal_gets_one_screen() {
    let file = root().join("tests/data/snapshots/virtual-py-gpt2-oom-t4.pickle.gz");
    let text = |columns: &str, lines: &str| {
        let mut command = Command::new(snapscope());
        let output = command.args(["open", "--text"]).arg(&file).env("COLUMNS", columns).env("LINES", lines).output();
        let output = output.unwrap();
        check_output(&output, 0, &["Alive at the peak", "error", "snapscope diagnose"], &[]);
        String::from_utf8(output.stdout).unwrap()
    };
    for (columns, lines) in [("80", "24"), ("132", "50")] {
        let text = text(columns, lines);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse::<usize>().unwrap(), "{widest} columns of {columns}:\n{text}");
        assert!(
            text.lines().count() < lines.parse::<usize>().unwrap(),
            "{} lines of {lines}:\n{text}",
            text.lines().count()
        );
        assert!(text.contains('█') && text.contains('×'), "{text}");
    }
}
