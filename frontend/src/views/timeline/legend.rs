//! Legend of the timeline's lines, patterns and colours, with the choice of what colours stand for.

use super::area_legend::AreaLegend;
use super::categories::{CategoryLine, doubt, lines};
use crate::ask::{
    BandName, CategoryBytes, ColorBy, DeviceFigures, GroupBy, GroupKeyData, Kind, KindFacts, Parts, Readable,
};
use crate::draw::color::Color;
use crate::draw::shade;
use crate::draw::theme::Theme;
use crate::hooks::{use_band_names, use_categories};
use crate::platform::WorkerClient;
use crate::state::Scheme;
use shared::base::format;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct LegendProps {
    pub(super) client: WorkerClient,
    /// Figures of the shown device.
    pub(super) device: Rc<DeviceFigures>,
    pub(super) scheme: Scheme,
    /// Property of allocations that colours stand for.
    pub(super) color: ColorBy,
    /// The steps and phases; `None` until they are found.
    pub(super) parts: Option<Rc<Parts>>,
    /// Moment of the bytes per category, and true if it is the pin's instead of the peak's.
    pub(super) moment: (u32, bool),
    /// Selected kind.
    pub(super) kind: Option<Rc<Kind>>,
    /// Totals of the selected kind.
    pub(super) facts: Option<Rc<Readable<KindFacts>>>,
    /// Called with another property for the colours.
    pub(super) on_color: Callback<ColorBy>,
    /// Called with a kind to select, and with `None` to select none.
    pub(super) on_kind: Callback<Option<Kind>>,
}

/// Shows a line of keys, and one of categories if colours stand for them.
///
/// Colours are set as SVG attributes because the page's content security policy forbids inline styles.
#[component]
pub(super) fn Legend(props: &LegendProps) -> Html {
    let theme = props.scheme.theme();
    let is_by_category = props.color == ColorBy::Category;
    let bytes = use_categories(&props.client, props.device.device, is_by_category.then_some(props.moment.0));
    let is_by_stack = props.color == ColorBy::Stack;
    let bands = use_band_names(&props.client, props.device.device, is_by_stack.then_some(props.moment.0));
    html! {
        <div class="timeline-legend">
            <div class="segmented" role="group" aria-label="Colors">
                { choice(props, ColorBy::Stack, "Stack", "One color per stack") }
                { choice(props, ColorBy::Category, "Category", "Colors show what the memory is used for") }
                { area_choice(props) }
            </div>
            <ul class="timeline-keys" aria-label="Legend">
                <li>{line(theme.live)}{"live"}</li>
                <li>{line(theme.reserved)}{"reserved"}</li>
                if !props.color.is_area() { <li title="Neighbors that are too small to draw separately, in the color of their largest part">{merged(props.color, theme)}{"small allocations, merged"}</li> }
                if props.device.summary.initial_bytes > 0 && props.color == ColorBy::Stack {
                    <li title="Allocated before the recording began">{initial(theme)}{"allocated before recording"}</li>
                }
                { for props.parts.iter().flat_map(|parts| origins(parts)) }
            </ul>
            if props.color.is_area() {
                <AreaLegend client={props.client.clone()} device={props.device.device} scheme={props.scheme}
                    color={props.color} moment={props.moment} selected={props.kind.clone()} on_color={props.on_color.clone()}
                    on_kind={props.on_kind.clone()} />
            }
            if is_by_category {
                <ul class="timeline-categories numbers" aria-label="Categories">{ for bytes.iter().map(|bytes| categories(bytes, props, theme)) }</ul>
            }
            if is_by_stack {
                <ul class="timeline-categories timeline-stacks numbers" aria-label="Largest stacks">{ for bands.iter().map(|bands| largest(bands, props, theme)) }</ul>
            }
        </div>
    }
}

fn choice(props: &LegendProps, this: ColorBy, label: &'static str, title: &'static str) -> Html {
    let onclick = props.on_color.reform(move |_: MouseEvent| this);
    let pressed = (props.color == this).to_string();
    html! { <button type="button" {title} aria-pressed={pressed} {onclick}>{ label }</button> }
}

fn area_choice(props: &LegendProps) -> Html {
    let is_on = props.color.is_area();
    let color = if is_on { props.color } else { ColorBy::AreaCategory };
    let onclick = props.on_color.reform(move |_: MouseEvent| color);
    html! {
        <button type="button" title="At most ten areas, each with all memory of a category, module or function"
            aria-pressed={is_on.to_string()} {onclick}>{ "Area" }</button>
    }
}

/// Returns entries that say how steps and phases were found, if no annotation names them.
fn origins(parts: &Parts) -> Vec<Html> {
    let steps = parts.steps_basis.origin().filter(|_| !parts.steps.is_empty()).map(|origin| ("steps", origin));
    let phases = (!parts.phases.is_empty()).then(|| ("phases", parts.phases_basis.origin()));
    let entry = |(what, origin)| {
        let text = format!("{what} {origin}");
        html! { <li class="timeline-origin" title={text.clone()}>{ text }</li> }
    };
    steps.into_iter().chain(phases).map(entry).collect()
}

fn categories(bytes: &CategoryBytes, props: &LegendProps, theme: &Theme) -> Html {
    let when = when(props);
    let entry = |line: CategoryLine| {
        let kind = Kind::Category(line.category);
        let chosen = facts_of(props).and_then(|facts| facts.key);
        let is_selected =
            chosen == Some(GroupKeyData { by: GroupBy::Category, value: Some((line.category as u64, 0)) });
        let key = square(shade::fill(line.color, ColorBy::Category, theme));
        let content = html! { <>{ line.name }<strong>{ line.size }</strong></> };
        html! { <li data-category={line.name}>{ entry_button(props, (kind, is_selected), key, line.name.to_owned(), content) }</li> }
    };
    html! {
        <>
            <li>{ when }</li>
            { for lines(bytes).into_iter().map(entry) }
            if bytes.initial_bytes > 0 {
                <li>{initial(theme)}{"allocated before recording"}<strong>{ format::bytes(bytes.initial_bytes) }</strong></li>
            }
            if let Some(doubt) = doubt(bytes) { <li>{ doubt }</li> }
        </>
    }
}

fn when(props: &LegendProps) -> &'static str {
    if props.moment.1 { "At the pin:" } else { "At the peak:" }
}

fn facts_of(props: &LegendProps) -> Option<&KindFacts> {
    props.facts.as_deref()?.as_ref().ok()
}

/// Names the stacks of the largest bands; an entry selects its stack.
fn largest(bands: &[BandName], props: &LegendProps, theme: &Theme) -> Html {
    let entry = |band: &BandName| {
        let is_selected = facts_of(props).and_then(|facts| facts.stack) == Some(band.stack);
        let key = match band.color {
            Some(color) => square(shade::fill(color, ColorBy::Stack, theme)),
            None => initial(theme),
        };
        let content = html! {
            <>
                <span class="timeline-band">{ &band.lead }<small>{ &band.rest }</small></span>
                <strong>{ format::bytes(band.bytes) }</strong>
            </>
        };
        let name = format!("{} {} {}", band.lead, band.rest, band.callers);
        html! { <li>{ entry_button(props, (Kind::Stack(band.stack), is_selected), key, name, content) }</li> }
    };
    html! {
        <>
            <li>{ when(props) }</li>
            if bands.is_empty() { <li>{ "no stacks recorded" }</li> }
            { for bands.iter().map(entry) }
        </>
    }
}

/// Shows an entry that selects a kind, or none if the kind is selected already.
fn entry_button(
    props: &LegendProps,
    (kind, is_selected): (Kind, bool),
    key: Html,
    name: String,
    content: Html,
) -> Html {
    let onclick = props.on_kind.reform(move |_: MouseEvent| (!is_selected).then(|| kind.clone()));
    let title = format!("Select {}", name.trim_end());
    html! {
        <button type="button" class="timeline-entry" aria-pressed={is_selected.to_string()} {title} {onclick}>
            { key }{ content }
        </button>
    }
}

fn square(color: Color) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true"><rect width="18" height="10" fill={color.css()} /></svg>
    }
}

fn line(color: Color) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true">
            <rect x="0" y="4" width="18" height="2" fill={color.css()} />
        </svg>
    }
}

fn merged(by: ColorBy, theme: &Theme) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true">
            { for [1u32, 2, 3].map(|number| {
                let (y, fill) = (((number - 1) * 10) as f64 / 3.0, shade::merged_fill(number, by, theme).css());
                html! { <rect y={y.to_string()} width="18" height="3.4" fill={fill} /> }
            }) }
        </svg>
    }
}

fn initial(theme: &Theme) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true">
            <rect width="18" height="10" fill={theme.initial.css()} />
            { for [-6, 2, 10].map(|x| html! {
                <path d={format!("M{x} 10 L{} 0", x + 10)} stroke={theme.initial_hatch.css()} stroke-width="2" fill="none" />
            }) }
        </svg>
    }
}
