//! Tests that the benchmark works, on a small file and on toy pages.

use std::fs;
use std::process::Command;

use testkit::server::snapscope;
use tools::bench::page::visit;
use tools::bench::viewer::Viewer;

/// Serves a toy page with a canvas and a script, as a viewer to measure.
///
/// With [`DRAW`], it shows the file 0.1 s after it was chosen or dropped.
fn toy(script: &str) -> (tempfile::TempDir, Viewer) {
    let folder = tempfile::tempdir().expect("a folder");
    let page = format!("<!doctype html><body><canvas width=400 height=200></canvas><script>{script}</script>");
    fs::write(folder.path().join("index.html"), page).expect("room");
    let viewer = Viewer::at("toy", folder.path()).expect("a page");
    (folder, viewer)
}

const DRAW: &str = "
    const draw = async file => {
        const bytes = await file.arrayBuffer();
        setTimeout(() => {
            const context = document.querySelector('canvas').getContext('2d');
            for (let n = 0; n < 9; n++) {
                context.fillStyle = ['red', 'green', 'blue'][n % 3];
                context.fillRect(n * 44, 0, 44, bytes.byteLength);
            }
        }, 100);
    };
    onwheel = event => document.querySelector('canvas').style.opacity = Math.random();";

#[test]
fn a_page_that_takes_dropped_files_is_measured() {
    let (folder, viewer) = toy(&format!("{DRAW} document.body.ondrop = event => draw(event.dataTransfer.files[0]);"));
    let visit = visit(&viewer, &folder.path().join("index.html"));
    assert_eq!(visit.failure, None);
    assert!(visit.drawn_s.expect("a time") >= 0.1, "{visit:?}");
    assert_eq!(visit.parsed_s, None, "it does not say");
    assert!(visit.peak_bytes > 10 << 20 && visit.start.bytes > 500.0, "{visit:?}");
    let zoom = visit.zoom.expect("frames");
    assert!(zoom.count > 0 && zoom.p50_ms <= zoom.p95_ms && zoom.p95_ms <= zoom.max_ms, "{zoom:?}");
}

#[test]
fn a_page_that_fails_is_a_result() {
    let input = "<input type=file>";
    let (folder, viewer) =
        toy(&format!("document.body.innerHTML += '{input}'; onchange = () => {{ throw Error('too large'); }};"));
    let visit = visit(&viewer, &folder.path().join("index.html"));
    assert!(visit.failure.as_deref().is_some_and(|failure| failure.contains("too large")), "{visit:?}");
    assert_eq!((visit.drawn_s, visit.zoom), (None, None));
}

#[test]
fn a_small_file_is_measured_from_end_to_end() {
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
        command.arg("--snapscope").arg(snapscope()).args(["--sizes", "1", "--runs", "1", "--markdown"]).args(words);
        let output = command.output().expect("the benchmark");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let text = run(&["page", "native"]);
    for part in ["CPython's pickle.load", "snapscope inspect", "all findings", "| snapscope |", "start of the page"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let scale = run(&["scale"]);
    for part in ["snapscope diff", "snapscope ranks, 64 files", "\"block12\" typed", "segments, at the last event"] {
        assert!(scale.contains(part), "{part} in {scale}");
    }
    let rows = text.lines().filter(|line| line.starts_with("| 1.1 MB"));
    for row in rows {
        let figures = row.split('|').filter(|cell| cell.contains(" ms") || cell.contains(" s ")).count();
        assert!(figures > 0, "a time in {row}");
    }
}
