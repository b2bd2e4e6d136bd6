//! Tests sharing: another browser shows the same view until the link is deleted.

use serde_json::json;
use testkit::browser::{Browser, Locator, Spot};
use testkit::server::Server;

use crate::journey::{Journey, View, snapshot};

/// Four devices, with times, annotations and stacks.
const DATA_PARALLEL: &str = "virtual-py-dataparallel4.pickle.gz";

/// Recorded on a person's machine: paths contain a name.
const AT_HOME: &str = "torch2.10-train-step-xl-bf16.pickle.gz";

/// Name of the button that uploads the copy; it can be pressed once the copy is made.
const UPLOAD: &str = "Upload and create a link";

/// Spot low in the plot, where memory is live at the peak.
const LOW: Spot = Spot(0.5, 0.8);

/// Visible state of a view.
#[derive(Debug, PartialEq)]
struct Seen {
    view: View,
    axis: String,
    device: String,
    tab: String,
    facts: String,
}

fn seen(page: &Journey) -> Seen {
    Seen {
        view: page.view(),
        axis: page.plot().attribute("data-axis"),
        device: page.device_tab().attribute("data-device"),
        tab: page.panel_tab().attribute("id"),
        facts: facts(page).text(),
    }
}

fn facts(page: &Journey) -> Locator<'_> {
    page.pinned().find("dl")
}

/// Shows the peak of another device over time, with an allocation pinned.
fn look_somewhere(page: &Journey) -> Seen {
    let first = page.view();
    page.press("]");
    page.wait_for_device(1);
    // A click before the other device is drawn would hit the first one.
    page.wait_for_view(&format!("x1 !== {}", first.x1));
    page.settle();
    page.plot().drag(LOW, LOW);
    facts(page).wait_text("Step, phase");
    page.press("t");
    page.plot().wait_until("it.dataset.axis === 'time'");
    let whole = page.view();
    page.press("p");
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width() * 0.7));
    seen(page)
}

/// Waits for the timeline and then for the pinned allocation, which is looked up afterwards, and its step after that.
fn seen_again(page: &Journey) -> Seen {
    page.wait_for_timeline();
    facts(page).wait_text("Step, phase");
    seen(page)
}

fn share(page: &Journey) -> String {
    page.button("Share").click();
    let upload = page.dialog("*").button(UPLOAD);
    upload.wait_until("!it.disabled");
    assert!(page.dialog("*").text().contains("Nothing has been uploaded so far"));
    upload.click();
    let address = page.find("[data-link]").wait_until("it.pathname");
    address.as_str().expect("an address").to_owned()
}

#[test]
fn a_link_shows_the_same_elsewhere_until_it_is_deleted() {
    let page = Journey::with(DATA_PARALLEL);
    let before = look_somewhere(&page);
    let link = share(&page);
    page.screenshot("share-done");

    let elsewhere = page.elsewhere(&link);
    assert_eq!(seen_again(&elsewhere), before);
    let said = elsewhere.find("[data-shared]").text();
    assert!(said.contains("Shared copy") && said.contains("paths shortened"), "{said}");
    elsewhere.check_console();

    // Only the browser that made the link can delete it.
    page.press("\u{e00c}"); // Esc
    page.dialog("*").wait_gone();
    page.button("My links").click();
    let links = page.dialog("My links");
    links.button("Delete").click();
    links.role("alert", "*").with_text("Delete for everyone?").button("Delete").click();
    links.wait_text("No links yet");

    elsewhere.may_write();
    elsewhere.visit(&link);
    elsewhere.find("[data-arrival]").wait_text("This link is no longer valid");
}

#[test]
fn the_copy_names_nobody() {
    let page = Journey::with(AT_HOME);
    page.button("Share").click();
    let dialog = page.dialog("*");
    dialog.list("Examples: *").wait();
    let said = dialog.text();
    assert!(said.contains("/") && said.contains("site-packages/torch/"), "{said}");
    // All texts can be looked through, and a search for the name finds nothing.
    let remaining = dialog.region("Texts in the copy");
    remaining.wait_until("Number(it.dataset.remaining) > 20");
    page.screenshot("share-texts");
    remaining.searchbox("*").write("brian");
    remaining.wait_until("Number(it.dataset.remaining) === 0");
    dialog.button(UPLOAD).wait_until("!it.disabled");
    // Unticked texts are kept, and the copy is made again.
    dialog.list("Examples: Path prefixes*").wait();
    dialog.checkbox("Path prefixes*").click();
    dialog.list("Examples: Path prefixes*").wait_gone();
    dialog.button(UPLOAD).wait_until("!it.disabled");
}

#[test]
fn the_address_keeps_the_view_of_a_file_and_nothing_else() {
    let page = Journey::with(DATA_PARALLEL);
    let before = look_somewhere(&page);
    page.wait_for_address("pin=");
    page.wait_for_address("x=");
    let address = page.value("location.href").as_str().expect("an address").to_owned();
    assert!(!address.contains("virtual-py"), "the file's name is not in {address}");

    page.reload();
    assert_eq!(seen_again(&page), before);
    page.button("Close *.pickle.gz").click();
    page.wait_for("location.hash === ''");

    // A tab that never had the file does not know its name.
    let elsewhere = page.elsewhere(&address[address.find("/#").expect("a view")..]);
    elsewhere.find("[data-addressed]").wait();
    elsewhere.attach(&[&snapshot(DATA_PARALLEL)]);
    assert_eq!(seen_again(&elsewhere), before);
}

#[test]
fn an_address_that_is_no_view_is_said_and_left_alone() {
    for (fragment, said) in [("v99;device=0", "newer version"), ("nonsense", "can't be read")] {
        let page = Journey::start(&format!("/#{fragment}"));
        page.attach(&[&snapshot(DATA_PARALLEL)]);
        page.wait_for_timeline();
        let notice = page.find("[data-view-notice]");
        assert!(notice.text().contains(said), "{fragment}");
        notice.button("Dismiss").click();
        notice.wait_gone();
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
    page.button("Share").click();
    page.dialog("*").button(UPLOAD).click();
    page.find("[data-link]").wait();
    page.button("Delete the link").click();
    page.dialog("*").wait_text("deleted from the server");
}
