//! Examples of README and of the pages in `docs/`, which tests run as they stand.

use std::fs::read_to_string;

use testkit::server::root;

/// Returns the only example in a language that has a text.
#[track_caller]
pub(super) fn example(language: &str, text: &str) -> String {
    let docs = root().join("docs").read_dir().expect("docs").map(|page| page.expect("a page").path());
    let pages = docs.chain([root().join("README.md")]).map(|page| read_to_string(page).expect("a page"));
    let examples = pages.flat_map(|page| {
        let blocks = page.split("\n```").skip(1).step_by(2);
        blocks
            .filter_map(|block| Some(block.strip_prefix(language)?.strip_prefix('\n')?.to_owned()))
            .collect::<Vec<_>>()
    });
    let found: Vec<String> = examples.filter(|block| block.contains(text)).collect();
    assert_eq!(found.len(), 1, "{language} with {text}");
    format!("{}\n", found[0])
}
