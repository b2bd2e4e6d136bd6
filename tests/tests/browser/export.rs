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
    page.find(&format!("[data-export='{name}']")).click();
    let size = page.wait_for(&format!("window.saved.find(file => file.name === '{name}')?.blob.size"));
    let read = "
        const blob = window.saved.find(file => file.name === arguments[0]).blob;
        return blob.text().then(text => [blob.type, text.slice(0, 400)]);";
    let [media_type, start] =
        [0_usize, 1].map(|part| page.run(read, vec![json!(name)])[part].as_str().expect("a text").to_owned());
    (size.as_f64().expect("a size"), media_type, start)
}

#[test]
fn the_shown_file_is_saved_in_other_forms_and_without_names() {
    let page = Journey::with(ANNOTATED);
    page.run(CATCH, Vec::new());
    page.button("Export").click();
    page.dialog("Export").wait();
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
    page.dialog("Export").checkbox("Remove names*").click();
    let (_, _, text) = save(&page, "snapshot-report.html");
    assert!(text.contains("<title>Snapshot – GPU memory report</title>"), "{text}");
}

/// The log of a program of which one process climbs.
#[test]
fn the_report_on_a_log_is_saved_in_other_forms() {
    let row = |second: u64| {
        let rss_kib = 100_000 + second * 20_000;
        format!(
            "2026-11-23 10:00:{second:02}\nml 17 99.5 9.9 9876543 {rss_kib} pts/0 Rl+ 10:12 0:{second:02} python train.py\n"
        )
    };
    let page = Journey::start("/");
    page.drop_file("memory.log", (0..60).map(row).collect::<String>().as_bytes());
    page.find("main").wait_text("Host memory, ps: 60 samples");
    page.run(CATCH, Vec::new());
    for (ending, media_type, start) in [
        ("html", "text/html;charset=utf-8", "<!doctype html>"),
        ("svg", "image/svg+xml", "<svg xmlns="),
        ("png", "image/png", ""),
        ("csv", "text/csv;charset=utf-8", "quantity,series,time,time_us,bytes\r\nRSS,"),
        ("json", "application/json", "{\"file\":\"memory.log\",\"report\":{"),
        ("md", "text/markdown;charset=utf-8", "## memory.log\n\nHost memory, ps: 60 samples"),
    ] {
        let (size, of, text) = save(&page, &format!("memory.log-report.{ending}"));
        assert!(size > 500.0 && text.starts_with(start), "{ending}: {size} bytes, {text}");
        assert_eq!(of, media_type, "{ending}");
    }
    page.screenshot("log-saved");
}

#[test]
fn drawings_below_the_timeline_are_saved() {
    let page = Journey::with(ANNOTATED);
    page.run(CATCH, Vec::new());
    for (tab, drawing, ending, word) in [
        ("Flame graph", ("[data-flame]", "Number(all[0]?.dataset.boxes) > 3"), "-flame-graph", "All"),
        ("Segments", ("[data-segments] canvas", "all[0]?.width > 400"), "-segments", "blocks"),
        ("What if", ("[data-replayed] figure", "all.length > 0"), "-what-if", "Reserved, replayed"),
        ("Compare", ("[data-compare] [data-curves]", "all[0]?.dataset.curves === '2'"), "-comparison", "peak"),
    ] {
        page.tab(tab).click();
        page.find(drawing.0).wait_until_all(drawing.1);
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
    page.tab("Allocations").click();
    page.grid("Allocations").find("[role=row][aria-selected]").wait();
    page.searchbox("Search allocations").focus();
    page.press("step");
    page.wait_for_address("find=step");
    page.status("Totals").wait_text(" of ");
    let rows = page.grid("Allocations").value("Number(it.ariaRowCount)");
    assert_eq!(Some(lines("torch2.10-train-annotated-allocations.csv")), rows.as_u64(), "a head and all rows");
    let (_, of, text) = save(&page, "torch2.10-train-annotated-allocations.json");
    assert!(of == "application/json" && text.starts_with("{\"file\":"), "{of} {text}");

    page.tab("Flame graph").click();
    page.role("tabpanel", "Flame graph").button("Table").click();
    let sites = page.region("Functions").wait_until("Number(it.dataset.sites)");
    assert_eq!(Some(lines("torch2.10-train-annotated-functions.csv") - 1), sites.as_f64().map(|sites| sites as u64));

    page.tab("Segments").click();
    page.toolbar("Segments").button("Save the table as CSV").wait();
    page.toolbar("Segments").button("End").click();
    page.find("[data-export='torch2.10-train-annotated-segments.csv']").wait();
    assert!(lines("torch2.10-train-annotated-segments.csv") > 1);

    page.tab("Compare").click();
    page.find("[data-compare]").wait_until("it.dataset.stacks");
    page.grid("Differences").wait();
    let rows = page.grid("Differences").value("Number(it.ariaRowCount)");
    assert_eq!(Some(lines("torch2.10-train-annotated-differences.csv")), rows.as_u64());
    page.lead().wait();
    let cards = page.region("Findings").find("[data-code]").count();
    if cards != 0 {
        assert_eq!(lines("torch2.10-train-annotated-findings.csv") - 1, cards);
    }
}
