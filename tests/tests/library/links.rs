//! Tests that links between the project's pages and the places on its map lead somewhere, and that its front pages stay
//! short.

use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use testkit::server::root;

/// Adds the Markdown files below a folder; build outputs and hidden folders have none of the project's.
fn collect(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) {
    for entry in read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !name.starts_with('.') && !name.starts_with("target") {
            collect(&path, pages);
        } else if name.ends_with(".md") {
            let text = read_to_string(&path).expect("UTF-8");
            pages.insert(path.canonicalize().expect("a path"), prose(&text));
        }
    }
}

/// Returns a page without its blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// Returns the name by which a link finds a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns the targets of a page's links that are not addresses of the web.
fn targets(page: &str) -> impl Iterator<Item = &str> {
    let links = page.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    links.filter(|link| !link.contains("://") && !link.contains(char::is_whitespace))
}

/// Returns whether a link of a page leads to a file, and to a heading if it names one.
fn leads(pages: &BTreeMap<PathBuf, String>, page: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let to = if file.is_empty() { Some(page.to_owned()) } else { page.with_file_name(file).canonicalize().ok() };
    let Some(to) = to else { return false };
    let headings = |text: &String| text.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
    heading.is_empty() || pages.get(&to).is_some_and(headings)
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages = BTreeMap::new();
    collect(root(), &mut pages);
    let all: Vec<_> = pages.iter().flat_map(|(page, text)| targets(text).map(move |link| (page, link))).collect();
    assert!(all.len() > 50, "{} links", all.len());
    let broken: Vec<_> = all.iter().filter(|(page, link)| !leads(&pages, page, link)).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn places_on_the_map_exist() {
    let map = read_to_string(root().join("ARCHITECTURE.md")).expect("the map");
    let tops = ["docs/", "frontend/", "server/", "shared/", "static/", "tests/"];
    let is_place = |text: &&str| tops.iter().any(|top| text.starts_with(top)) && !text.contains('{');
    let places: Vec<&str> = map.split('`').skip(1).step_by(2).filter(is_place).collect();
    assert!(places.len() > 30, "{places:?}");
    let gone: Vec<_> = places.iter().filter(|place| !root().join(place).exists()).collect();
    assert!(gone.is_empty(), "{gone:?}");
}

#[test]
fn front_pages_stay_short() {
    for (page, most) in [("README.md", 300), ("ARCHITECTURE.md", 250)] {
        let lines = read_to_string(root().join(page)).expect(page).lines().count();
        assert!(lines <= most, "{page} has {lines} lines, and should have at most {most}: `docs/` has room");
    }
}

#[test]
fn anchors_are_those_of_github() {
    assert_eq!(anchor("## How fast, how exact"), "how-fast-how-exact");
    assert_eq!(anchor("### `data_parallel`"), "data_parallel");
    assert_eq!(
        anchor("# What is modeled, and how large the errors can be"),
        "what-is-modeled-and-how-large-the-errors-can-be"
    );
}
