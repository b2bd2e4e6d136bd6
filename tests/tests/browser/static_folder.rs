//! Tests the page as a folder of plain files, on any host and below any path.

use testkit::browser::Browser;
use testkit::server::built_page;
use testkit::static_folder::StaticFolder;

use crate::journey::{Journey, snapshot};

#[test]
fn the_folder_works_below_any_path() {
    let server = StaticFolder::serve(&built_page(), "/tools/snapscope/");
    let page = Journey::at(&server.url(""), "/");
    page.attach(&[&snapshot("virtual-py-resnet50-h100.pickle.gz")]);
    page.wait_for_timeline();
    page.wait_until_kept();
    // Features that need the server are not offered.
    let header = page.role("banner", "*").text();
    assert!(header.contains("Export"), "{header}");
    assert!(!header.contains("Share") && !header.contains("Jobs"), "{header}");
    assert!(!page.button("My links").is_there());

    page.visit("/?sample");
    page.wait_for_timeline();
    page.check_console();
    page.may_write();
    drop(server);
    page.visit("/?sample");
    page.wait_for_page();
    page.wait_for_timeline();
}

#[test]
fn jobs_and_a_page_from_the_disk_say_that_they_need_a_server() {
    let server = StaticFolder::serve(&built_page(), "/");
    let page = Journey::at(&server.url(""), "/jobs.html");
    page.may_write();
    page.find("main").wait_text("server");
    page.screenshot("jobs-without-server");
    let address = format!("file://{}", built_page().canonicalize().unwrap().join("index.html").display());
    let page = Browser::open(&address);
    page.find("body").wait_text("python3 -m http.server");
    page.screenshot("from-disk");
}
