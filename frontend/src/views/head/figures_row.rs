//! Row of figures of the shown device.

use super::figures_model::{Emphasis, Figure, figures};
use crate::hooks::use_shown;
use yew::prelude::*;

/// Shows figures with their names; the explanation of each is its tooltip.
#[component]
pub fn FiguresRow() -> Html {
    let shown = use_shown();
    html! { <dl class="figures" data-figures="">{ for figures(&shown.device).iter().map(|row| figure(row, "figure")) }</dl> }
}

/// Returns a figure with its name; `class` is the CSS class and the prefix of those of its parts.
pub fn figure(figure: &Figure, class: &'static str) -> Html {
    let emphasis = match figure.emphasis {
        Emphasis::Live => "live",
        Emphasis::Reserved => "reserved",
        Emphasis::Plain => "plain",
        Emphasis::Error => "error",
    };
    html! {
        <div class={classes!(class, emphasis)} title={figure.explanation}>
            <dt>{ figure.label }</dt>
            <dd class={classes!(format!("{class}-value"), "numbers")}>{ &figure.value }</dd>
            if !figure.note.is_empty() {
                <dd class={classes!(format!("{class}-note"), "numbers")}>{ &figure.note }</dd>
            }
        </div>
    }
}
