//! Answer of the What-if tab: which settings or which GPU would have been enough, the sweep over them, and the outcome
//! of one beside the recording.

use super::hook::SweepHandle;
use super::model::{
    FigureRow, SweepRow, advised, answer, column_at, environment, figure_rows, findings, fragmentation, is_enough,
    moved, occurring, plot, reading, stalls, summary, sweep_rows,
};
use crate::ask::{ReplayData, WhatIfSetup};
use crate::components::{CopyButton, IconName, Picture, bound, icon, passing};
use crate::hooks::use_file;
use crate::platform;
use crate::views::export::use_easel;
use std::ops::Range;
use std::rc::Rc;
use web_sys::HtmlElement;
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
    let onclick = bound((sweep.clone(), setup.clone()), move |(sweep, setup), _: MouseEvent| match sweep.is_running {
        true => sweep.on_stop.emit(()),
        false => sweep.on_start.emit(WhatIfSetup::clone(setup)),
    });
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
    let (is_shown, onclick) = (conf == shown, passing(on_apply, conf.to_owned()));
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

#[derive(Clone, PartialEq, Properties)]
pub(super) struct CourseRowsProps {
    pub(super) data: ReplayData,
}

/// Shows, below the curves, the bytes reserved beyond the live bytes, and each stall.
///
/// A range of the events is chosen by dragging or by the arrow keys, and read out below.
#[component]
pub(super) fn CourseRows(props: &CourseRowsProps) -> Html {
    let part = use_state_eq(|| None::<Range<usize>>);
    let from = use_mut_ref(|| None::<usize>);
    let node = use_node_ref();
    let columns = props.data.columns.len();
    let pointed = {
        let node = node.clone();
        move |event: &PointerEvent| {
            let element = node.cast::<HtmlElement>()?;
            let (x, _) = platform::point_in(&element, event.client_x().into(), event.client_y().into());
            let (width, _) = platform::size_of_element(&element);
            // A captured pointer may leave the rows on either side.
            column_at(x, width, columns)
        }
    };
    let pressing = (part.setter(), from.clone(), node.clone(), pointed.clone());
    let onpointerdown = bound(pressing, |(part, from, node, pointed), event: PointerEvent| {
        if let Some(element) = node.cast::<HtmlElement>() {
            // Capturing may fail; the drag then only ends where the pointer leaves the rows.
            let _ = element.set_pointer_capture(event.pointer_id());
        }
        *from.borrow_mut() = pointed(&event);
        part.set(None);
    });
    let onpointermove = bound((part.setter(), from.clone()), move |(part, from), event: PointerEvent| {
        if let (Some(first), Some(last)) = (*from.borrow(), pointed(&event))
            && first != last
        {
            part.set(Some(first.min(last)..first.max(last) + 1));
        }
    });
    let onpointerup = move |_: PointerEvent| *from.borrow_mut() = None;
    let onkeydown = bound(part.clone(), move |part, event: KeyboardEvent| {
        let Some(next) = moved((**part).clone(), columns, &event.key(), event.shift_key()) else { return };
        event.prevent_default();
        event.stop_propagation();
        part.set(next);
    });
    let chosen = (*part).clone().filter(|part| part.end <= columns);
    let drawn = (props.data.clone(), chosen.clone(), use_file().scheme);
    let draw_fragmentation = use_callback(drawn.clone(), |size, (data, chosen, scheme)| {
        fragmentation(data, chosen.as_ref(), size, scheme.theme())
    });
    let draw_stalls =
        use_callback(drawn, |size, (data, chosen, scheme)| stalls(data, chosen.as_ref(), size, scheme.theme()));
    let spoken = chosen.as_ref().map(|part| format!("{}..{}", part.start, part.end));
    html! {
        <figure class="what-if-course">
            <div ref={node} class="what-if-rows" tabindex="0" role="group" aria-describedby="what-if-reading"
                aria-label="Fragmentation and driver calls over the events. Arrow keys select a range, Shift and arrow keys change \
                            its length, and Escape selects all events."
                aria-keyshortcuts="ArrowLeft ArrowRight Home End Escape" data-part={spoken}
                {onpointerdown} {onpointermove} onpointercancel={onpointerup.clone()} {onpointerup} {onkeydown}>
                <span class="what-if-row-label">{ "Reserved minus live" }</span>
                <Picture class="what-if-fragmentation" draw={draw_fragmentation} />
                <span class="what-if-row-label">{ "Stalls: recorded above, replayed below" }</span>
                <Picture class="what-if-stalls" draw={draw_stalls} />
            </div>
            <p id="what-if-reading" class="what-if-reading numbers" role="status">
                { reading(&props.data, chosen.as_ref()) }
            </p>
            <figcaption class="what-if-legend">
                <span class="what-if-key-recorded">{ "Recorded" }</span>
                <span class="what-if-key-replayed">{ "Replayed" }</span>
                { for occurring(&props.data).into_iter().map(|(class, name)| html! { <span {class}>{ name }</span> }) }
            </figcaption>
        </figure>
    }
}
