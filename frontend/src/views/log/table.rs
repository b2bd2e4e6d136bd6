//! Table of a log.

use super::model::is_of_figures;
use shared::base::format;
use shared::report::{LogCell, LogTable};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct LogTableViewProps {
    pub(super) table: LogTable,
}

/// Shows a table, folded until the user opens it if it is long.
#[component]
pub(super) fn LogTableView(props: &LogTableViewProps) -> Html {
    let LogTable { title, columns, rows, left_out } = &props.table;
    let is_right = |column: usize| is_of_figures(rows.iter().filter_map(|row| row.get(column)));
    let class = |column: usize| is_right(column).then_some("numbers");
    let data = |(column, value): (usize, &LogCell)| html! { <td class={classes!(class(column))}>{ value.text() }</td> };
    html! {
        <details class="log-table" open={rows.len() <= 12}>
            <summary>{ title }{ " " }<span class="hint">{ format::count(rows.len() as u64 + left_out) }</span></summary>
            <div class="log-scroll" tabindex="0" role="region" aria-label={title.clone()}>
                <table>
                    <thead><tr>
                        { for columns.iter().enumerate().map(|(column, name)| html! {
                            <th scope="col" class={classes!(class(column))}>{ name }</th>
                        }) }
                    </tr></thead>
                    <tbody>{ for rows.iter().map(|row| html! { <tr>{ for row.iter().enumerate().map(data) }</tr> }) }</tbody>
                </table>
            </div>
            if *left_out > 0 { <p class="hint">{ format!("{} are not listed", format::counted(*left_out, "more row")) }</p> }
        </details>
    }
}
