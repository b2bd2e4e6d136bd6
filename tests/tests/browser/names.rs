//! Tests that journeys find things by the names that Chromium tells a screen reader.

use serde_json::json;

use crate::journey::Journey;

/// Roles by which journeys find things.
const ROLES: [&str; 14] = [
    "button",
    "checkbox",
    "columnheader",
    "combobox",
    "complementary",
    "grid",
    "group",
    "heading",
    "navigation",
    "region",
    "searchbox",
    "tab",
    "tablist",
    "toolbar",
];

#[test]
fn names_are_those_that_a_screen_reader_gets() {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    page.lead().wait();
    // Chromium also counts the groups of closed select boxes, which the comparison of moments has.
    for tab in ["Allocations", "Segments", "What if"] {
        page.tab(tab).click();
        page.role("tabpanel", tab).wait();
        page.settle();
        // The settings are tried as soon as What if opens.
        page.role("tabpanel", tab).button("Stop").wait_gone();
        let tree = page.devtools("Accessibility.getFullAXTree", json!({}));
        let nodes = tree["nodes"].as_array().expect("nodes").iter().filter(|node| node["ignored"] == false);
        let named = nodes.filter_map(|node| Some((node["role"]["value"].as_str()?, node["name"]["value"].as_str()?)));
        let mut count = 0;
        for (role, name) in named.filter(|(role, name)| ROLES.contains(role) && !name.is_empty()) {
            // Chromium sets spaces between blocks by rules of its own.
            let words: Vec<&str> = name.split_whitespace().collect();
            assert!(page.role(role, &words.join("*")).is_there(), "the {role} “{name}” is found in {tab}");
            count += 1;
        }
        assert!(count > 40, "{count} names in {tab}");
    }
}
