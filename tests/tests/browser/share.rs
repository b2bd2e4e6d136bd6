//! Tests sharing: another browser shows the same view until the link is deleted.

use serde_json::json;
use testkit::browser::{Browser, Spot};
use testkit::server::Server;

use crate::journey::{Journey, PLOT, View, snapshot};

/// Four devices, with times, annotations and stacks.
const DATA_PARALLEL: &str = "virtual-py-dataparallel4.pickle.gz";

/// Recorded on a person's machine: paths contain a name.
const AT_HOME: &str = "torch2.10-train-step-xl-bf16.pickle.gz";

/// Spot low in the plot, where memory is live at the peak.
const LOW: Spot = Spot(0.5, 0.8);

/// Selector of the facts about the pinned allocation.
const FACTS: &str = ".allocation.pinned .facts";

/// Visible state of a view.
#[derive(Debug, PartialEq)]
struct Seen {
    view: View,
    axis: String,
    device: String,
    tab: String,
    facts: String,
}

fn seen(page: &Browser, view: View) -> Seen {
    let attribute = |script: &str| page.value(script).as_str().unwrap_or_default().to_owned();
    Seen {
        view,
        axis: attribute(&format!("document.querySelector('{PLOT}').dataset.axis")),
        device: attribute("document.querySelector('.device-tab[aria-selected=true]')?.dataset.device"),
        tab: attribute("document.querySelector('.panel-tabs [aria-selected=true]').id"),
        facts: page.text(FACTS),
    }
}

/// Shows the peak of another device over time, with an allocation pinned.
fn look_somewhere(page: &Journey) -> Seen {
    let first = page.view();
    page.press("]");
    page.wait_for("document.querySelector('.device-tab[aria-selected=true]').dataset.device === '1'");
    // A click before the other device is drawn would hit the first one.
    page.wait_for_view(&format!("x1 !== {}", first.x1));
    page.settle();
    page.drag(PLOT, LOW, LOW);
    page.wait_for(&format!("document.querySelector('{FACTS}') !== null"));
    page.press("t");
    page.wait_for(&format!("document.querySelector('{PLOT}').dataset.axis === 'time'"));
    let whole = page.view();
    page.press("p");
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width() * 0.7));
    seen(page, page.view())
}

/// Waits for the timeline and then for the pinned allocation, which is looked up afterwards.
fn seen_again(page: &Journey) -> Seen {
    page.wait_for_timeline();
    page.wait_for(&format!("document.querySelector('{FACTS}') !== null"));
    seen(page, page.view())
}

/// Shares the shown file and returns the path of the link.
fn share(page: &Journey) -> String {
    page.click("[aria-label=Share]");
    page.wait_for("document.querySelector('dialog [type=submit]:not(:disabled)') !== null");
    assert!(page.text("dialog").contains("Nothing has been uploaded so far"));
    page.click("dialog [type=submit]");
    let address = page.wait_for("document.querySelector('[data-link]')?.pathname");
    address.as_str().expect("an address").to_owned()
}

#[test]
fn a_link_shows_the_same_elsewhere_until_it_is_deleted() {
    let page = Journey::with(DATA_PARALLEL);
    let before = look_somewhere(&page);
    let link = share(&page);
    page.screenshot("share-done");
    page.check_console();

    let elsewhere = page.elsewhere(&link);
    assert_eq!(seen_again(&elsewhere), before);
    let said = elsewhere.text("[data-shared]");
    assert!(said.contains("Shared copy") && said.contains("paths shortened"), "{said}");
    elsewhere.check_console();

    // Only the browser that made the link can delete it.
    page.press("\u{e00c}"); // Esc
    page.wait_for("document.querySelector('dialog') === null");
    page.click("[aria-label='My links']");
    page.click_text("button", "Delete");
    page.wait_for("document.querySelector('.links')?.innerText.includes('Delete for everyone?')");
    page.click(".link-actions .button:not(.quiet)");
    page.wait_for("document.querySelector('.links').innerText.includes('No links yet')");
    page.check_console();

    elsewhere.visit(&link);
    elsewhere.wait_for("document.querySelector('[data-arrival]') !== null");
    assert!(elsewhere.text("[data-arrival]").contains("This link is no longer valid"));
}

#[test]
fn the_copy_names_nobody() {
    let page = Journey::with(AT_HOME);
    page.click("[aria-label=Share]");
    page.wait_for("document.querySelector('dialog .examples') !== null");
    let said = page.text("dialog");
    assert!(said.contains("/") && said.contains("site-packages/torch/"), "{said}");
    // All texts can be looked through, and a search for the name finds nothing.
    let count = "Number(document.querySelector('[data-remaining]').dataset.remaining)";
    page.wait_for(&format!("{count} > 20"));
    page.screenshot("share-texts");
    page.run(
        "const field = document.querySelector('.remaining input'); field.value = arguments[0]; \
         field.dispatchEvent(new InputEvent('input', { bubbles: true }));",
        vec![json!("brian")],
    );
    page.wait_for(&format!("{count} === 0"));
    page.wait_for("document.querySelector('dialog [type=submit]:not(:disabled)') !== null");
    // Unticked texts are kept, and the copy is made again.
    page.click("[data-cut=Paths]");
    page.wait_for("document.querySelector('.cut:has([data-cut=Paths]) .examples') === null");
    page.wait_for("document.querySelector('dialog [type=submit]:not(:disabled)') !== null");
    page.check_console();
}

#[test]
fn the_address_keeps_the_view_of_a_file_and_nothing_else() {
    let page = Journey::with(DATA_PARALLEL);
    let before = look_somewhere(&page);
    page.wait_for("location.hash.includes('pin=') && location.hash.includes('x=')");
    let address = page.value("location.href").as_str().expect("an address").to_owned();
    assert!(!address.contains("virtual-py"), "the file's name is not in {address}");

    page.wait_until_files_are_kept();
    page.reload();
    assert_eq!(seen_again(&page), before);
    page.click(".file-close");
    page.wait_for("location.hash === ''");

    // A tab that never had the file does not know its name.
    let elsewhere = page.elsewhere(&address[address.find("/#").expect("a view")..]);
    elsewhere.wait_for("document.querySelector('[data-addressed]') !== null");
    elsewhere.attach(&[&snapshot(DATA_PARALLEL)]);
    assert_eq!(seen_again(&elsewhere), before);
    page.check_console();
}

#[test]
fn an_address_that_is_no_view_is_said_and_left_alone() {
    for (fragment, said) in [("v99;device=0", "newer version"), ("nonsense", "can't be read")] {
        let page = Journey::start(&format!("/#{fragment}"));
        page.attach(&[&snapshot(DATA_PARALLEL)]);
        page.wait_for_timeline();
        assert!(page.text("[data-view-notice]").contains(said), "{fragment}");
        page.click("[data-view-notice] button");
        page.wait_for("document.querySelector('[data-view-notice]') === null");
        page.check_console();
    }
}

#[test]
fn without_storage_links_still_work() {
    let server = Server::with_page();
    let page = Browser::open(&server.url("/?sample"));
    page.devtools(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({ "source": "Object.defineProperty(window, 'localStorage', { get() { throw new Error('off') } })" }),
    );
    page.goto(&server.url("/?sample&again"));
    page.wait_for("document.querySelector('[aria-label=Share]') !== null");
    page.click("[aria-label=Share]");
    page.wait_for("document.querySelector('dialog [type=submit]:not(:disabled)') !== null");
    page.click("dialog [type=submit]");
    page.wait_for("document.querySelector('[data-link]') !== null");
    page.click("[data-delete]");
    page.wait_for("document.querySelector('dialog').innerText.includes('deleted from the server')");
}
