//! Tests large files: the preview of their curve while they are read, and opening some of their events.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use shared::base::format;
use shared::pickle::Style;
use testkit::browser::{Locator, Spot};
use testkit::generator::{Config, generate};
use testkit::server::snapscope;

use crate::journey::{Journey, SELECT_ALL};

const EVENTS: u64 = 400_000;

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

/// Room for labels beside the curve, in CSS pixels.
const LABELS: f64 = 86.0;

fn large(folder: &Path) -> PathBuf {
    let path = folder.join("large.pickle");
    let mut file = File::create(&path).unwrap();
    generate(&Config { seed: 7, events: EVENTS as usize, style: Style::Python }, |piece| {
        file.write_all(piece).unwrap()
    });
    assert!(fs::metadata(&path).unwrap().len() > 30_000_000);
    path
}

/// Opens a file and presses "Open part…" as soon as the preview of the curve appears.
///
/// A script in the page does that, because a round trip takes longer than a fast machine needs for the file.
#[track_caller]
fn interrupt(page: &Journey, file: &Path) {
    page.run(
        "new MutationObserver((_, observer) => {
            const curve = document.querySelector('main[data-loading] [data-preview]');
            const button = [...document.querySelectorAll('button')].find(b => b.innerText === 'Open part…');
            if (curve && button) {
                window.seen = [Number(curve.dataset.preview), document.querySelector('[data-figures]').innerText];
                observer.disconnect();
                button.click();
            }
        }).observe(document.body, { childList: true, subtree: true, attributes: true });",
        Vec::new(),
    );
    page.attach(&[file]);
    part_card(page).wait();
}

/// Returns the form that chooses the events to open.
fn part_card(page: &Journey) -> Locator<'_> {
    page.find("[data-part]")
}

fn part_bar(page: &Journey) -> Locator<'_> {
    page.find("[data-part-bar]")
}

fn inspected(file: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(snapscope()).args(["inspect", "--json"]).args(arguments).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["devices"][0].take()
}

#[track_caller]
fn check_figures(page: &Journey, expected: &Value) {
    page.figures().wait();
    page.settle();
    let figures = page.figures().text();
    for key in ["peak_live_bytes", "end_live_bytes", "initial_bytes", "peak_reserved_bytes"] {
        let bytes = format::bytes(expected[key].as_u64().expect(key));
        assert!(figures.contains(&bytes), "{key} {bytes} in {figures}");
    }
    let events = format::count(expected["events"].as_u64().unwrap());
    assert!(figures.contains(&events), "{events} in {figures}");
}

#[test]
fn a_part_is_chosen_by_keyboard_while_the_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = large(folder.path());
    let page = Journey::start("/");
    interrupt(&page, &file);
    let seen = page.value("window.seen");
    assert!(seen[0].as_u64().unwrap() > 100, "{seen}");
    assert!(seen[1].as_str().unwrap().contains("Events so far"), "{seen}");

    let is_field = "document.activeElement.matches('[data-part] input[type=number]')";
    (0..30).find(|_| {
        page.press(TAB);
        page.value(is_field) == true
    });
    page.press(&format!("{SELECT_ALL}250000{TAB}{SELECT_ALL}240000"));
    let card = part_card(&page);
    let (open, said) = (card.button("Open"), card.status("*"));
    open.wait_until("it.disabled");
    assert!(said.text().contains("before the last"), "{}", card.text());
    page.press(&format!("{SELECT_ALL}310000"));
    open.wait_until("!it.disabled");
    assert!(said.text().starts_with("60,000 of 400,000 events"));
    page.screenshot("part-card");
    page.press(ENTER);

    part_bar(&page).wait();
    check_figures(&page, &inspected(&file, &["--events", "250000..310000"]));
    assert!(part_bar(&page).text().contains("250,000"), "{}", part_bar(&page).text());
    page.screenshot("part-opened");

    // The overview of the file is still there: another part can be chosen at once.
    page.button("Other events…").click();
    card.button("Around the peak").click();
    let curve = card.find("[data-preview]");
    curve.drag(Spot(0.75, 0.5), Spot(0.25, 0.5));
    // The plot is narrower than its element by the room for labels.
    let width = curve.value("it.clientWidth").as_f64().expect("a width");
    let events = EVENTS as f64 * 0.5 * width / (width - LABELS);
    let pixel = EVENTS as f64 / (width - LABELS);
    said.wait_until(&format!("Math.abs(parseInt(it.innerText.replaceAll(',', '')) - {events}) < 2 * {pixel}"));
    card.button("Last 100,000 events").click();
    said.wait_until("it.innerText.startsWith('100,000 of')");
    card.button("All").click();
    open.click();
    page.plot().wait();
    check_figures(&page, &inspected(&file, &[]));
    assert!(!part_bar(&page).is_there());
}

#[test]
fn a_part_becomes_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = large(folder.path());
    let page = Journey::start("/");
    interrupt(&page, &file);
    let card = part_card(&page);
    card.button("Around the peak").click();
    let fields = card.role("spinbutton", "*").value_of_all("all.map(field => field.value).join('..')");
    card.button("Open").click();
    part_bar(&page).wait();
    check_figures(&page, &inspected(&file, &["--events", fields.as_str().unwrap()]));
    page.button("Open all").click();
    part_bar(&page).wait_gone();
    check_figures(&page, &inspected(&file, &[]));
}

#[test]
fn a_file_that_ends_too_early_says_so_in_place_of_its_curve() {
    let folder = tempfile::tempdir().unwrap();
    let file = large(folder.path());
    let length = fs::metadata(&file).unwrap().len();
    File::options().write(true).open(&file).unwrap().set_len(length * 9 / 10).unwrap();
    let page = Journey::start("/");
    page.attach(&[&file]);
    page.find("[role=alert]").wait();
    assert!(!page.find("[data-preview]").is_there());
}

#[test]
fn more_files_than_processors_wait_for_their_turn_and_the_shown_one_is_next() {
    let folder = tempfile::tempdir().unwrap();
    let file = large(folder.path());
    let page = Journey::start("/");
    let processors = page.value("Math.min(navigator.hardwareConcurrency, 8)").as_u64().unwrap() as usize;
    let names: Vec<_> = (0..processors + 3).map(|rank| folder.path().join(format!("rank-{rank}.pickle"))).collect();
    names.iter().for_each(|name| fs::hard_link(&file, name).unwrap());
    page.run(
        "window.waited = false;
        new MutationObserver(() => {
            window.waited ||= document.body.innerText.includes('Waiting for another file to be read');
            if (document.querySelector('main:not([data-loading]) [data-figures]')) {
                window.ready ??= document.querySelectorAll('[data-status=ready]').length;
            }
        }).observe(document.body, { childList: true, subtree: true, characterData: true });",
        Vec::new(),
    );
    page.attach(&names.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    page.figures().wait();
    assert_eq!(page.value("window.waited"), true, "the last one of {} files had to wait", names.len());
    let ready = page.value("window.ready").as_u64().unwrap() as usize;
    assert!(ready < names.len(), "it was there before those that had come earlier");
    page.wait_for_files(names.len());
}
