//! Answer of the What-if tab: which settings or which GPU would have been enough.

use super::hook::SweepHandle;
use super::model::{advised, answer, environment, findings, is_enough};
use crate::ask::WhatIfSetup;
use crate::components::buttons::CopyButton;
use crate::components::icon::{Icon, IconName};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SweepAnswerProps {
    pub(super) sweep: SweepHandle,
    /// Current setup, whose card the settings are tried on.
    pub(super) setup: Rc<WhatIfSetup>,
    /// Environment variable from which PyTorch reads the settings.
    pub(super) variable: String,
    /// Called with the settings to apply.
    pub(super) on_apply: Callback<String>,
}

/// Shows the answer with what it takes to use it, or the progress of the search for it.
#[component]
pub(super) fn SweepAnswer(props: &SweepAnswerProps) -> Html {
    let SweepAnswerProps { sweep, setup, variable, on_apply } = props;
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
                    if is_fitting { <Icon name={IconName::Done} /> }
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
    let is_shown = setup.conf == best;
    let conf = best.to_owned();
    let onclick = on_apply.reform(move |_: MouseEvent| conf.clone());
    html! {
        <>
            <button type="button" class="button" disabled={is_shown} {onclick}>
                { if is_shown { "Applied" } else { "Apply" } }
            </button>
            <CopyButton text={environment(best, variable)} label="Copy" />
        </>
    }
}
