//! Figures in a row.

use frontend::components::figures_row::figure;
use frontend::view::figures::Figure;
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
    html! { <dl class="numbers-row">{ for props.figures.iter().map(|row| figure(row, "number")) }</dl> }
}
