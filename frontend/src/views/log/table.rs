//! Tables and other parts of the view of a log: owners of a GPU's memory, and growth over snapshots of tracemalloc.

use super::model::{Share, is_of_figures, shares};
use crate::ask::Joinable;
use crate::components::color_key;
use crate::hooks::OpenLog;
use crate::state::{FileId, LogFile, Scheme};
use crate::views::findings::item;
use logs::traced_growth;
use logs::tracemalloc::TracemallocSnapshot;
use shared::base::{Severity, ShortSort, format};
use shared::report::{Diagnosis, Finding, HOST, LogCell, LogNotice, LogOwners, LogTable, NO_DEVICE};
use std::rc::Rc;
use yew::prelude::*;

/// Shows a table, folded until the user opens it if it is long.
pub(super) fn log_table(LogTable { title, columns, rows, left_out }: &LogTable) -> Html {
    let is_right = |column: usize| is_of_figures(rows.iter().filter_map(|row| row.get(column)));
    let are_right: Vec<bool> = (0..columns.len()).map(is_right).collect();
    let class = |column: usize| (are_right.get(column) == Some(&true)).then_some("numbers");
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

pub(super) fn findings(diagnosis: &Diagnosis) -> Html {
    let device = |device: i64| {
        let name = match device {
            NO_DEVICE => return Html::default(),
            HOST => "Host".to_owned(),
            _ => format!("GPU {device}"),
        };
        html! { <span class="finding-device">{ name }</span> }
    };
    let one = |finding: &Finding| item(finding, device(finding.device), Html::default(), None);
    html! { <ol>{ for diagnosis.findings.iter().map(one) }</ol> }
}

pub(super) fn tables(tables: &[LogTable], notices: &[LogNotice]) -> Html {
    let notice = |notice: &LogNotice| {
        let class = if notice.severity == Severity::Info { "hint" } else { "" };
        html! { <li {class}>{ &notice.message }</li> }
    };
    html! {
        <>
            { for tables.iter().map(log_table) }
            if !notices.is_empty() { <ul class="log-notices">{ for notices.iter().map(notice) }</ul> }
        </>
    }
}

pub(super) fn owners_bar(owners: &LogOwners, scheme: Scheme) -> Html {
    let shares = shares(owners, scheme.theme());
    let rect = |share: &Share| {
        html! { <rect x={share.start.to_string()} width={share.width.to_string()} height="20" fill={share.color.css()} /> }
    };
    let entry = |share: &Share| {
        html! {
            <li>
                { color_key(share.color.css()) }
                { share.name.clone() }{ " " }<strong class="numbers">{ format::bytes(share.bytes) }</strong>
            </li>
        }
    };
    html! {
        <figure class="log-owner">
            <figcaption>{ &owners.title }{ " · " }{ format::bytes(owners.capacity_bytes) }{ " in all" }</figcaption>
            <svg class="log-bar" viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
                { for shares.iter().map(rect) }
            </svg>
            <ul class="log-legend">{ for shares.iter().map(entry) }</ul>
        </figure>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct TracedProps {
    pub(super) id: FileId,
    pub(super) file: LogFile,
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
    files.short_sort_by_key(|(id, _)| *id);
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
                { findings(&growth.diagnosis) }
            </section>
            { tables(&growth.tables, &growth.notices) }
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
