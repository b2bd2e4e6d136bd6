//! Tests the page that `snapscope open` serves with files of this machine.

use std::time::Duration;

use testkit::opening::OpenProcess;
use testkit::server::built_page;

use crate::journey::{Journey, snapshot};

#[test]
fn files_of_the_command_line_open_and_closing_the_page_ends_it() {
    let [one, other] = ["virtual-py-resnet50-h100.pickle.gz", "virtual-py-gpt2-oom-t4.pickle.gz"].map(snapshot);
    let mut opened = OpenProcess::start(&built_page(), &[&*one, &*other], &[]);
    let page = Journey::at(&opened.url(), "/");
    page.wait_for_timeline();
    let header = page.role("banner", "*").text();
    assert!(header.contains("virtual-py-resnet50-h100") && header.contains("virtual-py-gpt2-oom-t4"), "{header}");
    // Features that need the server are not offered.
    assert!(!header.contains("Share") && !header.contains("Jobs"), "{header}");
    page.reload();
    page.wait_for_timeline();
    std::thread::sleep(Duration::from_secs(6));
    assert!(!opened.has_ended(), "the page was only reloaded");
    drop(page);
    assert_eq!(opened.ended().0, Some(0));
}
