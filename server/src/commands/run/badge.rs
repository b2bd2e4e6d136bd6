//! Draws a verdict as a badge for a page, such as a README.

use shared::api::{RunReport, RunStatus};
use shared::base::format::bytes;

/// Width of a letter at the size of the text, which is stretched to the sum, in pixels.
const LETTER: usize = 6;

/// Space beside each text.
const MARGIN: usize = 6;

/// Returns the verdict as SVG, such as `fits t4-16gb: 13.2 GiB`, of the process that needs the most memory.
pub(in crate::commands) fn badge(run: &RunReport) -> String {
    let card = &run.card;
    let (label, figure, color) = match run.status {
        RunStatus::Fits => (format!("fits {card}"), bytes(run.peak_reserved_bytes), "#2e7d32"),
        RunStatus::OutOfMemory => (format!("does not fit {card}"), "out of memory".to_owned(), "#c62828"),
        RunStatus::Failed | RunStatus::Unsupported => ("GPU memory".to_owned(), "unknown".to_owned(), "#616161"),
    };
    let width = |text: &str| text.chars().count() * LETTER;
    let (left, right) = (width(&label) + 2 * MARGIN, width(&figure) + 2 * MARGIN);
    let text = |x: usize, text: &str| {
        format!("<text x=\"{x}\" y=\"14\" textLength=\"{}\">{}</text>", width(text), text.replace('&', "&amp;"))
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" aria-label=\"{label}: {figure}\">\
         <title>{label}: {figure}</title><clipPath id=\"r\"><rect width=\"{all}\" height=\"20\" rx=\"3\"/></clipPath>\
         <g clip-path=\"url(#r)\"><rect width=\"{left}\" height=\"20\" fill=\"#424242\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{color}\"/></g>\
         <g fill=\"#fff\" font-family=\"Verdana,Geneva,DejaVu Sans,sans-serif\" font-size=\"11\">{}{}</g></svg>\n",
        text(MARGIN, &label),
        text(left + MARGIN, &figure),
        all = left + right,
    )
}
