//! Controls of the segment map: moment, colours and scale.

use super::model::moment as moment_text;
use crate::ask::Instant;
use crate::state::BlockColors;
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// Maximum number of times that the map's scale can be doubled.
const MOST_ZOOM: u32 = 12;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct ControlsProps {
    pub(super) instant: Instant,
    /// The moment of `instant`; `None` until it is known.
    pub(super) moment: Option<u32>,
    /// Number of events, which is the last moment.
    pub(super) events: u32,
    /// Moment of the previous segment event.
    pub(super) previous: Option<u32>,
    /// Moment of the next segment event.
    pub(super) next: Option<u32>,
    /// Moment of the pinned allocation.
    pub(super) pinned: Option<u32>,
    pub(super) color_by: BlockColors,
    /// Number of times that the scale is doubled.
    pub(super) zoom: u32,
    pub(super) on_instant: Callback<Instant>,
    pub(super) on_color: Callback<BlockColors>,
    pub(super) on_zoom: Callback<u32>,
    /// Called to show the moment in the timeline.
    pub(super) on_show: Callback<()>,
    /// Buttons that save the segments as a table.
    pub(super) files: Html,
}

/// Shows the moment picker, the colours and the scale.
#[component]
pub(super) fn Controls(props: &ControlsProps) -> Html {
    let oninput = props.on_instant.reform(|event: InputEvent| {
        let slider: HtmlInputElement = event.target_unchecked_into();
        Instant::At(slider.value_as_number() as u32)
    });
    // The timeline would pan otherwise.
    let onkeydown = |event: KeyboardEvent| event.stop_propagation();
    let text = props.moment.map_or_else(|| "…".to_owned(), moment_text);
    html! {
        <div class="segments-controls" role="toolbar" aria-label="Segments">
            { instants(props) }
            <div class="segments-slider">
                { step(props, props.previous, "◀", "Previous segment event") }
                <input type="range" min="0" max={props.events.to_string()} step="1" aria-label="Moment"
                    value={props.moment.unwrap_or_default().to_string()} aria-valuetext={text.clone()}
                    {oninput} {onkeydown} />
                { step(props, props.next, "▶", "Next segment event") }
                <output class="numbers">{ text }</output>
            </div>
            <button type="button" class="button quiet" disabled={props.moment.is_none()}
                title="Center the timeline on this moment"
                onclick={props.on_show.reform(|_: MouseEvent| ())}>{ "Show" }</button>
            { colors(props) }
            { scale(props) }
            { props.files.clone() }
        </div>
    }
}

fn instants(props: &ControlsProps) -> Html {
    let choice = |label: &'static str, title: &'static str, instant: Option<Instant>| {
        let pressed = (instant == Some(props.instant)).to_string();
        let onclick = props.on_instant.reform(move |_: MouseEvent| instant.unwrap_or(Instant::ReservedPeak));
        html! {
            <button type="button" {title} {onclick} disabled={instant.is_none()} aria-pressed={pressed}>{ label }</button>
        }
    };
    html! {
        <div class="segmented" role="group" aria-label="Moment">
            { choice("Most reserved", "The first moment of peak reserved memory", Some(Instant::ReservedPeak)) }
            { choice("Peak", "The first moment of peak live memory", Some(Instant::LivePeak)) }
            { choice("Pinned", "The moment at which the allocation was pinned", props.pinned.map(Instant::At)) }
            { choice("End", "After the last event", Some(Instant::End)) }
        </div>
    }
}

fn step(props: &ControlsProps, moment: Option<u32>, sign: &'static str, label: &'static str) -> Html {
    let onclick = props.on_instant.reform(move |_: MouseEvent| Instant::At(moment.unwrap_or_default()));
    html! {
        <button type="button" class="button quiet square" aria-label={label} title={label} {onclick}
            disabled={moment.is_none()}>{ sign }</button>
    }
}

fn colors(props: &ControlsProps) -> Html {
    let choice = |label: &'static str, title: &'static str, color_by: BlockColors| {
        let onclick = props.on_color.reform(move |_: MouseEvent| color_by);
        let pressed = (color_by == props.color_by).to_string();
        html! { <button type="button" {title} {onclick} aria-pressed={pressed}>{ label }</button> }
    };
    html! {
        <div class="segmented" role="group" aria-label="Colors">
            { choice("Stack", "The colors of the timeline", BlockColors::Stack) }
            { choice("State", "In use, pending or free", BlockColors::State) }
        </div>
    }
}

fn scale(props: &ControlsProps) -> Html {
    let zoom = props.zoom;
    let button = |sign: &'static str, label: &'static str, next: Option<u32>| {
        let onclick = props.on_zoom.reform(move |_: MouseEvent| next.unwrap_or(zoom));
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
