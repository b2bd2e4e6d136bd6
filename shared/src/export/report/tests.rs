//! Tests reports, with hostile names among others.

use super::*;
use crate::analysis::{Timeline, naive};
use crate::export::subject::with_subject;
use crate::trace::{Action, Event, Frame, Trace, text};

fn page(trace: &Trace, file: &str) -> String {
    with_subject(trace, |subject| report(&Subject { file, ..subject }))
}

/// Panics unless each tag is closed before the tags around it.
#[track_caller]
fn check_nesting(page: &str) {
    const EMPTY: [&str; 2] = ["meta", "!doctype"];
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let inside = tag.split_once('>').expect("a tag ends").0;
        let name = inside.split([' ', '\n', '/']).find(|name| !name.is_empty()).expect("a tag has a name");
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{inside}>");
        } else if !inside.ends_with('/') && !EMPTY.contains(&name) {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
}

const TRACE: &str = "
    segment_alloc S 2MiB t=0
    alloc a 512KiB @relu<main t=1
    alloc b 1MiB t=2
    oom 4GiB free=1MiB @relu<main t=4
    segment S 2MiB
    block a 512KiB
    block b 1MiB
";

#[test]
fn the_page_says_the_figures() {
    let page = page(&text::parse(TRACE).unwrap(), "run.pickle");
    for part in [
        "<h1>run.pickle</h1>",
        "<dd>1.50 MiB</dd><dt>peak live</dt>",
        "<h2>Findings</h2>",
        "Out of memory: tried to allocate",
        "At event 3, PyTorch had reserved",
        "<h2>Live memory at the peak</h2>",
        "1.50 MiB live after event 2",
        "relu (main.py:1)",
        "<h2>Reserved memory</h2>",
        "<h2>Out of memory</h2>",
        "4.00 GiB",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

#[test]
fn pages_are_whole_for_any_trace() {
    for seed in 0..20 {
        check_nesting(&page(&naive::random_trace(seed, 20 * seed), "run.pickle"));
    }
    check_nesting(&page(&text::parse("").unwrap(), "run.pickle"));
}

#[test]
fn nothing_of_a_snapshot_is_markup() {
    const HOSTILE: &str = "</style></title><script>alert(1)</script><img/onerror>\"'&";
    let mut trace = text::parse(&format!("start {HOSTILE} t=1\nend {HOSTILE} t=4\noom 1GiB free=1 t=3")).unwrap();
    let name = trace.strings.intern(HOSTILE);
    let frame = trace.frames.intern(Frame { name, filename: name, line: 1, fx: None });
    let oom = trace.devices[0].events.at(0);
    let stack = trace.stacks.intern(&[frame, frame]);
    for action in [Action::Alloc, Action::Oom] {
        trace.devices[0].events.push(Event { action, stack, ..oom });
    }
    trace.settings.entries.push((HOSTILE.to_owned(), crate::trace::Setting::Text(HOSTILE.to_owned())));
    let page = page(&trace, HOSTILE);
    check_nesting(&page);
    for word in ["<script", "<img"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = page(&text::parse(TRACE).unwrap(), "run.pickle");
    for word in ["src=", "href=", "url(", "@import", "<link", "<script", "http-equiv"] {
        assert!(!page.contains(word), "{word}");
    }
    let addresses = page.matches("http").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count(), "namespaces only");
}

#[test]
fn several_devices_have_a_table_and_sections_of_their_own() {
    let page = page(&text::parse(&format!("{TRACE}\ndevice 1\nalloc e 5KiB @f<main")).unwrap(), "run.pickle");
    for part in ["<th>Device</th>", "<h2>Timeline of GPU 0</h2>", "<h2>Timeline of GPU 1</h2>"] {
        assert!(page.contains(part), "{part}");
    }
    check_nesting(&page);
}

#[test]
fn the_page_begins_with_what_the_diagnosis_says() {
    let trace = text::parse(TRACE).unwrap();
    let timeline = Timeline::new(&trace, &trace.devices[0]);
    let study = crate::analysis::Study::new(&trace, &trace.devices[0], &timeline);
    let headline = crate::report::diagnosis(&trace, &[study], &Default::default()).runs[0].headline.clone();
    assert!(headline.contains("ran out of memory"), "{headline}");
    let page = page(&trace, "a.pickle");
    let (before, _) = page.split_once("peak live").expect("figures");
    assert!(before.contains(&headline), "{headline}");
}
