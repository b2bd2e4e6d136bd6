//! Tests logs on the page: of host memory, of trainings that ran out of memory, and pasted errors.

use serde_json::json;
use shared::analysis::FindingCode;
use testkit::browser::Spot;

use crate::journey::Journey;

const ERROR: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of \
                     23.65 GiB of which 1.66 GiB is free. Including non-PyTorch memory, this process has 20.81 GiB memory \
                     in use. Of the allocated memory 12.09 GiB is allocated by PyTorch, and 4.84 GiB is reserved by PyTorch \
                     but unallocated.\n";

/// The loop `while sleep 30; do date; ps aux | grep train.py; done`, over two epochs and a half of two workers.
fn loop_of_ps() -> String {
    let mut log = String::new();
    for sample in 0..250_u64 {
        let seconds = sample * 30;
        log +=
            &format!("Mon Nov 23 {:02}:{:02}:{:02} CET 2026\n", 10 + seconds / 3600, seconds / 60 % 60, seconds % 60);
        let mut row = |pid: u64, rss_kib: u64| {
            let percent = rss_kib as f64 * 100.0 / f64::from(64 << 20);
            log +=
                &format!("ml {pid} 99.5 {percent:.1} 9876543 {rss_kib} pts/0 Sl+ 10:00 {sample}:00 python train.py\n");
        };
        row(4711, 4 << 20);
        let (epoch, within) = (sample / 100, sample % 100);
        (1..=2).filter(|_| within < 95).for_each(|worker| row(4711 + epoch * 2 + worker, (1 << 20) + within * 80_000));
        log += &format!("step {}\n", sample * 10);
    }
    log
}

#[test]
fn a_loop_of_ps_is_drawn_and_says_what_climbs() {
    let page = Journey::start("/");
    page.drop_file("memory.log", loop_of_ps().as_bytes());
    let finding = page.finding(FindingCode::HostMemoryClimbs);
    finding.wait_text("within each epoch and falls at its end");
    // By how much a step, which processes, and when it would reach the limit.
    for words in ["per step", "2 at a time", "4712", "an epoch that lasts", "64.0\u{a0}GiB"] {
        assert!(finding.text().contains(words), "{words} in {}", finding.text());
    }
    page.find("main").wait_text("Host memory, ps: 250 samples of 7 processes in 2 h 5 min");
    page.find("figure").wait_text("RSS over 2 h 5 min from 2026-11-23 10:00:00, at most 20.3 GiB");
    page.find("table").wait_text("python train.py");

    // A part of the chart is enlarged by dragging and by keys, and all of it comes back.
    let plot = page.find("[data-range]");
    let whole = plot.attribute("data-range");
    plot.drag(Spot(0.3, 0.5), Spot(0.6, 0.5));
    plot.wait_until(&format!("it.dataset.range !== '{whole}'"));
    page.button("Show all").click();
    plot.wait_until(&format!("it.dataset.range === '{whole}'"));
    plot.focus();
    page.press("+");
    plot.wait_until(&format!("it.dataset.range !== '{whole}'"));
    page.press("0");
    plot.wait_until(&format!("it.dataset.range === '{whole}'"));
    page.screenshot("host-log");

    // The copy of the file survives a reload.
    page.reload();
    page.finding(FindingCode::HostMemoryClimbs).wait();
}

#[test]
fn files_of_a_run_lie_on_one_clock() {
    let page = Journey::with("virtual-py-resnet50-h100.pickle.gz");
    let rows = (0..40).map(|minute| format!("2026/11/23 09:{minute:02}:00.000, 0, {} MiB\n", 2000 + minute * 100));
    let log: String = ["timestamp, index, memory.used [MiB]\n".to_owned()].into_iter().chain(rows).collect();
    page.drop_file("smi.csv", log.as_bytes());
    page.find("main").wait_text("nvidia-smi: 1 GPU, 40 samples");
    page.drop_file("memory.log", loop_of_ps().as_bytes());
    // 10:00 in Central Europe is 9:00 of nvidia-smi's clock.
    page.find("figure").with_text("smi.csv").wait_text("at most 5.76 GiB");
    let apart = page.find("section").with_text("no times in common");
    apart.wait_text("virtual-py-resnet50-h100.pickle.gz, GPU 0");
    page.button("Let both begin together").click();
    page.find("figure").with_text("virtual-py-resnet50-h100.pickle.gz, GPU 0").wait_text("Reserved");
    page.screenshot("one-clock");
}

#[test]
fn logs_lie_below_the_timeline_of_their_snapshot() {
    const SNAPSHOT: &str = "torch2.8-train-from-start-23k.pickle.gz";
    let page = Journey::with(SNAPSHOT);
    page.role("tab", "Logs").click();
    page.role("tabpanel", "Logs").wait_text("nvidia-smi --query-gpu");
    // The snapshot covers 1.85 s from 20:17:05.770.
    let rows = (0..30)
        .map(|tick| format!("2025/11/16 20:17:{:02}.{}00, 0, {} MiB\n", 5 + tick / 10, tick % 10, 2000 + tick * 100));
    let log: String = ["timestamp, index, memory.used [MiB]\n".to_owned()].into_iter().chain(rows).collect();
    page.drop_file("smi.csv", log.as_bytes());
    page.find("main").wait_text("nvidia-smi: 1 GPU, 30 samples");
    page.show_file(SNAPSHOT);
    let chart = page.find("figure").with_text("smi.csv");
    chart.wait_text("over 1.85 s from 2025-11-16 20:17:05");
    page.button("Show time").click();
    page.button("Show time").wait_gone();
    page.screenshot("logs-below");

    // A part that is chosen in the log is shown in the timeline, and the whole again in both.
    let plot = page.find("[data-range]");
    let whole = plot.attribute("data-range");
    plot.drag(Spot(0.3, 0.5), Spot(0.6, 0.5));
    plot.wait_until(&format!("it.dataset.range !== '{whole}'"));
    page.button("Reset view").click();
    plot.wait_until(&format!("it.dataset.range === '{whole}'"));

    // A log of another day can be moved there.
    let other = log.replace("2025/11/16", "2025/11/18");
    page.drop_file("later.csv", other.as_bytes());
    page.show_file(SNAPSHOT);
    page.find("section").with_text("later.csv").with_text("no times in common").wait();
    page.button("Let both begin together").click();
    page.find("figure").with_text("later.csv").wait_text("at most");
}

/// PyTorch 2.11 recorded both in one run; the figures are those of `snapscope diagnose` for the same files.
#[test]
fn a_trace_of_the_same_run_names_the_operators_behind_the_peak() {
    const SNAPSHOT: &str = "torch2.11-profiler-steps.pickle.gz";
    let page = Journey::start("/");
    let logs = testkit::server::root().join("tests/data/logs");
    for (name, count) in [("torch2.11-profiler-steps.json.gz", 1), (SNAPSHOT, 2)] {
        page.drop_file(name, &std::fs::read(logs.join(name)).expect("a stored file"));
        page.wait_for_files(count);
    }
    page.show_file(SNAPSHOT);
    page.role("tab", "Logs").click();
    let operators = page.find("section").with_text("138 of the 138 allocations");
    operators.wait_text("59.3 MiB are live");
    operators.wait_text("SoftmaxBackward0");
    page.screenshot("operators-behind-the-peak");
}

#[test]
fn a_pasted_error_is_explained() {
    let page = Journey::start("/");
    let paste = "const data = new DataTransfer();
                 data.setData('text/plain', arguments[0]);
                 (document.querySelector('[data-paste]') ?? document.body).dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));";
    page.run(paste, vec![json!(ERROR)]);
    let finding = page.finding(FindingCode::OutOfMemory);
    finding.wait_text("GPU 0 ran out of memory: tried to allocate 3.00\u{a0}GiB, 1.66\u{a0}GiB of 23.7\u{a0}GiB free");
    assert!(finding.text().contains("expandable_segments:True"), "{}", finding.text());
    page.find("figure").wait_text("this process outside PyTorch 3.88 GiB");
    page.shown_file().wait_text("Pasted text");
    page.screenshot("pasted-error");

    // A text that says nothing about memory is refused, and the first one stays.
    page.run(paste, vec![json!("good morning")]);
    page.find("[role=alert]").wait_text("No line about memory was found");
    page.files().wait_count(2);
}

#[test]
fn an_error_at_the_end_of_a_long_log_is_found() {
    let page = Journey::start("/");
    let mut log: String = (0..40_000).map(|step| format!("INFO step {step} loss 0.1\n")).collect();
    assert!(log.len() > 512 << 10);
    log += ERROR;
    page.drop_file("train.log", log.as_bytes());
    page.finding(FindingCode::OutOfMemory).wait_text("GPU 0 ran out of memory");
}
