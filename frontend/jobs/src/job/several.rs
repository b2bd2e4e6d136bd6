//! Results of several recordings: the answer, a plot of their peaks or curves, and a table.

use crate::common::model::route::{Change, Route, Start};
use crate::common::model::task;
use crate::common::parts::{source_section, verdict};
use frontend::components::buttons::{ExportButton, Making};
use frontend::platform::{site_url, text_blob};
use frontend::state::Scheme;
use shared::api::{FitProbe, FitReport, JobDetails, JobOutcome, JobResource, Recorded, SweepReport, SweepRow};
use shared::base::format;
use shared::export::TableFormat;
use shared::recordings::fix::{self, Curves};
use shared::recordings::{self, Peaks, Table};
use yew::prelude::*;

/// Shows the results of a search, of remedies or of a sweep that has finished.
pub(crate) fn several(details: &JobDetails, scheme: Scheme) -> Html {
    let JobDetails { job, fit, fix: remedies, sweep, .. } = details;
    match (fit, remedies, sweep) {
        (Some(report), ..) => html! {
            <>
                <p class="answer" data-answer="">{ recordings::answer(report) }{ room(report) }</p>
                { for recordings::notes(report).into_iter().map(note) }
                { plot(Peaks::of_fit(report, job.steps).svg(scheme.theme())) }
                { table(job, &recordings::probes(report, job.steps), &rows_of_fit(report), Some(recordings::fit_csv(report))) }
            </>
        },
        (_, Some(report), _) => html! {
            <>
                <p class="answer" data-answer="">{ fix::answer(report) }</p>
                { lines(fix::lines(report)) }
                { table(job, &fix::table(report), &[], None) }
                { plot(Curves::of(report).svg(scheme.theme())) }
                { for fix::notes(report).into_iter().map(note) }
            </>
        },
        (.., Some(report)) => html! {
            <>
                <p class="answer" data-answer="">{ recordings::sweep::answer(report) }</p>
                { plot(Peaks::of_sweep(report, job.steps).svg(scheme.theme())) }
                { table(job, &recordings::table(report, job.steps), &rows_of_sweep(report), Some(recordings::sweep_csv(report))) }
            </>
        },
        (None, None, None) => Html::default(),
    }
}

/// Says how much of the GPU the largest batch leaves free.
fn room(report: &FitReport) -> Html {
    let fitting = report.probes.iter().find(|probe| Some(probe.batch) == report.batch);
    let Some((probe, memory)) = fitting.zip(report.memory_bytes) else { return Html::default() };
    let free = format::bytes(memory.saturating_sub(probe.peak_reserved_bytes));
    let reserved = format::bytes(probe.peak_reserved_bytes);
    html! { <span class="hint">{ format!("peak reserved {reserved} of {}, {free} free", format::bytes(memory)) }</span> }
}

fn note(text: String) -> Html {
    html! { <p class="hint">{ text }</p> }
}

/// What a row of the table has beside its cells.
struct Row {
    /// Outcome that the last cell tells.
    outcome: JobOutcome,
    /// What a job that records this row alone differs in.
    change: Change,
    /// Name of the row, to follow a verb.
    name: String,
}

fn rows_of_fit(report: &FitReport) -> Vec<Row> {
    let row = |probe: &FitProbe| Row {
        outcome: task::row_outcome(probe.failure.is_some(), probe.oom.is_some()),
        change: Change::to_recording(|key| (key == "batch").then(|| probe.batch.to_string())),
        name: format!("batch {}", format::count(probe.batch)),
    };
    report.probes.iter().map(row).collect()
}

fn rows_of_sweep(report: &SweepReport) -> Vec<Row> {
    let row = |row: &SweepRow| {
        let ran_out = row.recording.as_ref().is_some_and(|recording| recording.oom.is_some());
        let known = |key: &str| report.axes.iter().any(|axis| axis == key).then(|| recordings::value(row, key));
        let named = report.axes.iter().map(|axis| format!("{axis} {}", recordings::value(row, axis)));
        Row {
            outcome: task::row_outcome(row.failure.is_some(), ran_out),
            change: Change::to_recording(known),
            name: named.collect::<Vec<_>>().join(", "),
        }
    };
    report.rows.iter().map(row).collect()
}

/// Shows the lines that add remedies to a config.
fn lines(lines: &[String]) -> Html {
    if lines.is_empty() {
        return Html::default();
    }
    source_section("lines-title", "Lines to add", &lines.join("\n"), Some(""), Html::default())
}

fn plot(svg: String) -> Html {
    // The drawing is made here, and its texts are escaped.
    let drawn = Html::from_html_unchecked(svg.into());
    html! { <figure class="several-plot" data-plot="">{ drawn }</figure> }
}

/// Shows a table with buttons that save it; `rows` and `csv` are missing where its rows are no recordings of a config.
fn table(job: &JobResource, table: &Table, rows: &[Row], csv: Option<String>) -> Html {
    let class = |column: usize| table.right.contains(&column).then_some("numbers right");
    let head =
        |(column, name): (usize, &String)| html! { <th scope="col" class={classes!(class(column))}>{ name }</th> };
    let row = |(index, cells): (usize, &Vec<String>)| {
        let row = rows.get(index);
        let cell = |(column, text): (usize, &String)| {
            let result = row.filter(|_| column + 1 == cells.len());
            let text = result.map_or_else(|| text.into(), |row| verdict(row.outcome, text));
            html! { <td class={classes!(class(column))}>{ text }</td> }
        };
        match cells.as_slice() {
            [heading] if table.head.len() > 1 => {
                html! { <tr><th scope="rowgroup" colspan={table.head.len().to_string()}>{ heading }</th></tr> }
            }
            cells => {
                html! { <tr>{ for cells.iter().enumerate().map(cell) }{ for row.map(|row| record(&job.id, row)) }</tr> }
            }
        }
    };
    html! {
        <>
            <div class="several-exports" role="group" aria-label="Save the table">
                { for csv.map(|text| export(job, TableFormat::Csv, text)) }
                { export(job, TableFormat::Markdown, table.markdown()) }
            </div>
            <div class="several-table" tabindex="0" role="region" aria-label="Recordings">
                <table>
                    <thead>
                        <tr>
                            { for table.head.iter().enumerate().map(head) }
                            if !rows.is_empty() {
                                <th scope="col"><span class="visually-hidden">{ "Actions" }</span></th>
                            }
                        </tr>
                    </thead>
                    <tbody>{ for table.rows.iter().enumerate().map(row) }</tbody>
                </table>
            </div>
        </>
    }
}

/// Shows the link to the form of a job that records a row alone.
fn record(id: &str, row: &Row) -> Html {
    let href = site_url(&Route::New(Start::Job(id.to_owned()), row.change.clone()).path());
    html! { <td><a {href} aria-label={format!("Record {}", row.name)}>{ "Record" }</a></td> }
}

/// Shows a button that saves a text of the job's table.
fn export(job: &JobResource, format: TableFormat, text: String) -> Html {
    let name = if job.name.is_empty() { job.task.word() } else { &job.name };
    let make = Callback::from(move |()| -> Making {
        let file = text_blob(&text, format.media_type());
        Box::pin(async move { file.map_err(|_| "the browser ran out of memory".to_owned()) })
    });
    html! {
        <ExportButton label={format.label()} title={format!("Save the table as {}", format.label())}
            name={format!("{name}.{}", format.ending())} {make} />
    }
}

/// Lists the recordings that have ended while the others run, the latest first.
pub(crate) fn recorded_list(recorded: &[Recorded]) -> Html {
    let row = |recorded: &Recorded| {
        html! {
            <li key={recorded.done}>
                <span class="numbers">{ &recorded.label }</span>
                { verdict(task::row_outcome(recorded.failure.is_some(), recorded.out_of_memory), &task::result(recorded)) }
            </li>
        }
    };
    html! {
        if !recorded.is_empty() {
            <ol class="recorded" reversed=true data-recorded={recorded.len().to_string()}>
                { for recorded.iter().rev().map(row) }
            </ol>
        }
    }
}
