//! View of a log: curves of memory over time, the owners of a GPU's memory, findings and tables.

mod chart;
mod model;
mod owners;
mod table;

use self::chart::LogChart;
use self::owners::OwnersBar;
use self::table::LogTableView;
use crate::state::Scheme;
use crate::views::findings::finding_card::item;
use crate::views::findings::model::counts_of_problems;
use shared::base::Severity;
use shared::report::{HOST, LogNotice, LogReport};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct LogViewProps {
    pub name: AttrValue,
    pub report: Rc<LogReport>,
    pub scheme: Scheme,
    /// Control that shows and changes whether the file is stored for a reload.
    pub keep: Html,
}

/// Shows the report on a log.
#[component]
pub fn LogView(props: &LogViewProps) -> Html {
    let LogViewProps { name, report, scheme, keep } = props;
    let curves = use_memo(report.clone(), |report| report.curves.clone().map(Rc::new));
    let findings = &report.diagnosis.findings;
    let problems = counts_of_problems(&report.diagnosis);
    let lead = if problems.is_empty() { "No problem found".to_owned() } else { problems };
    html! {
        <main class="log">
            <header class="log-head">
                <h1>{ name }</h1>
                <p>{ &report.title }{ for report.facts.iter().map(|fact| format!("; {fact}")) }</p>
            </header>
            if let Some(curves) = &*curves { <LogChart curves={curves.clone()} scheme={*scheme} /> }
            if !report.owners.is_empty() {
                <section class="log-owners" aria-label="Memory of the GPU by owner">
                    { for report.owners.iter().map(|owners| html! { <OwnersBar owners={owners.clone()} scheme={*scheme} /> }) }
                </section>
            }
            <section class="findings log-findings" aria-label="Findings">
                <div class="findings-lead" role="status"><strong>{ lead }</strong></div>
                <ol>{ for findings.iter().map(|finding| item(finding, device(finding.device), Html::default(), true)) }</ol>
            </section>
            { for report.tables.iter().map(|table| html! { <LogTableView table={table.clone()} /> }) }
            if !report.notices.is_empty() {
                <ul class="log-notices">{ for report.notices.iter().map(notice) }</ul>
            }
            { keep.clone() }
        </main>
    }
}

fn device(device: i64) -> Html {
    let name = if device == HOST { "Host".to_owned() } else { format!("GPU {device}") };
    html! { <span class="finding-device">{ name }</span> }
}

fn notice(notice: &LogNotice) -> Html {
    let class = if notice.severity == Severity::Info { "hint" } else { "" };
    html! { <li {class}>{ &notice.message }</li> }
}
