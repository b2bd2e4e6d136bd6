//! Writes the sections about the file as a whole: figures, settings and recording.

use super::html::Html;
use crate::analysis::{Study, Summary, recording_diagnostics};
use crate::base::format::{bytes, count, counted, duration};
use crate::export::subject::{Subject, device_name};
use crate::trace::{Container, Encoding};

/// Writes the figures of the only device, or a table of all devices.
pub(super) fn figures(subject: &Subject<'_>, studies: &[Study<'_>], page: &mut Html) {
    match studies {
        [] => page.paragraph("lead", "The snapshot has no device: CUDA was never initialized in its process."),
        [study] => {
            let summary = Summary::of(study.device, study.timeline);
            page.figures(&of_device(&summary, study.timeline.duration_us()));
        }
        _ => {
            let rows: Vec<Vec<String>> = { subject.devices.iter() }
                .map(|(device, timeline)| {
                    row(device_name(device), &Summary::of(device, timeline), timeline.duration_us())
                })
                .collect();
            let columns = ["Device", "Peak live", "Peak reserved", "Live at the end", "Events", "Duration"];
            page.table(&columns, &[1, 2, 3, 4, 5], &rows);
        }
    }
}

fn of_device(summary: &Summary, duration_us: Option<u64>) -> Vec<(String, String)> {
    let mut figures = vec![
        (bytes(summary.peak_live_bytes), "peak live".to_owned()),
        (bytes(summary.peak_reserved_bytes), "peak reserved".to_owned()),
        (bytes(summary.end_live_bytes), "live at the end".to_owned()),
        (count(summary.events), if summary.events == 1 { "event" } else { "events" }.to_owned()),
    ];
    figures.extend(duration_us.map(|time_us| (duration(time_us), "duration".to_owned())));
    figures
}

fn row(name: String, summary: &Summary, duration_us: Option<u64>) -> Vec<String> {
    vec![
        name,
        bytes(summary.peak_live_bytes),
        bytes(summary.peak_reserved_bytes),
        bytes(summary.end_live_bytes),
        count(summary.events),
        duration_us.map_or_else(|| "–".to_owned(), duration),
    ]
}

/// Writes the allocator settings, the diagnostics and how the page was made.
pub(super) fn about(subject: &Subject<'_>, page: &mut Html) {
    page.section("Allocator settings", |page| {
        let settings = &subject.trace.settings.entries;
        let rows: Vec<_> = settings.iter().map(|(name, value)| vec![name.clone(), value.to_string()]).collect();
        if !rows.is_empty() {
            page.table(&["Setting", "Value"], &[], &rows);
        }
    });
    page.section("About the recording", |page| {
        let mut notices = recording_diagnostics(subject.trace, subject.devices);
        notices.extend(subject.trace.diagnostics.iter().cloned());
        for notice in &notices {
            page.paragraph(&format!("notice {}", notice.severity.name()), &notice.message);
        }
        let annotations = counted(subject.trace.annotations.len() as u64, "annotation");
        page.paragraph("muted", &format!("The file is {} with {annotations}.", format(subject)));
        page.paragraph(
            "muted",
            &format!(
                "Live bytes are the sum of requested sizes; reserved bytes are the sum of segment sizes. Snapscope {} \
                 made this page with `snapscope export --to html`. The page loads no other files and runs no scripts.",
                env!("CARGO_PKG_VERSION")
            ),
        );
    });
}

fn format(subject: &Subject<'_>) -> String {
    let encoding = match subject.trace.format.encoding {
        Encoding::Pickle(protocol) => format!("a pickle of protocol {protocol}"),
        Encoding::Json => "JSON".to_owned(),
    };
    match subject.trace.format.container {
        Container::Raw => encoding,
        Container::Gzip => format!("{encoding} in gzip"),
        Container::Html => format!("{encoding} in an HTML page"),
    }
}
