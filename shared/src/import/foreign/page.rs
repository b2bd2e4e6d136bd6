//! Identifies HTML pages and other files that begin with an angle bracket.

use super::super::error::ImportError;
use super::super::html::HINT_PAGE;
use super::words::{self, Kind};

/// Kinds of pages by words, all of which must be present; the first row that matches counts.
const MARKS: &[(&[&str], &Kind)] = &[
    (&["<title>gpu memory timeline html</title>"], &words::TIMELINE_PAGE),
    (&["let alloc_data ="], &words::OLD_TRACE_PLOT),
    (&["elements_info", "initially_allocated"], &words::OLD_TRACE_PLOT),
    (&["import * as d3", "segment_alloc"], &words::OLD_TRACE_PLOT),
    (&["import * as d3", "plot_data"], &words::OLD_TRACE_PLOT),
    (&["memoryviz.js"], &words::MEMORY_VIZ),
    (&["add_local_files"], &words::MEMORY_VIZ),
    (&["gpu memory report</title>"], &words::OWN_REPORT),
    (&["<error>", "<code>"], &words::DOWNLOAD_ERROR),
    (&["github.githubassets.com"], &words::GITHUB_PAGE),
    (&["content=\"github\""], &words::GITHUB_PAGE),
    (&["content=\"gitlab\""], &words::GITLAB_PAGE),
    (&["content=\"hugging face\""], &words::HUGGING_FACE_PAGE),
    (&["huggingface.co/front"], &words::HUGGING_FACE_PAGE),
    (&["<title>google drive"], &words::DRIVE_PAGE),
    (&["drive.google.com", "<form"], &words::DRIVE_PAGE),
    (&["nbconvert"], &words::NOTEBOOK),
    (&["jp-notebook"], &words::NOTEBOOK),
    (&["plotly.newplot"], &words::CHART_PAGE),
    (&["bokeh"], &words::CHART_PAGE),
    (&["type=\"password\""], &words::SIGN_IN_PAGE),
    (&["<title>sign in"], &words::SIGN_IN_PAGE),
    (&["<title>log in"], &words::SIGN_IN_PAGE),
    (&["<title>login"], &words::SIGN_IN_PAGE),
    (&["<title>404"], &words::DOWNLOAD_ERROR),
    (&["<title>403"], &words::DOWNLOAD_ERROR),
    (&["<title>page not found"], &words::DOWNLOAD_ERROR),
];

/// Returns the error of a page without a snapshot.
pub(super) fn explained(text: &str) -> ImportError {
    let lower = text.to_ascii_lowercase();
    let known = MARKS.iter().find(|(marks, _)| marks.iter().all(|mark| lower.contains(mark))).map(|(_, kind)| *kind);
    known.or_else(|| of_markup(&lower)).map_or_else(|| unknown(text, &lower), ImportError::from)
}

/// Identifies other languages with angle brackets.
fn of_markup(text: &str) -> Option<&'static Kind> {
    let start = text.trim_start();
    let is_html = start.starts_with("<!doctype html") || start.contains("<html");
    if start.starts_with("<svg") || (start.contains("<svg") && !is_html) {
        Some(&words::PICTURE)
    } else {
        (start.starts_with("<?xml") && !is_html).then_some(&words::XML)
    }
}

fn unknown(text: &str, lower: &str) -> ImportError {
    const LONGEST: usize = 60;
    let title = title(text, lower).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = title.chars().take(LONGEST).collect();
    let message = match shown.as_str() {
        "" => "This HTML page contains no memory snapshot".to_owned(),
        shown => format!("This HTML page contains no memory snapshot; its title is “{shown}”"),
    };
    ImportError::new("page-without-a-snapshot", message, HINT_PAGE)
}

/// Returns the text between the title's tags; `lower` is the page in lower case, byte for byte.
fn title<'a>(text: &'a str, lower: &str) -> Option<&'a str> {
    let tag = lower.find("<title")?;
    let start = tag + lower[tag..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    Some(&text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, code: &str) {
        assert_eq!(explained(page).code, code, "{page}");
    }

    #[test]
    fn pages_are_known_by_their_marks() {
        check("<html>\n<head><title>GPU Memory Timeline HTML</title></head><img src='data:'>", "memory-timeline");
        check("<!DOCTYPE html><script type=\"module\">\nlet alloc_data = {\"actions\": [0]", "old-trace-plot");
        check("<script>import {add_local_files} from \"https://x/MemoryViz.js\"", "memory-viz-page");
        check("<!DOCTYPE html><html><link href=\"https://github.githubassets.com/\">", "web-page");
        check("<html><title>Google Drive - Virus scan warning</title>", "web-page");
        check("<html><title>Sign in · Where</title>", "web-page");
        check("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "download-error");
        check("<?xml version=\"1.0\"?>\n<!-- x -->\n<svg xmlns=\"x\">", "picture");
        check("<?xml version=\"1.0\"?><note/>", "text");
        check("<html><body></body></html>", "page-without-a-snapshot");
        check("<", "page-without-a-snapshot");
    }

    #[test]
    fn a_page_is_called_by_its_title() {
        let error = explained("<html><head><title>\n  My <b>notes </title>");
        assert!(error.message.ends_with("“My <b>notes”"), "{}", error.message);
    }
}
