//! Controls of the segment map: moment, colours and scale.

use super::model::moment as moment_text;
use crate::ask::Instant;
use crate::hooks::{FileHandle, use_file, use_shown};
use crate::state::{BlockColors, Choice, SegmentsChoice, TimelineCommand};
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// Maximum number of times that the map's scale can be doubled.
const MOST_ZOOM: u32 = 12;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct ControlsProps {
    pub(super) choice: SegmentsChoice,
    /// The moment of the chosen instant; `None` until it is known.
    pub(super) moment: Option<u32>,
    /// Moment of the previous segment event.
    pub(super) previous: Option<u32>,
    /// Moment of the next segment event.
    pub(super) next: Option<u32>,
    /// Buttons at the end.
    pub(super) children: Html,
}

/// Shows the moment picker, the colours and the scale.
#[component]
pub(super) fn Controls(props: &ControlsProps) -> Html {
    let ControlsProps { choice, moment, previous, next, children } = props.clone();
    let (file, shown) = (use_file(), use_shown());
    let oninput = file.choosing(move |event: InputEvent| {
        let slider: HtmlInputElement = event.target_unchecked_into();
        at(Instant::At(slider.value_as_number() as u32), choice)
    });
    let on_show = file.commanding(move |_: MouseEvent| TimelineCommand::JumpTo { moment: moment.unwrap_or_default() });
    // The timeline would pan otherwise.
    let onkeydown = |event: KeyboardEvent| event.stop_propagation();
    let text = moment.map_or_else(|| "…".to_owned(), moment_text);
    html! {
        <div class="segments-controls" role="toolbar" aria-label="Segments">
            { instants(&file, choice, shown.ready.pinned.as_ref().map(|hit| hit.moment)) }
            <div class="segments-slider">
                { step(&file, choice, previous, "◀", "Previous segment event") }
                <input type="range" min="0" max={shown.events().to_string()} step="1" aria-label="Moment"
                    value={moment.unwrap_or_default().to_string()} aria-valuetext={text.clone()}
                    {oninput} {onkeydown} />
                { step(&file, choice, next, "▶", "Next segment event") }
                <output class="numbers">{ text }</output>
            </div>
            <button type="button" class="button quiet" disabled={moment.is_none()}
                title="Center the timeline on this moment" onclick={on_show}>{ "Show" }</button>
            { colors(&file, choice) }
            { scale(&file, choice) }
            { children }
        </div>
    }
}

fn at(instant: Instant, choice: SegmentsChoice) -> Choice {
    Choice::Segments(SegmentsChoice { instant, ..choice })
}

fn instants(file: &FileHandle, now: SegmentsChoice, pinned: Option<u32>) -> Html {
    let choice = |label: &'static str, title: &'static str, instant: Option<Instant>| {
        let pressed = (instant == Some(now.instant)).to_string();
        let onclick = file.choosing(move |_: MouseEvent| at(instant.unwrap_or(Instant::ReservedPeak), now));
        html! {
            <button type="button" {title} {onclick} disabled={instant.is_none()} aria-pressed={pressed}>{ label }</button>
        }
    };
    html! {
        <div class="segmented" role="group" aria-label="Moment">
            { choice("Most reserved", "The first moment of peak reserved memory", Some(Instant::ReservedPeak)) }
            { choice("Peak", "The first moment of peak live memory", Some(Instant::LivePeak)) }
            { choice("Pinned", "The moment at which the allocation was pinned", pinned.map(Instant::At)) }
            { choice("End", "After the last event", Some(Instant::End)) }
        </div>
    }
}

fn step(
    file: &FileHandle,
    choice: SegmentsChoice,
    moment: Option<u32>,
    sign: &'static str,
    label: &'static str,
) -> Html {
    let onclick = file.choosing(move |_: MouseEvent| at(Instant::At(moment.unwrap_or_default()), choice));
    html! {
        <button type="button" class="button quiet square" aria-label={label} title={label} {onclick}
            disabled={moment.is_none()}>{ sign }</button>
    }
}

fn colors(file: &FileHandle, now: SegmentsChoice) -> Html {
    let choice = |label: &'static str, title: &'static str, color_by: BlockColors| {
        let onclick = file.choosing(move |_: MouseEvent| Choice::Segments(SegmentsChoice { color_by, ..now }));
        let pressed = (color_by == now.color_by).to_string();
        html! { <button type="button" {title} {onclick} aria-pressed={pressed}>{ label }</button> }
    };
    html! {
        <div class="segmented" role="group" aria-label="Colors">
            { choice("Stack", "The colors of the timeline", BlockColors::Stack) }
            { choice("State", "In use, pending or free", BlockColors::State) }
        </div>
    }
}

fn scale(file: &FileHandle, now: SegmentsChoice) -> Html {
    let zoom = now.scale;
    let button = |sign: &'static str, label: &'static str, next: Option<u32>| {
        let onclick =
            file.choosing(move |_: MouseEvent| Choice::Segments(SegmentsChoice { scale: next.unwrap_or(zoom), ..now }));
        html! {
            <button type="button" aria-label={label} title={label} {onclick} disabled={next.is_none()}>{ sign }</button>
        }
    };
    html! {
        <div class="segmented" role="group" aria-label="Scale">
            { button("−", "Smaller", zoom.checked_sub(1)) }
            { button("+", "Larger", Some(zoom + 1).filter(|next| *next <= MOST_ZOOM)) }
        </div>
    }
}
