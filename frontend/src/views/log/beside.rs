//! Charts of other open files on the same clock: other logs, and snapshots whose events have times.

use super::chart::LogChart;
use super::model::{Range, overlap, shifted};
use crate::ask::GetCourse;
use crate::hooks::{Peer, use_answer};
use crate::state::{FileId, Scheme};
use crate::views::head::model::device_name;
use shared::report::LogCurves;
use std::collections::HashMap;
use std::rc::Rc;
use web_sys::HtmlInputElement;
use yew::prelude::*;

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
            let onclick = on_shift.reform(move |_: MouseEvent| seconds);
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
