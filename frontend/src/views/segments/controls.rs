//! Controls of the segment map: moment, colours and scale.

use super::model::moment as moment_text;
use crate::ask::{Instant, SegmentsData};
use crate::components::{choice, segmented};
use crate::hooks::{FileHandle, ShownFile};
use crate::state::{BlockColors, Choice, SegmentsChoice, TimelineCommand};
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// Maximum number of times that the map's scale can be doubled.
const MOST_ZOOM: u32 = 12;

/// Shows the moment picker, the colours and the scale, with other buttons at the end.
///
/// `moment` is that of the chosen instant; `None` until it is known.
pub(super) fn controls(
    file: &FileHandle,
    shown: &ShownFile,
    moment: Option<u32>,
    data: Option<&SegmentsData>,
    buttons: Html,
) -> Html {
    let now = shown.ready.choices.segments;
    let choose = |next: SegmentsChoice| file.choosing(move |_: MouseEvent| Choice::Segments(next));
    let at = |instant: Instant| choose(SegmentsChoice { instant, ..now });
    let oninput = file.choosing(move |event: InputEvent| {
        let slider: HtmlInputElement = event.target_unchecked_into();
        Choice::Segments(SegmentsChoice { instant: Instant::At(slider.value_as_number() as u32), ..now })
    });
    let on_show = file.commanding(move |_: MouseEvent| TimelineCommand::JumpTo { moment: moment.unwrap_or_default() });
    // The timeline would pan otherwise.
    let onkeydown = |event: KeyboardEvent| event.stop_propagation();
    let text = moment.map_or_else(|| "…".to_owned(), moment_text);
    let instant = |label: &str, title: &'static str, of: Option<Instant>| {
        choice(label, title, of == Some(now.instant), of.map(at))
    };
    let pinned = shown.ready.pinned.as_ref().map(|hit| Instant::At(hit.moment));
    let instants = [
        instant("Most reserved", "The first moment of peak reserved memory", Some(Instant::ReservedPeak)),
        instant("Peak", "The first moment of peak live memory", Some(Instant::LivePeak)),
        instant("Pinned", "The moment at which the allocation was pinned", pinned),
        instant("End", "After the last event", Some(Instant::End)),
    ];
    let step = |sign: &'static str, label: &'static str, next: Option<u32>| {
        button("button quiet square", sign, label, next.map(|moment| at(Instant::At(moment))))
    };
    let color = |label: &str, title: &'static str, color_by: BlockColors| {
        choice(label, title, color_by == now.color_by, Some(choose(SegmentsChoice { color_by, ..now })))
    };
    let colors = [
        color("Stack", "The colors of the timeline", BlockColors::Stack),
        color("State", "In use, pending or free", BlockColors::State),
    ];
    let scale = |sign: &'static str, label: &'static str, next: Option<u32>| {
        button("", sign, label, next.map(|scale| choose(SegmentsChoice { scale, ..now })))
    };
    let scales = [
        scale("−", "Smaller", now.scale.checked_sub(1)),
        scale("+", "Larger", Some(now.scale + 1).filter(|next| *next <= MOST_ZOOM)),
    ];
    html! {
        <div class="segments-controls" role="toolbar" aria-label="Segments">
            { segmented("Moment", instants) }
            <div class="segments-slider">
                { step("◀", "Previous segment event", data.and_then(|data| data.previous)) }
                <input type="range" min="0" max={shown.events().to_string()} step="1" aria-label="Moment"
                    value={moment.unwrap_or_default().to_string()} aria-valuetext={text.clone()}
                    {oninput} {onkeydown} />
                { step("▶", "Next segment event", data.and_then(|data| data.next)) }
                <output class="numbers">{ text }</output>
            </div>
            <button type="button" class="button quiet" disabled={moment.is_none()}
                title="Center the timeline on this moment" onclick={on_show}>{ "Show" }</button>
            { segmented("Colors", colors) }
            { segmented("Scale", scales) }
            { buttons }
        </div>
    }
}

/// Shows a button with a sign; without an effect it is disabled.
fn button(class: &'static str, sign: &'static str, label: &'static str, act: Option<Callback<MouseEvent>>) -> Html {
    let class = (!class.is_empty()).then_some(class);
    html! {
        <button type="button" {class} aria-label={label} title={label} disabled={act.is_none()} onclick={act}>{ sign }</button>
    }
}
