//! View of a log: curves of memory over time, the owners of a GPU's memory, findings and tables.

mod below;
mod beside;
mod chart;
mod model;
mod table;

pub use self::below::LogsBelow;
use self::beside::{Beside, BesideChart, Course};
use self::chart::LogChart;
use self::model::{Range, overlap, union};
use self::table::{Traced, device, log_table, notice, owners_bar};
use super::export::model::file_name;
use crate::components::buttons::{ExportButton, Making};
use crate::hooks::{OpenLog, Peer};
use crate::platform::{png_of, text_blob};
use crate::state::{FileId, LogFile, Scheme};
use crate::views::findings::finding_card::item;
use crate::views::findings::model::counts_of_problems;
use shared::export::LogForm;
use shared::report::{LogCurves, LogReport};
use std::collections::HashMap;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct LogViewProps {
    pub id: FileId,
    pub name: AttrValue,
    pub file: LogFile,
    pub scheme: Scheme,
    pub logs: Vec<OpenLog>,
    pub peers: Vec<Peer>,
    /// Control that shows and changes whether the file is stored for a reload.
    pub keep: Html,
}

/// Shows the report on a log.
#[component]
pub fn LogView(props: &LogViewProps) -> Html {
    let LogViewProps { id, name, file, scheme, logs, keep, .. } = props;
    let report = &file.report;
    let findings = &report.diagnosis.findings;
    let problems = counts_of_problems(&report.diagnosis);
    let lead = if problems.is_empty() { "No problem found".to_owned() } else { problems };
    html! {
        <main class="log">
            <header class="log-head">
                <h1>{ name }</h1>
                <p>{ &report.title }{ for report.facts.iter().map(|fact| format!("; {fact}")) }</p>
                { save_buttons(name, report, *scheme) }
            </header>
            if !report.curves.is_empty() { <Charts view={props.clone()} /> }
            if !report.owners.is_empty() {
                <section class="log-owners" aria-label="Memory of the GPU by owner">
                    { for report.owners.iter().map(|owners| owners_bar(owners, *scheme)) }
                </section>
            }
            <Traced id={*id} file={file.clone()} logs={logs.clone()} />
            <section class="findings log-findings" aria-label="Findings">
                <div class="findings-lead" role="status"><strong>{ lead }</strong></div>
                <ol>{ for findings.iter().map(|finding| item(finding, device(finding.device), Html::default(), None)) }</ol>
            </section>
            { for report.tables.iter().map(log_table) }
            if !report.notices.is_empty() {
                <ul class="log-notices">{ for report.notices.iter().map(notice) }</ul>
            }
            { keep.clone() }
        </main>
    }
}

/// Courses of snapshots that have arrived.
#[derive(Clone, Debug, Default, PartialEq)]
struct Courses(Vec<Beside>);

impl Reducible for Courses {
    type Action = Beside;

    fn reduce(self: Rc<Self>, course: Beside) -> Rc<Self> {
        let others = self.0.iter().filter(|known| known.place != course.place).cloned();
        Rc::new(Self(others.chain([course.clone()]).collect()))
    }
}

#[derive(Clone, PartialEq, Properties)]
struct ChartsProps {
    view: LogViewProps,
}

/// Shows the charts of the log, and below them those of other open files on the same clock.
#[component]
fn Charts(props: &ChartsProps) -> Html {
    let LogViewProps { file: LogFile { report, .. }, scheme, logs, peers, .. } = &props.view;
    let own = use_memo(report.clone(), |report| report.curves.iter().cloned().map(Rc::new).collect::<Vec<_>>());
    let others = use_memo(logs.clone(), |logs| logs.iter().flat_map(of_log).collect::<Vec<_>>());
    let courses = use_reducer_eq(Courses::default);
    let on_course = {
        let courses = courses.dispatcher();
        Callback::from(move |course: Beside| courses.dispatch(course))
    };
    let shifts = use_state_eq(HashMap::<(FileId, usize), f64>::new);
    let shift_of = |beside: &Beside| shifts.get(&beside.place).copied().unwrap_or(0.0);
    // Clocks without dates have nothing in common.
    let has_dates = own.iter().all(|curves| curves.has_dates);
    let is_open = |beside: &&Beside| peers.iter().any(|peer| peer.id == beside.place.0);
    let beside: Vec<Beside> =
        others.iter().chain(courses.0.iter().filter(is_open)).filter(|_| has_dates).cloned().collect();
    let own_range = union(own.iter().map(|curves| curves.whole())).unwrap_or((0, 1));
    let moved = |beside: &Beside| {
        let ((from, to), shift_us) = (beside.curves.whole(), (shift_of(beside) * 1e6) as i64);
        (from.saturating_add(shift_us), to.saturating_add(shift_us))
    };
    // Files of other runs would leave this log a line of a pixel.
    let apart_s = |beside: &Beside| {
        let begin_s = (own_range.0 - beside.curves.whole().0) as f64 / 1e6;
        (!overlap(own_range, moved(beside))).then_some(begin_s)
    };
    let near = beside.iter().filter(|beside| apart_s(beside).is_none()).map(moved);
    let all = union(near.chain([own_range])).unwrap_or(own_range);
    let chosen = use_state_eq(|| None::<Range>);
    let range = chosen.map_or(all, |(from, to)| (from.max(all.0), to.min(all.1)));
    let on_range = {
        let chosen = chosen.setter();
        Callback::from(move |range: Range| chosen.set((range != all).then_some(range)))
    };
    let is_one_clock = own.iter().all(|curves| curves.has_dates == own[0].has_dates);
    let chart = |curves: &Rc<LogCurves>| {
        let whole = curves.whole();
        let (range, all) = if is_one_clock { (range, all) } else { (whole, whole) };
        let on_range = if is_one_clock { on_range.clone() } else { Callback::noop() };
        html! { <LogChart curves={curves.clone()} scheme={*scheme} {range} {all} {on_range} /> }
    };
    let chart_beside = |beside: &Beside| {
        let (shifts, place) = (shifts.clone(), beside.place);
        let on_shift = Callback::from(move |seconds: f64| {
            let mut next = (*shifts).clone();
            next.insert(place, seconds);
            shifts.set(next);
        });
        html! {
            <BesideChart key={format!("{place:?}")} beside={beside.clone()} scheme={*scheme} {range} {all}
                on_range={on_range.clone()} apart_s={apart_s(beside)} shift_s={shift_of(beside)} {on_shift} />
        }
    };
    let course = |(peer, device): (&Peer, u32)| {
        html! { <Course key={format!("{}-{device}", peer.id)} peer={peer.clone()} {device} on_course={on_course.clone()} /> }
    };
    let devices =
        peers.iter().flat_map(|peer| (0..peer.file.summary.devices.len() as u32).map(move |device| (peer, device)));
    html! {
        <>
            { for own.iter().map(chart) }
            if has_dates {
                { for devices.map(course) }
                { for beside.iter().map(chart_beside) }
            }
        </>
    }
}

/// Returns the charts of another log that has dates.
fn of_log(OpenLog { id, name, file }: &OpenLog) -> Vec<Beside> {
    let dated = file.report.curves.iter().enumerate().filter(|(_, curves)| curves.has_dates);
    dated
        .map(|(position, curves)| Beside {
            place: (*id, position),
            name: AttrValue::from(name.clone()),
            curves: Rc::new(curves.clone()),
        })
        .collect()
}

/// Pixels of a PNG per CSS pixel of the charts, in each direction.
const PNG_SCALE: f64 = 2.0;

/// Shows a button for each form in which the report can be saved.
fn save_buttons(name: &AttrValue, report: &Rc<LogReport>, scheme: Scheme) -> Html {
    let has_curves = !report.curves.is_empty();
    let forms = LogForm::ALL.into_iter().filter(|form| has_curves || !form.needs_curves());
    html! {
        <div class="log-save" role="group" aria-label="Save the report">
            { for forms.map(|form| button(name, report, scheme, form)) }
        </div>
    }
}

fn button(name: &AttrValue, report: &Rc<LogReport>, scheme: Scheme, form: LogForm) -> Html {
    let make = {
        let (name, report) = (name.clone(), report.clone());
        Callback::from(move |()| -> Making {
            let (text, media_type) = form.text(&name, &report, scheme.theme());
            Box::pin(async move {
                let file = text_blob(&text, media_type).map_err(|_| "the browser ran out of memory".to_owned())?;
                match form {
                    LogForm::Png => {
                        png_of(&file, PNG_SCALE).await.map_err(|_| "the browser can’t draw the picture".to_owned())
                    }
                    _ => Ok(file),
                }
            })
        })
    };
    let title = match form {
        LogForm::Html => "Save the report as one page (HTML)",
        LogForm::Svg => "Save the charts as SVG",
        LogForm::Png => "Save the charts as PNG",
        LogForm::Csv => "Save the curves as CSV",
        LogForm::Json => "Save the report as JSON",
        LogForm::Markdown => "Save findings and tables as Markdown",
    };
    let name = file_name(name, false, &format!("-report.{}", form.ending()));
    html! { <ExportButton key={form.name()} label={form.label()} {title} {name} {make} /> }
}
