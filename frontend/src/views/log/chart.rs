//! Chart of memory over time, of which a part can be looked at more closely.

use super::model::{Range, key_range, legend, nearest, place_to_us, plot};
use crate::components::{Picture, color_key};
use crate::platform::{share_across, size_of_element};
use crate::state::Scheme;
use shared::report::LogCurves;
use std::rc::Rc;
use web_sys::HtmlElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct LogChartProps {
    pub(super) curves: Rc<LogCurves>,
    pub(super) scheme: Scheme,
    pub(super) range: Range,
    /// Times that all charts on the same clock cover.
    pub(super) all: Range,
    pub(super) on_range: Callback<Range>,
    #[prop_or_default]
    pub(super) children: Html,
}

/// Shows the memory of groups of processes on top of each other, with the memory that there is.
#[component]
pub(super) fn LogChart(props: &LogChartProps) -> Html {
    let LogChartProps { curves, scheme, range, all, on_range, children } = props;
    let (range, all) = (*range, *all);
    let hovered = use_state_eq(|| None::<usize>);
    let chosen = use_state_eq(|| None::<Range>);
    let began = use_mut_ref(|| None::<i64>);
    let node = use_node_ref();
    let draw = use_callback((curves.clone(), range, all, *chosen, *hovered, *scheme), |size, deps| {
        let (curves, range, all, chosen, hovered, scheme) = deps;
        let hovered = hovered.and_then(|at| curves.times_us.get(at).copied());
        plot(curves, (*range, all.0), *chosen, hovered, size, scheme.theme())
    });
    let us_of = {
        let node = node.clone();
        move |event: &PointerEvent| {
            let element = node.cast::<HtmlElement>()?;
            Some(place_to_us(range, share_across(&element, event), size_of_element(&element).0))
        }
    };
    let onpointerdown = {
        let (us_of, began) = (us_of.clone(), began.clone());
        move |event: PointerEvent| {
            if event.button() == 0 {
                *began.borrow_mut() = us_of(&event);
            }
        }
    };
    let onpointermove = {
        let (began, chosen, hovered, curves) = (began.clone(), chosen.setter(), hovered.setter(), curves.clone());
        move |event: PointerEvent| {
            let Some(us) = us_of(&event) else { return };
            hovered.set(nearest(&curves, us));
            if let Some(from) = *began.borrow() {
                chosen.set(Some((from.min(us), from.max(us))));
            }
        }
    };
    let end = {
        let (began, chosen, on_range) = (began.clone(), chosen.clone(), on_range.clone());
        Callback::from(move |is_taken: bool| {
            let was_begun = began.borrow_mut().take().is_some();
            if let Some((from, to)) = (*chosen).filter(|(from, to)| is_taken && was_begun && to > from) {
                on_range.emit((from, to));
            }
            chosen.set(None);
        })
    };
    let onpointerup = end.reform(|_: PointerEvent| true);
    let onpointercancel = end.reform(|_: PointerEvent| false);
    let onpointerleave = {
        let hovered = hovered.setter();
        move |_: PointerEvent| {
            hovered.set(None);
            end.emit(false);
        }
    };
    let show_all = on_range.reform(move |_: MouseEvent| all);
    let onkeydown = {
        let on_range = on_range.clone();
        move |event: KeyboardEvent| {
            if let Some(next) = key_range(&event.key(), range, all) {
                event.prevent_default();
                on_range.emit(next);
            }
        }
    };
    let text = hovered.map_or_else(|| curves.span_text(range), |at| curves.sample_text(at));
    html! {
        <figure class="log-chart">
            { children.clone() }
            <div ref={node} class="log-plot" tabindex="0" role="group" data-range={format!("{}..{}", range.0, range.1)}
                aria-label="Memory over time: + and - zoom, arrow keys move, 0 shows everything"
                {onpointerdown} {onpointermove} {onpointerup} {onpointercancel} {onpointerleave}
                ondblclick={show_all.clone()} {onkeydown}>
                <Picture {draw} label={curves.span_text(all)} />
            </div>
            <figcaption>
                <p class="log-readout numbers">{ text }</p>
                if range != all {
                    <button type="button" class="button" onclick={show_all}>{ "Show all" }</button>
                } else {
                    <span class="hint">{ "Drag over the chart to enlarge a part" }</span>
                }
                <ul class="log-legend">
                    { for legend(curves, scheme.theme()).into_iter().map(|(name, color)| html! {
                        <li>{ color_key(color.css()) }{ name }</li>
                    }) }
                </ul>
            </figcaption>
        </figure>
    }
}
