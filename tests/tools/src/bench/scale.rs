//! Measures work on the largest files: comparing two, 64 ranks, and the page's views.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use super::figures::{bytes, seconds};
use super::native::Programs;
use super::viewer::Viewer;
use super::{Table, file_of, snapshot_of};
use testkit::browser::Browser;
use testkit::process;
use testkit::server::root;

/// Number of ranks of one job. The files have at most `RANK_MB` MB each, and no more than the other files.
const RANKS: usize = 64;
const RANK_MB: u32 = 10;

/// Number of distinct rank files. The others are links to these and are still decoded one by one.
const DISTINCT: u64 = 8;

/// Measures the command line over two files of a size and over 64 ranks.
pub fn native(programs: &Programs, size_mb: u32) -> Result<Table, String> {
    let mut table = Table::new("Large comparisons on the command line", &["what", "time", "memory"]);
    let two = [snapshot_of(size_mb), file_of(size_mb, 2)];
    let rank_mb = RANK_MB.min(size_mb);
    let commands = [
        (format!("snapscope diff, two files of {size_mb} MB"), "diff", two.to_vec()),
        (format!("snapscope ranks, {RANKS} files of {rank_mb} MB"), "ranks", vec![ranks(rank_mb)?]),
    ];
    for (what, command, paths) in commands {
        eprintln!("bench: {what}");
        let (time_s, peak) = process::measure(Command::new(&programs.snapscope).arg(command).args(paths))?;
        table.row(&[what, seconds(Some(time_s)), peak.map_or_else(|| "–".to_owned(), |peak| bytes(peak as f64))]);
    }
    Ok(table)
}

fn ranks(rank_mb: u32) -> Result<PathBuf, String> {
    let folder = root().join(format!("target/bench/ranks-{rank_mb}"));
    let explain = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(explain)?;
    for rank in 0..RANKS {
        let link = folder.join(format!("rank{rank}.pickle"));
        if !link.exists() {
            let file = file_of(rank_mb, 1 + rank as u64 % DISTINCT);
            std::os::unix::fs::symlink(fs::canonicalize(&file).map_err(explain)?, &link).map_err(explain)?;
        }
    }
    Ok(folder)
}

/// Measures how long each view of the page takes to open, and a keystroke in the search to update its rows.
pub fn page(programs: &Programs, size_mb: u32) -> Table {
    let file = snapshot_of(size_mb);
    let viewer = Viewer::own(&programs.snapscope);
    let browser = Browser::open(&viewer.url);
    browser.wait_for("document.querySelector('input[type=file]') !== null");
    show(&browser, &file);
    let mut table = Table::new(&format!("The page's views over {size_mb} MB"), &["what", "time"]);
    let mut row = |what: &str, time_s: f64| table.row(&[what.to_owned(), seconds(Some(time_s))]);
    let open = "document.querySelector('#dock-allocations').click()";
    row("table of allocations, opened", until(&browser, open, &rows_of("")));
    let before = browser.value(TOTALS);
    let is_other = format!("{TOTALS} !== {before} && {}", rows_of(""));
    row("the same of all allocations in view", until(&browser, &chosen("In view: all"), &is_other));
    for text in ["adam", "block1", "block12", ""] {
        row(&format!("search, {text:?} typed, to its rows"), until(&browser, &typed(text), &rows_of(text)));
    }
    const BOXES: &str = "Number(document.querySelector('[data-flame][aria-busy=false]')?.dataset.boxes) > 3";
    row("flame graph, opened", until(&browser, "document.querySelector('#dock-flame').click()", BOXES));
    const MAP: &str = "document.querySelector('.segments-scroll')";
    let moment = |condition: &str| format!("(moment => {condition})(Number({MAP}?.dataset.moment))");
    row(
        "segments, opened",
        until(&browser, "document.querySelector('#dock-segments').click()", &moment("moment >= 0")),
    );
    let last = "document.querySelector(\".segments-controls [title='After the last event']\").click()";
    let before = browser.value(&format!("Number({MAP}.dataset.moment)"));
    row("segments, at the last event", until(&browser, last, &moment(&format!("moment !== {before}"))));
    table
}

/// Returns a condition: the table shows rows, or no match, for the search `text`.
fn rows_of(text: &str) -> String {
    format!(
        "document.querySelector('.table-totals')?.dataset.found === '{text}' \
         && (document.querySelector('.table-row') !== null \
             || document.querySelector('.scope-matches [role=status]').innerText.startsWith('0 ')) \
         && document.querySelector('.table-row[aria-busy]') === null"
    )
}

/// Expression of the line with the totals of all rows.
const TOTALS: &str = "document.querySelector('.table-totals').innerText";

fn chosen(scope: &str) -> String {
    format!(
        "(list => {{ list.value = '{scope}'; list.dispatchEvent(new Event('change', {{ bubbles: true }})); }})\
         (document.querySelector('.scope-select'))"
    )
}

fn typed(text: &str) -> String {
    format!(
        "(input => {{ input.value = '{text}'; input.dispatchEvent(new InputEvent('input', {{ bubbles: true }})); }})\
         (document.querySelector('#dock-search'))"
    )
}

fn show(browser: &Browser, file: &Path) {
    browser.choose(&[file]);
    let begin = Instant::now();
    while browser.try_run("return performance.getEntriesByName('timeline-drawn').length") != Ok(Value::from(1)) {
        assert!(begin.elapsed().as_secs() < 180, "no timeline in three minutes");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Returns the seconds from an action until the frame in which a condition is true.
fn until(browser: &Browser, action: &str, condition: &str) -> f64 {
    let script = format!(
        "const begin = performance.now();
        {action};
        return new Promise(resolve => {{
            const look = () => {condition} ? resolve(performance.now() - begin) : requestAnimationFrame(look);
            requestAnimationFrame(look);
        }});"
    );
    browser.run(&script, Vec::new()).as_f64().expect("a time") / 1000.0
}
