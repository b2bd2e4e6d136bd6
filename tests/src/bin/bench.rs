//! `./dev bench`: decoding and the page over generated snapshots, as ratios.

use std::path::Path;

use shared::base::format;
use shared::pickle::Style;
use testkit::bench::{Table, decode, page::Page, snapshot};

/// Events of the generated snapshots; a million are about 110 MB.
const MILLION: usize = 1_000_000;
const TEN_MILLION: usize = 10_000_000;
const RUNS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, file] = &arguments[..]
        && word == decode::CHILD
    {
        return decode::child(Path::new(file));
    }
    decoding();
    opening();
    frames();
}

fn decoding() {
    let headings =
        ["file", "CPython", "Snapscope", "faster", "memory", "of CPython's", "opcode scan", "times the scan"];
    let mut table = Table::new("Decoding, native, one thread (fastest of three fresh processes)", &headings);
    let files = [("1 M events, Python", MILLION, Style::Python), ("1 M events, C++", MILLION, Style::Torch)];
    for (name, events, style) in files {
        let file = snapshot(events, style);
        let (python, ours) = (decode::cpython(&file, RUNS), decode::native(&file, RUNS));
        let floor_s = decode::floor_s(&file, RUNS);
        table.row(&[
            format!("{name}, {}", size(&file)),
            seconds(python.decode_s),
            seconds(ours.decode_s),
            format!("{:.1}×", python.decode_s / ours.decode_s),
            format::bytes(ours.peak_bytes),
            format::percent(ours.peak_bytes, python.peak_bytes),
            seconds(floor_s),
            format!("{:.1}×", ours.decode_s / floor_s),
        ]);
    }
    table.print();
}

fn opening() {
    let headings =
        ["file", "native, model ready", "page, model ready", "times native", "then drawn after", "memory of the tab"];
    let mut table = Table::new("The page in headless Chromium, from choosing a file to its timeline", &headings);
    for (name, events, runs) in [("1 M events", MILLION, RUNS), ("10 M events", TEN_MILLION, 1)] {
        let file = snapshot(events, Style::Python);
        let native = decode::native(&file, runs);
        let openings = (0..runs).map(|_| Page::open().load(&file));
        let opening = openings.min_by(|a, b| a.ready_s.total_cmp(&b.ready_s)).expect("at least one run");
        table.row(&[
            format!("{name}, {}", size(&file)),
            seconds(native.ready_s),
            seconds(opening.ready_s),
            format!("{:.1}×", opening.ready_s / native.ready_s),
            seconds(opening.drawn_s - opening.ready_s),
            format::bytes(opening.peak_bytes),
        ]);
    }
    table.print();
}

fn frames() {
    let headings = ["gesture, 1 M events", "p50", "p95", "longest", "work of the page's thread a frame"];
    let mut table = Table::new("Time between frames, without a GPU (SwiftShader)", &headings);
    let page = Page::open();
    page.load(&snapshot(MILLION, Style::Python));
    for (name, frames) in [("zoom", page.zoom()), ("pan", page.pan())] {
        let ms = |value: f64| format!("{value:.1} ms");
        table.row(&[name.to_owned(), ms(frames.p50_ms), ms(frames.p95_ms), ms(frames.max_ms), ms(frames.work_ms)]);
    }
    table.print();
}

fn size(file: &Path) -> String {
    let bytes = std::fs::metadata(file).expect("the snapshot").len();
    format!("{:.0} MB", bytes as f64 / 1e6)
}

fn seconds(value: f64) -> String {
    if value < 0.1 { format!("{:.1} ms", value * 1000.0) } else { format!("{value:.2} s") }
}
