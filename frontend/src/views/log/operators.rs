//! Operators behind a snapshot's peak, by a trace of torch.profiler of the same run.

use super::table::LogTableView;
use crate::ask::{GetOperators, Joinable};
use crate::hooks::{use_answer, use_subject};
use crate::state::LogFile;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct OperatorsProps {
    /// Name of the trace.
    pub(super) name: AttrValue,
    /// The trace.
    pub(super) file: LogFile,
}

/// Says how much of a trace the snapshot has, and which operators made what was live at the peak.
#[component]
pub(super) fn Operators(props: &OperatorsProps) -> Html {
    let (client, device) = use_subject();
    let question = (client, device, props.file.clone());
    let found = use_answer(question, |(client, device, file)| async move {
        match file.joinable.as_deref() {
            Some(Joinable::Makers(makers)) => client.ask(GetOperators { device, makers: makers.clone() }).await,
            Some(Joinable::Tracemalloc(_)) | None => Ok(None),
        }
    });
    let Some(found) = found.as_deref().and_then(Option::as_ref) else { return Html::default() };
    html! {
        <section class="log-operators" aria-label={format!("Operators of {}", props.name)}>
            <h3>{ &props.name }</h3>
            <p>{ &found.matched }</p>
            { for found.table.iter().map(|table| html! { <LogTableView table={table.clone()} /> }) }
        </section>
    }
}
