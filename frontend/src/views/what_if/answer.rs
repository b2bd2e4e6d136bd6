//! Answer of the What-if tab: which settings or which GPU would have been enough, the sweep over them, and the outcome
//! of one beside the recording.

use super::hook::SweepHandle;
use super::model::{
    FigureRow, SweepRow, advised, answer, environment, figure_rows, findings, is_enough, plot, summary, sweep_rows,
};
use crate::ask::{ReplayData, WhatIfSetup};
use crate::components::{CopyButton, IconName, Picture, icon};
use crate::hooks::use_file;
use crate::views::export::picture::use_easel;
use std::rc::Rc;
use yew::prelude::*;

/// Shows the answer with what it takes to use it, or the progress of the search for it.
///
/// Settings are tried on the card of `setup`; PyTorch reads them from the environment variable `variable`.
pub(super) fn sweep_answer(
    sweep: &SweepHandle,
    setup: &Rc<WhatIfSetup>,
    variable: &str,
    on_apply: &Callback<String>,
) -> Html {
    let onclick = {
        let (sweep, setup) = (sweep.clone(), setup.clone());
        move |_: MouseEvent| match sweep.is_running {
            true => sweep.on_stop.emit(()),
            false => sweep.on_start.emit(WhatIfSetup::clone(&setup)),
        }
    };
    let data = sweep.data.as_deref();
    let line = match data {
        Some(data) => answer(data, setup.capacity_bytes),
        None if sweep.is_running => "Trying settings…".to_owned(),
        None => "Which settings would fit, and which GPU?".to_owned(),
    };
    let best = data.and_then(advised).map(str::to_owned);
    let is_fitting = best.is_some() && data.is_some_and(is_enough);
    let is_done = data.is_some_and(crate::ask::SweepData::is_done);
    html! {
        <section class="what-if-answer" aria-label="Answer" data-done={is_done.to_string()}>
            <div class="what-if-answer-line">
                <strong role="status">
                    if is_fitting { { icon(IconName::Done) } }
                    { line }
                </strong>
                if sweep.is_running {
                    <progress class="progress" max="1" value={format!("{:.3}", data.map_or(0.0, |data| data.progress))}
                        aria-label="Settings tried" />
                }
                if let Some(best) = &best { { advice(best, setup, variable, on_apply) } }
                if sweep.is_running || !is_done {
                    <button type="button" class="button" {onclick}>
                        { if sweep.is_running { "Stop" } else { "Try settings" } }
                    </button>
                }
            </div>
            if let Some(data) = data {
                <ul class="what-if-findings">
                    { for findings(data).into_iter().map(|sentence| html! { <li>{ sentence }</li> }) }
                </ul>
            } else if !sweep.is_running {
                <p class="hint">{ "Replays the requests with many settings and on all GPUs in the list" }</p>
            }
        </section>
    }
}

fn advice(best: &str, setup: &WhatIfSetup, variable: &str, on_apply: &Callback<String>) -> Html {
    html! {
        <>
            { apply_button("button", None, best, &setup.conf, on_apply) }
            <CopyButton text={environment(best, variable)} label="Copy" />
        </>
    }
}

fn apply_button(
    class: &'static str,
    label: Option<String>,
    conf: &str,
    shown: &str,
    on_apply: &Callback<String>,
) -> Html {
    let (is_shown, conf) = (conf == shown, conf.to_owned());
    let onclick = on_apply.reform(move |_: MouseEvent| conf.clone());
    html! {
        <button type="button" {class} aria-label={label} disabled={is_shown} {onclick}>
            { if is_shown { "Applied" } else { "Apply" } }
        </button>
    }
}

pub(super) fn figure_table(data: &ReplayData) -> Html {
    html! {
        <table class="what-if-table" aria-label="Recorded and replayed">
            <thead>
                <tr>
                    <th scope="col"><span class="visually-hidden">{ "Figure" }</span></th>
                    <th scope="col">{ "Recorded" }</th>
                    <th scope="col">{ "Replayed" }</th>
                    <th scope="col"><span class="visually-hidden">{ "Comparison" }</span></th>
                </tr>
            </thead>
            <tbody>{ for figure_rows(data).into_iter().map(row) }</tbody>
        </table>
    }
}

fn row(row: FigureRow) -> Html {
    let class = if row.verdict.is_empty() { "same" } else { row.verdict };
    html! {
        <tr>
            <th scope="row" title={row.explanation}>{ row.label }</th>
            <td class="numbers">{ row.recorded }</td>
            <td class="numbers">{ row.replayed }</td>
            <td class={classes!("what-if-verdict", class)}>{ row.verdict }</td>
        </tr>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct ReplayPlotProps {
    pub(super) data: ReplayData,
    pub(super) setup: WhatIfSetup,
}

#[component]
pub(super) fn ReplayPlot(props: &ReplayPlotProps) -> Html {
    let scheme = use_file().scheme;
    let drawn = (props.clone(), scheme);
    let plot = use_memo(drawn, |(props, scheme)| plot(&props.data, &props.setup, scheme.theme()));
    let easel = use_easel();
    use_effect_with((easel, plot.clone(), scheme), |(easel, plot, scheme)| {
        easel.put(0, plot.curves.saved(scheme.theme()));
        let easel = easel.clone();
        move || easel.clear(0)
    });
    let draw = use_callback((plot.clone(), scheme), |size, (plot, scheme)| plot.curves.sketch(size, scheme.theme()));
    html! {
        <figure class="what-if-plot">
            <Picture {draw} label={summary(&props.data)} />
            <figcaption class="what-if-legend">
                <span class="what-if-key-live">{ "Live" }</span>
                <span class="what-if-key-recorded">{ "Reserved, recorded" }</span>
                <span class="what-if-key-replayed">{ "Reserved, replayed" }</span>
                if plot.has_oom { <span class="what-if-key-oom">{ "Out of memory" }</span> }
                if !plot.capacity_label.is_empty() {
                    <span class={classes!("numbers", plot.has_capacity.then_some("what-if-key-card"))}>
                        { plot.capacity_label.clone() }
                    </span>
                }
            </figcaption>
        </figure>
    }
}

/// Shows the settings that were tried so far; `shown` are those of the current setup.
pub(super) fn sweep_table(sweep: &SweepHandle, shown: &str, on_apply: &Callback<String>) -> Html {
    let Some(data) = &sweep.data else { return Html::default() };
    let rows = sweep_rows(data).into_iter().map(|one| sweep_row(one, shown, on_apply));
    html! {
        <section class="what-if-sweep" tabindex="0" aria-label="Settings that were tried">
            <table class="what-if-table">
                <thead>
                    <tr>
                        <th scope="col">{ "Settings" }</th>
                        <th scope="col">{ "Peak reserved" }</th>
                        <th scope="col" class="what-if-calls">{ "Driver calls" }</th>
                        <th scope="col">{ "Out of memory" }</th>
                        <th scope="col"><span class="visually-hidden">{ "Apply" }</span></th>
                    </tr>
                </thead>
                <tbody>{ for rows }</tbody>
            </table>
        </section>
    }
}

fn sweep_row(row: SweepRow, shown: &str, on_apply: &Callback<String>) -> Html {
    let SweepRow { conf, label, mark, reserved, calls, oom } = row;
    let apply = apply_button("button quiet", Some(format!("Apply {label}")), &conf, shown, on_apply);
    html! {
        <tr data-mark={mark}>
            <th scope="row">
                <code>{ label }</code>
                if !mark.is_empty() { <span class="what-if-mark">{ mark }</span> }
            </th>
            <td class="numbers">{ reserved }</td>
            <td class="numbers what-if-calls">{ calls }</td>
            <td class="numbers">{ oom }</td>
            <td>{ apply }</td>
        </tr>
    }
}
