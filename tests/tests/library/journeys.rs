//! The rule that journeys find things as people do: by role, name, text and data attribute, never by a class.
//!
//! A class is a choice of the design, which may change while nothing changes for whoever uses the page.

use std::fs;

use testkit::server::root;

/// Folders of what acts on the page, with the scripts that it runs there.
const FOLDERS: [&str; 2] = ["tests/tests/browser", "tests/src/browser"];

/// Words that only read classes.
const WORDS: [&str; 5] = ["class=", "@class", "className", "classList", "getElementsByClassName"];

/// Functions that take a selector as their first argument.
const TAKERS: [&str; 6] = ["find(", "querySelector(", "querySelectorAll(", "closest(", "matches(", "below(found, "];

/// Endings of files, which begin with a dot as classes do.
const ENDINGS: [&str; 9] = ["csv", "gz", "html", "json", "pickle", "pkl", "png", "svg", "toml"];

fn classes(line: &str) -> Vec<&str> {
    let words = WORDS.iter().copied().filter(|word| line.contains(word));
    words.chain(line.match_indices('.').filter_map(|(dot, _)| class_at(line, dot))).collect()
}

/// Returns the class whose dot is at a position, if it is one and not a method or the ending of a file.
fn class_at(line: &str, dot: usize) -> Option<&str> {
    let (before, after) = (&line[..dot], &line[dot + 1..]);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name = &after[..after.find(|c| !is_part(c)).unwrap_or(after.len())];
    let next = after[name.len()..].chars().next();
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || next == Some('(') {
        return None;
    }
    // A quote before the dot begins a text if an even number of its kind stands before.
    let begins = |quote: char| before.matches(quote).count() % 2 == 1;
    let is_class = match before.chars().next_back()? {
        quote @ ('"' | '\'' | '`') => begins(quote) && !ENDINGS.contains(&name) && next != Some('.'),
        ' ' => !before.trim().is_empty() && before.contains(['"', '\'', '`']),
        '(' | ',' | '>' | '+' | '~' => before.contains(['"', '\'', '`']),
        _ => is_in_selector(before),
    };
    is_class.then_some(name)
}

/// Returns true if a text ends inside of a selector, and there outside of the brackets of an attribute.
fn is_in_selector(before: &str) -> bool {
    let start = TAKERS.iter().filter_map(|taker| Some(before.rfind(taker)? + taker.len())).max();
    let Some(argument) = start.map(|start| &before[start..]) else { return false };
    let Some(quote) = argument.chars().next().filter(|c| ['"', '\'', '`'].contains(c)) else { return false };
    let selector = &argument[1..];
    !selector.contains(quote) && selector.matches('[').count() == selector.matches(']').count()
}

#[test]
fn classes_are_found_and_nothing_else_is() {
    for (line, found) in [
        (r#"page.find(".table-row").click();"#, &["table-row"][..]),
        (r#"page.find("tr.chosen [data-x='a.b']")"#, &["chosen"]),
        (r#"page.find("[data-code=peak] .frame")"#, &["frame"]),
        (r#"const MAP: &str = ".segments-scroll";"#, &["segments-scroll"]),
        ("window.seen = document.querySelector('tr:not(.spacer)').innerText;", &["spacer"]),
        ("document.querySelectorAll('.a, li.b')", &["a", "b"]),
        (r#"page.click_text("section[contains(@class, 'dock')]", "Close")"#, &["@class"]),
        (r#"page.find("[data-code=peak]").text().len()"#, &[]),
        (r#"page.find(&format!("[data-export='{name}.csv']"))"#, &[]),
        (r#"for ending in [".pickle", ".json", ".speedscope.json"] {"#, &[]),
        ("    .filter(element => element.dataset.code)", &[]),
        ("document.querySelector('main').dataset.state.length", &[]),
        (r#"it("a").b && "c".to_owned()"#, &[]),
    ] {
        assert_eq!(classes(line), found, "{line}");
    }
}

#[test]
fn no_journey_selects_by_a_class() {
    let mut violations = Vec::new();
    let mut count = 0;
    for folder in FOLDERS {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            count += 1;
            for (index, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
                let code = line.trim_start();
                if !code.starts_with("//") {
                    let place = format!("{}:{}", path.strip_prefix(root()).unwrap().display(), index + 1);
                    violations.extend(classes(line).into_iter().map(|class| format!("{place}: `{class}`")));
                }
            }
        }
    }
    assert!(count > 20, "{count} files");
    assert!(violations.is_empty(), "journeys find things by role, name, text and data attribute\n{violations:#?}");
}
