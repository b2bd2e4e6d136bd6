//! Results of several recordings: the answer, a plot of their peaks or curves, and a table.

use crate::common::model::route::{Change, Route, Start};
use crate::common::model::task;
use frontend::components::buttons::CopyButton;
use frontend::platform::site_url;
use frontend::state::Scheme;
use shared::api::{FitReport, JobDetails, Recorded};
use shared::base::format;
use shared::recordings::fix::{self, Curves};
use shared::recordings::{self, Peaks, Table};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct SeveralProps {
    pub details: JobDetails,
    pub scheme: Scheme,
}

/// Shows the results of a search, of remedies or of a sweep that has finished.
#[component]
pub(crate) fn Several(props: &SeveralProps) -> Html {
    let JobDetails { job, fit, fix: remedies, sweep, .. } = &props.details;
    match (fit, remedies, sweep) {
        (Some(report), ..) => html! {
            <>
                <p class="answer" data-answer="">{ recordings::answer(report) }{ room(report) }</p>
                { for recordings::notes(report).into_iter().map(note) }
                { plot(Peaks::of_fit(report, job.steps).svg(props.scheme.theme())) }
                { table(&recordings::probes(report, job.steps), &records_of(&job.id, report)) }
            </>
        },
        (_, Some(report), _) => html! {
            <>
                <p class="answer" data-answer="">{ fix::answer(report) }</p>
                { lines(fix::lines(report)) }
                { table(&fix::table(report), &[]) }
                { plot(Curves::of(report).svg(props.scheme.theme())) }
                { for fix::notes(report).into_iter().map(note) }
            </>
        },
        (.., Some(report)) => html! {
            <>
                { plot(Peaks::of_sweep(report, job.steps).svg(props.scheme.theme())) }
                { table(&recordings::table(report, job.steps), &[]) }
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

/// Returns a link for each row, which records that batch by itself.
fn records_of(id: &str, report: &FitReport) -> Vec<(String, String)> {
    let link = |batch: u64| {
        let route = Route::New(Start::Job(id.to_owned()), Change::to_batch(batch));
        (site_url(&route.path()), format!("Record batch {}", format::count(batch)))
    };
    report.probes.iter().map(|probe| link(probe.batch)).collect()
}

/// Shows the lines that add remedies to a config.
fn lines(lines: &[String]) -> Html {
    if lines.is_empty() {
        return Html::default();
    }
    let text = lines.join("\n");
    html! {
        <section class="section" aria-labelledby="lines-title">
            <div class="section-head">
                <h2 id="lines-title" class="section-title">{ "Lines to add" }</h2>
                <CopyButton text={text.clone()} label="Copy" />
            </div>
            <pre class="source" tabindex="0" data-lines=""><code>{ text }</code></pre>
        </section>
    }
}

fn plot(svg: String) -> Html {
    // The drawing is made here, and its texts are escaped.
    let drawn = Html::from_html_unchecked(svg.into());
    html! { <figure class="several-plot" data-plot="">{ drawn }</figure> }
}

fn table(table: &Table, links: &[(String, String)]) -> Html {
    let class = |column: usize| table.right.contains(&column).then_some("numbers right");
    let head =
        |(column, name): (usize, &String)| html! { <th scope="col" class={classes!(class(column))}>{ name }</th> };
    let cell = |(column, text): (usize, &String)| html! { <td class={classes!(class(column))}>{ text }</td> };
    let link = |row: usize| match links.get(row) {
        Some((href, text)) => html! { <td><a href={href.clone()} aria-label={text.clone()}>{ "Record" }</a></td> },
        None => Html::default(),
    };
    let row = |(index, cells): (usize, &Vec<String>)| match cells.as_slice() {
        [heading] if table.head.len() > 1 => {
            html! { <tr><th scope="rowgroup" colspan={table.head.len().to_string()}>{ heading }</th></tr> }
        }
        cells => html! { <tr>{ for cells.iter().enumerate().map(cell) }{ link(index) }</tr> },
    };
    html! {
        <div class="several-table" tabindex="0" role="region" aria-label="Recordings">
            <table>
                <thead>
                    <tr>
                        { for table.head.iter().enumerate().map(head) }
                        if !links.is_empty() {
                            <th scope="col"><span class="visually-hidden">{ "Actions" }</span></th>
                        }
                    </tr>
                </thead>
                <tbody>{ for table.rows.iter().enumerate().map(row) }</tbody>
            </table>
        </div>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct RecordedListProps {
    pub recorded: Vec<Recorded>,
}

/// Lists the recordings that have ended while the others run, the latest first.
#[component]
pub(crate) fn RecordedList(props: &RecordedListProps) -> Html {
    let row = |recorded: &Recorded| {
        html! {
            <li key={recorded.done}>
                <span class="numbers">{ &recorded.label }</span>
                <span class="hint numbers">{ task::result(recorded) }</span>
            </li>
        }
    };
    html! {
        if !props.recorded.is_empty() {
            <ol class="recorded" reversed=true data-recorded={props.recorded.len().to_string()}>
                { for props.recorded.iter().rev().map(row) }
            </ol>
        }
    }
}
