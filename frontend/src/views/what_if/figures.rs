//! Table of the recording's and the replay's figures.

use super::model::{FigureRow, Verdict, figure_rows};
use crate::ask::ReplayData;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FigureTableProps {
    /// Result of the replay, with the recording to compare with.
    pub(super) data: ReplayData,
}

/// Shows the figures of the recording next to those of the replay.
#[component]
pub(super) fn FigureTable(props: &FigureTableProps) -> Html {
    html! {
        <table class="what-if-table" aria-label="Recorded and replayed">
            <thead>
                <tr>
                    <th scope="col"><span class="visually-hidden">{ "Figure" }</span></th>
                    <th scope="col">{ "Recorded" }</th>
                    <th scope="col">{ "Replayed" }</th>
                    <th scope="col"><span class="visually-hidden">{ "Comparison" }</span></th>
                </tr>
            </thead>
            <tbody>{ for figure_rows(&props.data).into_iter().map(row) }</tbody>
        </table>
    }
}

fn row(row: FigureRow) -> Html {
    let verdict = match row.verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same | Verdict::Unknown => "same",
    };
    html! {
        <tr>
            <th scope="row" title={row.explanation}>{ row.label }</th>
            <td class="numbers">{ row.recorded }</td>
            <td class="numbers">{ row.replayed }</td>
            <td class={classes!("what-if-verdict", verdict)}>{ row.verdict.word() }</td>
        </tr>
    }
}
