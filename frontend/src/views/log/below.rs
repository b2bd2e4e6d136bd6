//! Logs of a run below the timeline of its snapshot, on the same clock, and the operators behind the snapshot's peak.

use super::chart::{Beside, BesideChart, use_shifts};
use super::model::Range;
use super::of_log;
use super::table::log_table;
use crate::ask::{Axis, GetCourse, GetOperators, Joinable};
use crate::components::{CopyButton, bound};
use crate::hooks::{Seen, ShownFile, use_answer, use_file, use_shown, use_subject};
use crate::state::{FileAction, LogFile, TimelineCommand};
use yew::prelude::*;

/// Commands that write a log of the GPUs and of the host while a training runs.
const COMMANDS: [&str; 2] = [
    "nvidia-smi --query-gpu=timestamp,index,memory.used,memory.total --format=csv -l 1 > gpu.csv",
    "snapscope host -o host.csv -- python train.py",
];

#[derive(Clone, PartialEq, Properties)]
pub struct LogsBelowProps {
    pub seen: Option<Seen>,
}

#[component]
pub fn LogsBelow(props: &LogsBelowProps) -> Html {
    let (file, shown) = (use_file(), use_shown());
    let logs = &shown.logs;
    let course = use_answer((file.client, shown.device.device), |(client, device)| async move {
        // A refusal says that the events have no times of a clock.
        Ok(client.ask(GetCourse { device }).await.ok())
    });
    let charts = use_memo(logs.clone(), |logs| logs.iter().flat_map(of_log).collect::<Vec<_>>());
    match course.as_deref() {
        _ if logs.is_empty() => guide(),
        _ if charts.is_empty() => said("The open logs have no dates, so they cannot be put beside this timeline."),
        None => Html::default(),
        Some(None) => {
            said("The events of this snapshot have no times of a clock, so logs cannot be put beside its timeline.")
        }
        Some(Some(course)) => html! { <Charts seen={props.seen} charts={(*charts).clone()} all={course.whole()} /> },
    }
}

#[derive(Clone, PartialEq, Properties)]
struct ChartsProps {
    seen: Option<Seen>,
    charts: Vec<Beside>,
    all: Range,
}

#[component]
fn Charts(props: &ChartsProps) -> Html {
    let ChartsProps { seen, charts, all } = props;
    let all = *all;
    let (file, shown) = (use_file(), use_shown());
    let range = times(&shown, *seen, all);
    let on_range = bound(file.clone(), move |file, (from, to): Range| {
        file.act(FileAction::ChooseAxis(Axis::Time));
        file.command(match (from, to) == all {
            true => TimelineCommand::Reset,
            false => TimelineCommand::Positions { first: (from - all.0) as f64, last: (to - all.0) as f64 },
        });
    });
    let (shifts, on_shift) = use_shifts();
    let chart = |beside: &Beside| {
        html! {
            <BesideChart key={format!("{:?}", beside.place)} beside={beside.clone()} scheme={file.scheme} {range} {all}
                on_range={on_range.clone()} apart_s={shifts.apart_s(beside, all)} shift_s={shifts.of(beside)}
                on_shift={on_shift.clone()} />
        }
    };
    let on_time = file.clicked(FileAction::ChooseAxis(Axis::Time));
    html! {
        <div class="log logs-below">
            if shown.ready.axis != Axis::Time {
                <p class="hint">
                    { "The timeline shows events; these charts show all of its time. " }
                    <button type="button" class="button" onclick={on_time}>{ "Show time" }</button>
                </p>
            }
            { for charts.iter().map(chart) }
            // What a trace of torch.profiler says about the snapshot's peak.
            { for shown.logs.iter().filter(|log| log.file.joinable.is_some()).map(|log| html! {
                <Operators key={format!("operators-{}", log.id)} name={log.name.clone()} file={log.file.clone()} />
            }) }
        </div>
    }
}

/// Returns the times that the timeline shows; all of them while it shows events.
fn times(shown: &ShownFile, seen: Option<Seen>, all: Range) -> Range {
    let seen = seen.filter(|seen| seen.device == shown.device.device && seen.axis == Axis::Time);
    let range = seen.filter(|_| shown.ready.axis == Axis::Time).and_then(|seen| seen.range);
    range.map_or(all, |view| {
        let from = (all.0 + view.x.start as i64).min(all.1 - 1);
        (from, (all.0 + view.x.end as i64).clamp(from + 1, all.1))
    })
}

fn guide() -> Html {
    html! {
        <div class="log logs-below">
            <p>
                { "Open logs of the same run to see them below the timeline, on one clock: what other processes use on \
                   the GPU, and what the host's memory does. These commands write such logs while a training runs:" }
            </p>
            <ul class="logs-commands">
                { for COMMANDS.iter().map(|command| html! {
                    <li><code>{ *command }</code><CopyButton label="Copy" text={*command} /></li>
                }) }
            </ul>
        </div>
    }
}

fn said(text: &str) -> Html {
    html! { <p class="state hint">{ text }</p> }
}

#[derive(Clone, PartialEq, Properties)]
struct OperatorsProps {
    name: AttrValue,
    file: LogFile,
}

/// Says how much of a trace the snapshot has, and which operators made what was live at the peak.
#[component]
fn Operators(props: &OperatorsProps) -> Html {
    let (client, device) = use_subject();
    let question = (client, device, props.file.clone());
    let found = use_answer(question, |(client, device, file)| async move {
        match file.joinable.as_deref() {
            Some(Joinable::Makers(makers)) => client.ask(GetOperators { device, makers: makers.clone() }).await,
            Some(Joinable::Tracemalloc(_)) | None => Ok(None),
        }
    });
    let Some(found) = found.as_deref().and_then(Option::as_ref) else { return Html::default() };
    html! {
        <section class="log-operators" aria-label={format!("Operators of {}", props.name)}>
            <h3>{ &props.name }</h3>
            <p>{ &found.matched }</p>
            { for found.table.iter().map(log_table) }
        </section>
    }
}
