//! Table of the settings tried by a sweep, each with a button that applies it.

use super::hook::SweepHandle;
use super::model::{SweepRow, findings, sweep_rows};
use crate::ask::{SweepData, WhatIfSetup};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SweepTableProps {
    pub(super) sweep: SweepHandle,
    /// Current setup, whose card the settings are tried on.
    pub(super) setup: Rc<WhatIfSetup>,
    /// Called with the settings to apply.
    pub(super) on_apply: Callback<String>,
}

/// Shows the sweep: a button, the progress, the table and the conclusions.
#[component]
pub(super) fn SweepTable(props: &SweepTableProps) -> Html {
    let SweepTableProps { sweep, setup, on_apply } = props;
    let onclick = {
        let (sweep, setup) = (sweep.clone(), setup.clone());
        move |_: MouseEvent| match sweep.is_running {
            true => sweep.on_stop.emit(()),
            false => sweep.on_start.emit(WhatIfSetup::clone(&setup)),
        }
    };
    let share = sweep.data.as_ref().map_or(0.0, |data| data.progress);
    html! {
        <section class="what-if-sweep" aria-label="Settings that were tried">
            <div class="what-if-sweep-head">
                <button type="button" class="button" {onclick}>{ if sweep.is_running { "Stop" } else { "Try settings" } }</button>
                if sweep.is_running {
                    <progress class="progress" max="1" value={format!("{share:.3}")} aria-label="Settings tried" />
                } else if sweep.data.is_none() {
                    <span class="hint">{ "Replays the requests with many settings and on all GPUs in the list" }</span>
                }
            </div>
            if let Some(data) = &sweep.data { { table(data, &setup.conf, on_apply) } }
        </section>
    }
}

fn table(data: &SweepData, shown: &str, on_apply: &Callback<String>) -> Html {
    html! {
        <>
            <ul class="what-if-findings" role="status">
                { for findings(data).into_iter().map(|sentence| html! { <li>{ sentence }</li> }) }
            </ul>
            <div class="what-if-scroll" tabindex="0" role="region" aria-label="Settings that were tried">
                <table class="what-if-table">
                    <thead>
                        <tr>
                            <th scope="col">{ "Settings" }</th>
                            <th scope="col">{ "Peak reserved" }</th>
                            <th scope="col">{ "Driver calls" }</th>
                            <th scope="col">{ "Out of memory" }</th>
                            <th scope="col"><span class="visually-hidden">{ "Apply" }</span></th>
                        </tr>
                    </thead>
                    <tbody>{ for sweep_rows(data).into_iter().map(|one| row(one, shown, on_apply)) }</tbody>
                </table>
            </div>
        </>
    }
}

fn row(row: SweepRow, shown: &str, on_apply: &Callback<String>) -> Html {
    let SweepRow { conf, label, mark, reserved, calls, oom } = row;
    let name = format!("Apply {label}");
    let is_shown = conf == shown;
    let onclick = on_apply.reform(move |_: MouseEvent| conf.clone());
    html! {
        <tr data-mark={mark}>
            <th scope="row">
                <code>{ label }</code>
                if !mark.is_empty() { <span class="what-if-mark">{ mark }</span> }
            </th>
            <td class="numbers">{ reserved }</td>
            <td class="numbers">{ calls }</td>
            <td class="numbers">{ oom }</td>
            <td>
                <button type="button" class="button quiet" aria-label={name} disabled={is_shown} {onclick}>
                    { if is_shown { "Applied" } else { "Apply" } }
                </button>
            </td>
        </tr>
    }
}
