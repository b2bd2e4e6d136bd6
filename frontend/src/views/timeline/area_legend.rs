//! Legend of areas: the property by which they are formed, and the bytes of each at a moment.

use super::categories::when;
use crate::ask::{AreaRow, ColorBy, GetAreas, area_by};
use crate::draw::shade;
use crate::hooks::{FileHandle, use_asked, use_file, use_shown};
use crate::state::FileAction;
use shared::base::format;
use yew::prelude::*;

/// Colourings with areas, and their names in the choice.
const CHOICES: [(ColorBy, &str); 3] =
    [(ColorBy::AreaCategory, "category"), (ColorBy::AreaModule, "module"), (ColorBy::AreaFunction, "own function")];

/// Shows the choice of property, and a key for each area.
#[component]
pub(super) fn AreaLegend() -> Html {
    let (file, shown) = (use_file(), use_shown());
    let (device, moment, shown_color) = (shown.device.device, shown.moment().0, shown.ready.color);
    let (by, selected) = (area_by(shown_color).unwrap_or_default(), shown.ready.kind.as_deref().cloned());
    let rows = use_asked(Some(GetAreas { device, by, moment, selected }));
    let choice = |(color, label): (ColorBy, &'static str)| {
        let onclick = file.acting(move |_: MouseEvent| FileAction::ChooseColor(color));
        html! {
            <button type="button" aria-pressed={(color == shown_color).to_string()} {onclick}>{ label }</button>
        }
    };
    html! {
        <div class="timeline-categories">
            <div class="segmented" role="group" aria-label="Areas by">{ for CHOICES.map(choice) }</div>
            <ul class="numbers" aria-label="Areas">
                <li>{ when(shown.moment().1) }</li>
                { for rows.iter().flat_map(|rows| rows.iter()).map(|row| key(row, &file, shown_color)) }
            </ul>
        </div>
    }
}

/// Shows an area with its bytes; those of a group are a button that selects it.
fn key(row: &AreaRow, file: &FileHandle, color: ColorBy) -> Html {
    let fill = shade::fill(row.color, color, file.scheme.theme()).css();
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
            let onclick =
                file.acting(move |_: MouseEvent| FileAction::SelectKind((!is_selected).then(|| kind.clone())));
            let (pressed, title) = (is_selected.to_string(), format!("Select {}", row.label));
            html! { <button type="button" class="timeline-entry" aria-pressed={pressed} {title} {onclick}>{ content }</button> }
        }
    };
    html! { <li data-area={row.label.clone()} title={row.label.clone()}>{ entry }</li> }
}
