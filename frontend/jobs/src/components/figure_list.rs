//! Figures in a row.

use frontend::view::figures::{Emphasis, Figure};
use yew::prelude::*;

/// What a [`FigureList`] shows.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct FigureListProps {
    /// The figures.
    pub figures: Vec<Figure>,
}

/// Figures with their names; the explanation of each is its tooltip.
#[component]
pub(crate) fn FigureList(props: &FigureListProps) -> Html {
    html! { <dl class="numbers-row">{ for props.figures.iter().map(figure) }</dl> }
}

fn figure(figure: &Figure) -> Html {
    let emphasis = match figure.emphasis {
        Emphasis::Live => "live",
        Emphasis::Reserved => "reserved",
        Emphasis::Plain => "plain",
        Emphasis::Error => "error",
    };
    html! {
        <div class={classes!("number", emphasis)} title={figure.explanation}>
            <dt>{ figure.label }</dt>
            <dd class="number-value numbers">{ &figure.value }</dd>
            if !figure.note.is_empty() {
                <dd class="number-note numbers">{ &figure.note }</dd>
            }
        </div>
    }
}
