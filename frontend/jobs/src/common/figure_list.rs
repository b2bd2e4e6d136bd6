//! Row of labelled figures.

use frontend::views::head::figures::figure;
use frontend::views::head::model::Figure;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct FigureListProps {
    pub figures: Vec<Figure>,
}

/// Shows figures with their names; the explanation of each is its tooltip.
#[component]
pub(crate) fn FigureList(props: &FigureListProps) -> Html {
    html! { <dl class="numbers-row" data-figures="">{ for props.figures.iter().map(|row| figure(row, "number")) }</dl> }
}
