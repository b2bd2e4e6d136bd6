//! Examples of README, which tests run as they stand.

use testkit::server::root;

/// Returns the only example in a language that has a text.
#[track_caller]
pub(super) fn example(language: &str, text: &str) -> String {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README");
    let blocks = readme.split("\n```").skip(1).step_by(2);
    let found: Vec<&str> = blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect();
    let found: Vec<&&str> = found.iter().filter(|block| block.contains(text)).collect();
    assert_eq!(found.len(), 1, "{language} with {text}");
    format!("{}\n", found[0])
}
