//! View of a log: curves of memory over time, the owners of a GPU's memory, findings and tables.

mod below;
mod chart;
mod model;
mod table;

pub use self::below::LogsBelow;
use self::chart::{Beside, BesideChart, Course, LogChart, use_shifts};
use self::model::{Range, union};
use self::table::{Traced, findings, owners_bar, tables};
use super::export::file_of_text;
use super::export::model::file_name;
use crate::components::{ExportButton, Making, bound, setting};
use crate::hooks::{OpenLog, Peer};
use crate::state::{FileId, LogFile, Scheme};
use crate::views::findings::model::counts_of_problems;
use shared::export::LogForm;
use shared::report::{LogCurves, LogReport};
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

#[component]
pub fn LogView(props: &LogViewProps) -> Html {
    let LogViewProps { id, name, file, scheme, logs, keep, .. } = props;
    let report = &file.report;
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
                { findings(&report.diagnosis) }
            </section>
            { tables(&report.tables, &report.notices) }
            { keep.clone() }
        </main>
    }
}

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
    let on_course = bound(courses.dispatcher(), move |courses, course: Beside| courses.dispatch(course));
    let (shifts, on_shift) = use_shifts();
    // Clocks without dates have nothing in common.
    let has_dates = own.iter().all(|curves| curves.has_dates);
    let is_open = |beside: &&Beside| peers.iter().any(|peer| peer.id == beside.place.0);
    let beside: Vec<Beside> =
        others.iter().chain(courses.0.iter().filter(is_open)).filter(|_| has_dates).cloned().collect();
    let own_range = union(own.iter().map(|curves| curves.whole())).unwrap_or((0, 1));
    // Files of other runs would leave this log a line of a pixel.
    let near = beside.iter().filter(|one| shifts.apart_s(one, own_range).is_none()).map(|one| shifts.times(one));
    let all = union(near.chain([own_range])).unwrap_or(own_range);
    let chosen = use_state_eq(|| None::<Range>);
    let range = chosen.map_or(all, |(from, to)| (from.max(all.0), to.min(all.1)));
    let on_range = setting(&chosen).reform(move |range: Range| (range != all).then_some(range));
    let is_one_clock = own.iter().all(|curves| curves.has_dates == own[0].has_dates);
    let chart = |curves: &Rc<LogCurves>| {
        let whole = curves.whole();
        let (range, all) = if is_one_clock { (range, all) } else { (whole, whole) };
        let on_range = if is_one_clock { on_range.clone() } else { Callback::noop() };
        html! { <LogChart curves={curves.clone()} scheme={*scheme} {range} {all} {on_range} /> }
    };
    let chart_beside = |beside: &Beside| {
        html! {
            <BesideChart key={format!("{:?}", beside.place)} beside={beside.clone()} scheme={*scheme} {range} {all}
                on_range={on_range.clone()} apart_s={shifts.apart_s(beside, own_range)} shift_s={shifts.of(beside)}
                on_shift={on_shift.clone()} />
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
    let beside = |(position, curves): (usize, &LogCurves)| Beside {
        place: (*id, position),
        name: name.clone().into(),
        curves: Rc::new(curves.clone()),
    };
    file.report.curves.iter().enumerate().filter(|(_, curves)| curves.has_dates).map(beside).collect()
}

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
    let make = bound((name.clone(), report.clone()), move |(name, report), ()| -> Making {
        let (text, media_type) = form.text(name, report, scheme.theme());
        Box::pin(file_of_text(text, media_type, form == LogForm::Png))
    });
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
