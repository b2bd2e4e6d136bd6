//! Legend of areas: the property by which they are formed, and the bytes of each at a moment.

use crate::ask::{AreaRow, ColorBy, GetAreas, Kind, area_by};
use crate::draw::shade;
use crate::draw::theme::Theme;
use crate::hooks::use_answer;
use crate::platform::WorkerClient;
use crate::state::Scheme;
use shared::base::format;
use std::rc::Rc;
use yew::prelude::*;

/// Colourings with areas, and their names in the choice.
const CHOICES: [(ColorBy, &str); 3] =
    [(ColorBy::AreaCategory, "category"), (ColorBy::AreaModule, "module"), (ColorBy::AreaFunction, "own function")];

#[derive(Clone, PartialEq, Properties)]
pub(super) struct AreaLegendProps {
    pub(super) client: WorkerClient,
    /// Position of the device.
    pub(super) device: u32,
    pub(super) scheme: Scheme,
    /// Colouring with areas.
    pub(super) color: ColorBy,
    /// Moment of the bytes, and true if it is the pin's instead of the peak's.
    pub(super) moment: (u32, bool),
    /// Selected kind.
    pub(super) selected: Option<Rc<Kind>>,
    pub(super) on_color: Callback<ColorBy>,
    /// Called with the kind of a clicked area, and with `None` if it is selected already.
    pub(super) on_kind: Callback<Option<Kind>>,
}

/// Shows the choice of property, and a key for each area.
#[component]
pub(super) fn AreaLegend(props: &AreaLegendProps) -> Html {
    let (moment, is_pin) = props.moment;
    let by = area_by(props.color).unwrap_or_default();
    let ask = GetAreas { device: props.device, by, moment, selected: props.selected.as_deref().cloned() };
    let rows = use_answer((props.client.clone(), ask), |(client, ask)| async move { client.ask(ask).await });
    let theme = props.scheme.theme();
    let choice = |(color, label): (ColorBy, &'static str)| {
        let onclick = props.on_color.reform(move |_: MouseEvent| color);
        html! {
            <button type="button" aria-pressed={(color == props.color).to_string()} {onclick}>{ label }</button>
        }
    };
    html! {
        <div class="timeline-categories">
            <div class="segmented" role="group" aria-label="Areas by">{ for CHOICES.map(choice) }</div>
            <ul class="numbers" aria-label="Areas">
                <li>{ if is_pin { "At the pin:" } else { "At the peak:" } }</li>
                { for rows.iter().flat_map(|rows| rows.iter()).map(|row| key(row, props, theme)) }
            </ul>
        </div>
    }
}

/// Shows an area with its bytes; those of a group are a button that selects it.
fn key(row: &AreaRow, props: &AreaLegendProps, theme: &Theme) -> Html {
    let fill = shade::fill(row.color, props.color, theme).css();
    let content = html! {
        <>
            <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true"><rect width="18" height="10" {fill} /></svg>
            <span class="timeline-area">{ &row.label }</span><strong>{ format::bytes(row.bytes) }</strong>
        </>
    };
    let entry = match row.kind.clone() {
        None => content,
        Some(kind) => {
            let is_selected = row.is_selected;
            let onclick = props.on_kind.reform(move |_: MouseEvent| (!is_selected).then(|| kind.clone()));
            let (pressed, title) = (is_selected.to_string(), format!("Select {}", row.label));
            html! { <button type="button" class="timeline-entry" aria-pressed={pressed} {title} {onclick}>{ content }</button> }
        }
    };
    html! { <li data-area={row.label.clone()} title={row.label.clone()}>{ entry }</li> }
}
