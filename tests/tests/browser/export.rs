//! Tests saving the shown file in other formats.

use serde_json::json;

use crate::journey::Journey;

const ANNOTATED: &str = "torch2.10-train-annotated.pickle.gz";

/// Script that collects saved files, because no user picks a folder in a test.
const CATCH: &str = "
    window.saved = [];
    const made = [];
    const create = URL.createObjectURL;
    URL.createObjectURL = blob => (made.push(blob), create.call(URL, blob));
    HTMLAnchorElement.prototype.click = function () {
        window.saved.push({ name: this.download, blob: made.at(-1) });
    };
    return true;";

/// Clicks the button of a file; returns the file's length, media type and first 400 characters.
fn save(page: &Journey, name: &str) -> (f64, String, String) {
    page.click(&format!("[data-export='{name}']"));
    let size = page.wait_for(&format!("window.saved.find(file => file.name === '{name}')?.blob.size"));
    let read = "
        const blob = window.saved.find(file => file.name === arguments[0]).blob;
        return blob.text().then(text => [blob.type, text.slice(0, 400)]);";
    let [media_type, start] =
        [0_usize, 1].map(|part| page.run(read, vec![json!(name)])[part].as_str().expect("a text").to_owned());
    (size.as_f64().expect("a size"), media_type, start)
}

#[test]
fn the_shown_file_is_saved_in_other_forms() {
    let page = Journey::with(ANNOTATED);
    page.run(CATCH, Vec::new());
    page.click("[aria-label=Export]");
    page.wait_for("document.querySelector('dialog.export')?.open");
    page.screenshot("export");
    let stem = "torch2.10-train-annotated";
    for (ending, media_type, start) in [
        ("-report.html", "text/html;charset=utf-8", "<!doctype html>"),
        ("-timeline.svg", "image/svg+xml", "<svg xmlns="),
        ("-timeline.png", "image/png", ""),
        ("-stacks.csv", "text/csv;charset=utf-8", "device,event,stack,bytes,count,initial_bytes,title,frames\r\n"),
        (".speedscope.json", "application/json", "{\"$schema\":\"https://www.speedscope.app/"),
        (".perfetto.json", "application/json", "{\"displayTimeUnit\":\"ms\""),
        (".pickle.gz", "application/gzip", ""),
    ] {
        let (size, of, text) = save(&page, &format!("{stem}{ending}"));
        assert!(size > 1000.0 && text.starts_with(start), "{ending}: {size} bytes, {text}");
        assert_eq!(of, media_type, "{ending}");
    }
    page.check_console();
}

#[test]
fn drawings_below_the_timeline_are_saved() {
    let page = Journey::with(ANNOTATED);
    page.run(CATCH, Vec::new());
    for (tab, drawing, ending, word) in [
        ("#dock-flame", "Number(document.querySelector('[data-flame]')?.dataset.boxes) > 3", "-flame-graph", "All"),
        ("#dock-segments", "document.querySelector('.segments-canvas')?.width > 400", "-segments", "blocks"),
        ("#dock-what-if", "document.querySelector('.what-if-plot') !== null", "-what-if", "Reserved, replayed"),
        ("#dock-compare", "document.querySelectorAll('.compare-line').length === 2", "-comparison", "peak"),
    ] {
        page.click(tab);
        page.wait_for(drawing);
        page.settle();
        // A frame has to be drawn before it can be saved.
        page.wait_for("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
        let name = format!("torch2.10-train-annotated{ending}");
        let (size, of, text) = save(&page, &format!("{name}.svg"));
        assert!(size > 1000.0 && text.starts_with("<svg xmlns="), "{ending}: {size} bytes, {text}");
        assert_eq!(of, "image/svg+xml");
        let whole = page.run(WHOLE, vec![json!(format!("{name}.svg"))]);
        let whole = whole.as_str().expect("a text");
        assert!(whole.contains(word) && whole.ends_with("</svg>\n"), "{ending}: {word} in {whole}");
        let (size, of, _) = save(&page, &format!("{name}.png"));
        assert!(size > 1000.0, "{ending}: {size} bytes");
        assert_eq!(of, "image/png");
    }
    page.check_console();
}

/// Script that returns the whole text of a saved file.
const WHOLE: &str = "return window.saved.find(file => file.name === arguments[0]).blob.text();";

#[test]
fn tables_are_saved_as_they_are_filtered() {
    let page = Journey::with(ANNOTATED);
    page.run(CATCH, Vec::new());
    let lines = |name: &str| {
        let (_, of, _) = save(&page, name);
        assert_eq!(of, "text/csv;charset=utf-8");
        let text = page.run(WHOLE, vec![json!(name)]);
        text.as_str().expect("a text").matches("\r\n").count() as u64
    };
    page.click("#dock-allocations");
    page.wait_for("document.querySelector('.table-row') !== null");
    page.run("document.querySelector('#dock-search').focus()", Vec::new());
    page.press("step");
    page.wait_for("location.hash.includes('find=step')");
    page.wait_for("document.querySelector('.table-totals')?.innerText.includes(' of ')");
    let rows = page.value("Number(document.querySelector('.table').getAttribute('aria-rowcount'))");
    assert_eq!(Some(lines("torch2.10-train-annotated-allocations.csv")), rows.as_u64(), "a head and all rows");
    let (_, of, text) = save(&page, "torch2.10-train-annotated-allocations.json");
    assert!(of == "application/json" && text.starts_with("{\"file\":"), "{of} {text}");

    page.click("#dock-flame");
    page.click_text("button", "Table");
    let sites = page.wait_for("Number(document.querySelector('[data-sites]')?.dataset.sites)");
    assert_eq!(Some(lines("torch2.10-train-annotated-functions.csv") - 1), sites.as_f64().map(|sites| sites as u64));

    page.click("#dock-segments");
    page.wait_for("document.querySelector('.segments-controls [data-export$=\".csv\"]') !== null");
    page.click(".segments-controls [title='After the last event']");
    page.wait_for("document.querySelector('[data-export=\"torch2.10-train-annotated-segments.csv\"]') !== null");
    assert!(lines("torch2.10-train-annotated-segments.csv") > 1);

    page.click("#dock-compare");
    page.wait_for("document.querySelector('[data-compare]')?.dataset.stacks");
    page.wait_for("document.querySelector('.compare-grid') !== null");
    let rows = page.value("Number(document.querySelector('.compare-grid').getAttribute('aria-rowcount'))");
    assert_eq!(Some(lines("torch2.10-train-annotated-differences.csv")), rows.as_u64());
    page.wait_for("document.querySelector('.findings') !== null");
    let cards = page.value("document.querySelectorAll('.findings > ol > li').length");
    if cards != 0 {
        assert_eq!(Some(lines("torch2.10-train-annotated-findings.csv") - 1), cards.as_u64());
    }
    page.check_console();
}

#[test]
fn a_file_that_names_nobody_has_another_name() {
    let page = Journey::with(ANNOTATED);
    page.run(CATCH, Vec::new());
    page.click("[aria-label=Export]");
    page.click("dialog [data-clean]");
    let (_, _, text) = save(&page, "snapshot-report.html");
    assert!(text.contains("<title>Snapshot – GPU memory report</title>"), "{text}");
    page.check_console();
}
