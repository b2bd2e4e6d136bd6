//! Table of the settings tried by a sweep, each with a button that applies it.

use super::hook::SweepHandle;
use super::model::{SweepRow, sweep_rows};
use crate::ask::WhatIfSetup;
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

/// Shows the settings that were tried so far.
#[component]
pub(super) fn SweepTable(props: &SweepTableProps) -> Html {
    let SweepTableProps { sweep, setup, on_apply } = props;
    let Some(data) = &sweep.data else { return Html::default() };
    let rows = sweep_rows(data).into_iter().map(|one| row(one, &setup.conf, on_apply));
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
            <td class="numbers what-if-calls">{ calls }</td>
            <td class="numbers">{ oom }</td>
            <td>
                <button type="button" class="button quiet" aria-label={name} disabled={is_shown} {onclick}>
                    { if is_shown { "Applied" } else { "Apply" } }
                </button>
            </td>
        </tr>
    }
}
