//! Growth over snapshots of tracemalloc that are open together.

use super::items::{device, notice};
use super::table::LogTableView;
use crate::ask::Joinable;
use crate::hooks::OpenLog;
use crate::state::{FileId, LogFile};
use crate::views::findings::finding_card::item;
use shared::logs::traced_growth;
use shared::logs::tracemalloc::TracemallocSnapshot;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct TracedProps {
    /// File that is shown.
    pub(super) id: FileId,
    pub(super) file: LogFile,
    /// Other open logs.
    pub(super) logs: Vec<OpenLog>,
}

/// Compares the open snapshots of tracemalloc in the order in which they were opened; shows nothing with fewer than two.
#[component]
pub(super) fn Traced(props: &TracedProps) -> Html {
    let others = props.logs.iter().map(|log| (log.id, log.file.joinable.clone()));
    let mut files: Vec<(FileId, Rc<Joinable>)> = others
        .chain([(props.id, props.file.joinable.clone())])
        .filter_map(|(id, joinable)| joinable.map(|joinable| (id, joinable)))
        .collect();
    files.sort_by_key(|(id, _)| *id);
    let is_one = matches!(props.file.joinable.as_deref(), Some(Joinable::Tracemalloc(_)));
    // A file keeps its content, so that the ids tell whether anything changed.
    let ids: Vec<FileId> = files.iter().map(|(id, _)| *id).collect();
    let growth = use_memo((is_one, ids), |(is_one, _)| {
        let snapshots: Vec<&TracemallocSnapshot> =
            files.iter().filter(|_| *is_one).filter_map(|(_, file)| comparable(file)).collect();
        traced_growth(&snapshots)
    });
    let Some(growth) = &*growth else { return Html::default() };
    html! {
        <>
            <section class="findings log-findings" aria-label="Growth between the snapshots">
                <div class="findings-lead"><strong>{ &growth.title }</strong></div>
                <ol>{
                    for growth.diagnosis.findings.iter().map(|finding| {
                        item(finding, device(finding.device), Html::default(), None)
                    })
                }</ol>
            </section>
            { for growth.tables.iter().map(|table| html! { <LogTableView table={table.clone()} /> }) }
            if !growth.notices.is_empty() {
                <ul class="log-notices">{ for growth.notices.iter().map(notice) }</ul>
            }
        </>
    }
}

/// Returns the snapshot if all of it could be read.
fn comparable(file: &Joinable) -> Option<&TracemallocSnapshot> {
    match file {
        Joinable::Tracemalloc(snapshot) if snapshot.flaw.is_none() => Some(snapshot),
        Joinable::Tracemalloc(_) | Joinable::Makers(_) => None,
    }
}
