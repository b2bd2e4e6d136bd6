//! Writes one HTML page about a snapshot, which people can attach to a ticket.
//!
//! Invariant: the page needs no network and no script, follows the light or dark scheme of its reader, and can be
//! printed.
//! Everything from the snapshot is escaped, because whoever made it wrote its frames and annotations.

mod html;
mod sections;

use super::picture::{PictureOptions, TimelinePicture};
use super::subject::{Subject, device_name};
use crate::analysis::Study;
use crate::base::markup::escaped;
use crate::draw::Theme;
use crate::draw::svg::svg_for_both;
pub(crate) use html::Html;

const STYLE: &str = include_str!("style.css");

const ICON: &str = "<svg class=\"icon\" viewBox=\"0 0 32 32\" width=\"28\" height=\"28\" aria-hidden=\"true\">\
    <rect width=\"32\" height=\"32\" rx=\"7\" fill=\"#141a24\"/>\
    <rect x=\"5\" y=\"20.5\" width=\"22\" height=\"6\" rx=\"1.5\" fill=\"#35b3a4\"/>\
    <rect x=\"8\" y=\"13\" width=\"15\" height=\"6\" rx=\"1.5\" fill=\"#6c9bf5\"/>\
    <rect x=\"13\" y=\"5.5\" width=\"7\" height=\"6\" rx=\"1.5\" fill=\"#f0b35c\"/></svg>";

/// Maximum number of bands in a timeline: the page should stay small enough for a ticket.
const MOST_BANDS: usize = 6000;

pub fn report(subject: &Subject<'_>) -> String {
    let studies: Vec<Study<'_>> = subject.studies().collect();
    framed(subject.file, "GPU memory report", |page| {
        sections::headlines(subject, &studies, page);
        sections::figures(&studies, page);
        sections::findings(subject, page);
        for study in &studies {
            of_device(subject, study, page);
        }
        sections::about(subject, page);
    })
}

/// Writes the frame of a page around what `fill` adds; `kind` says what the page is.
pub(crate) fn framed(title: &str, kind: &str, fill: impl FnOnce(&mut Html)) -> String {
    let mut page = Html::default();
    let title = escaped(title);
    page.push(&format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title} – {kind}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>{ICON}<div><p>{kind}</p><h1>{title}</h1></div></header>\n<main>\n"
    ));
    fill(&mut page);
    page.push("</main>\n</body>\n</html>\n");
    page.finish()
}

fn of_device(subject: &Subject<'_>, study: &Study<'_>, page: &mut Html) {
    // With a single device, its name would only lengthen every heading.
    let of = if subject.devices.len() > 1 { format!(" of {}", device_name(study.device)) } else { String::new() };
    page.section(&format!("Timeline{of}"), |page| {
        let title = format!("{} · {}", subject.file, device_name(study.device));
        let options = PictureOptions { title, height: 480, most_bands: MOST_BANDS, ..PictureOptions::default() };
        let picture = TimelinePicture::new(subject.trace, study.device, study.timeline, &options);
        let [light, dark] = [Theme::light(), Theme::dark()].map(|theme| picture.sketch(&theme));
        page.push(&format!("<figure>{}</figure>\n", svg_for_both(&options.title, &light, &dark)));
    });
    sections::live(subject, study, &of, page);
    sections::steps(subject, study, &of, page);
    sections::reserved(study, &of, page);
    sections::out_of_memory(subject, study, &of, page);
}

#[cfg(test)]
mod tests;
