//! The figures of the shown device.

use crate::view::figures::{Emphasis, Figure, figures};
use crate::worker::DeviceFigures;
use std::rc::Rc;
use yew::prelude::*;

/// What the [`FiguresRow`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct FiguresRowProps {
    /// The device.
    pub device: Rc<DeviceFigures>,
}

/// Figures with their names; the explanation of each is its tooltip.
#[component]
pub fn FiguresRow(props: &FiguresRowProps) -> Html {
    html! { <dl class="figures">{ for figures(&props.device).iter().map(|row| figure(row, "figure")) }</dl> }
}

/// A figure with its name; `class` is what it is called in the page's style.
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
