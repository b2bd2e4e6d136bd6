//! Charts of memory over time, of which a part can be looked at more closely; those of other open files, which are logs
//! or snapshots whose events have times, are on the same clock.

use super::model::{Range, key_range, legend, nearest, overlap, place_to_us, plot, shifted};
use crate::ask::GetCourse;
use crate::components::{Picture, bound, color_key, passing};
use crate::hooks::{Peer, use_answer};
use crate::platform::{share_across, size_of_element};
use crate::state::{FileId, Scheme};
use crate::views::head::model::device_name;
use shared::report::LogCurves;
use std::collections::HashMap;
use std::rc::Rc;
use web_sys::{HtmlElement, HtmlInputElement};
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
    let onpointerdown = bound((us_of.clone(), began.clone()), move |(us_of, began), event: PointerEvent| {
        if event.button() == 0 {
            *began.borrow_mut() = us_of(&event);
        }
    });
    let moving = (began.clone(), chosen.setter(), hovered.setter(), curves.clone());
    let onpointermove = bound(moving, move |(began, chosen, hovered, curves), event: PointerEvent| {
        let Some(us) = us_of(&event) else { return };
        hovered.set(nearest(curves, us));
        if let Some(from) = *began.borrow() {
            chosen.set(Some((from.min(us), from.max(us))));
        }
    });
    let ending = (began, chosen.clone(), on_range.clone());
    let end = bound(ending, |(began, chosen, on_range), is_taken: bool| {
        let was_begun = began.borrow_mut().take().is_some();
        if let Some((from, to)) = chosen.filter(|(from, to)| is_taken && was_begun && to > from) {
            on_range.emit((from, to));
        }
        chosen.set(None);
    });
    let onpointerup = end.reform(|_: PointerEvent| true);
    let onpointercancel = end.reform(|_: PointerEvent| false);
    let onpointerleave = bound(hovered.setter(), move |hovered, _: PointerEvent| {
        hovered.set(None);
        end.emit(false);
    });
    let show_all = passing(on_range, all);
    let onkeydown = bound(on_range.clone(), move |on_range, event: KeyboardEvent| {
        if let Some(next) = key_range(&event.key(), range, all) {
            event.prevent_default();
            on_range.emit(next);
        }
    });
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

/// File, and the position of a chart or device in it.
pub(super) type Place = (FileId, usize);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Beside {
    pub(super) place: Place,
    pub(super) name: AttrValue,
    pub(super) curves: Rc<LogCurves>,
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct BesideChartProps {
    pub(super) beside: Beside,
    pub(super) scheme: Scheme,
    pub(super) range: Range,
    pub(super) all: Range,
    pub(super) on_range: Callback<Range>,
    /// Seconds by which its clock has to be moved so that it begins with this log, if the two have no times in common.
    pub(super) apart_s: Option<f64>,
    pub(super) shift_s: f64,
    pub(super) on_shift: Callback<(Place, f64)>,
}

/// Seconds by which the clocks of other files are moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shifts(HashMap<Place, f64>);

impl Shifts {
    pub(super) fn of(&self, beside: &Beside) -> f64 {
        self.0.get(&beside.place).copied().unwrap_or(0.0)
    }

    /// Returns the first and last time of a file by its moved clock.
    pub(super) fn times(&self, beside: &Beside) -> Range {
        let ((from, to), shift_us) = (beside.curves.whole(), (self.of(beside) * 1e6) as i64);
        (from.saturating_add(shift_us), to.saturating_add(shift_us))
    }

    /// Returns the seconds by which a clock has to be moved so that both begin together, unless they have common times.
    pub(super) fn apart_s(&self, beside: &Beside, own: Range) -> Option<f64> {
        let begin_s = (own.0 - beside.curves.whole().0) as f64 / 1e6;
        (!overlap(own, self.times(beside))).then_some(begin_s)
    }
}

#[hook]
pub(super) fn use_shifts() -> (UseStateHandle<Shifts>, Callback<(Place, f64)>) {
    let shifts = use_state_eq(Shifts::default);
    let now = shifts.clone();
    let on_shift = Callback::from(move |(place, seconds): (Place, f64)| {
        let mut next = (*now).clone();
        next.0.insert(place, seconds);
        now.set(next);
    });
    (shifts, on_shift)
}

/// Shows a chart of another file, whose clock can be moved by hand.
#[component]
pub(super) fn BesideChart(props: &BesideChartProps) -> Html {
    let BesideChartProps { beside, scheme, range, all, on_range, apart_s, shift_s, on_shift } = props;
    let curves = use_memo((beside.curves.clone(), *shift_s), |(curves, shift_s)| {
        Rc::new(shifted(curves, (shift_s * 1e6) as i64))
    });
    let on_shift = on_shift.reform({
        let place = beside.place;
        move |seconds: f64| (place, seconds)
    });
    let oninput = on_shift.reform(|event: InputEvent| {
        let seconds = event.target_unchecked_into::<HtmlInputElement>().value_as_number();
        if seconds.is_finite() { seconds } else { 0.0 }
    });
    let head = html! {
        <div class="log-beside">
            <h2>{ &beside.name }</h2>
            <label>
                { "Move its clock by" }
                <input type="number" step="0.1" value={shift_s.to_string()} {oninput} />
                { "s" }
            </label>
        </div>
    };
    match *apart_s {
        Some(seconds) => {
            let onclick = passing(&on_shift, seconds);
            html! {
                <section class="log-chart">
                    { head }
                    <p class="log-apart">
                        { "This file has no times in common with the one above." }
                        <button type="button" class="button" {onclick}>{ "Let both begin together" }</button>
                    </p>
                </section>
            }
        }
        None => html! {
            <LogChart curves={(*curves).clone()} scheme={*scheme} range={*range} all={*all} {on_range}>{ head }</LogChart>
        },
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct CourseProps {
    pub(super) peer: Peer,
    pub(super) device: u32,
    pub(super) on_course: Callback<Beside>,
}

/// Asks a snapshot for its course over time; shows nothing itself.
#[component]
pub(super) fn Course(props: &CourseProps) -> Html {
    let CourseProps { peer, device, on_course } = props.clone();
    let course =
        use_answer(
            (peer.client.clone(), device),
            |(client, device)| async move { client.ask(GetCourse { device }).await },
        );
    use_effect_with(course, move |course| {
        if let Some(curves) = course {
            let name = format!("{}, {}", peer.name, device_name(peer.file.summary.devices[device as usize].index));
            on_course.emit(Beside { place: (peer.id, device as usize), name: name.into(), curves: curves.clone() });
        }
    });
    Html::default()
}
