//! Bar of the selected kind of allocations: its name, its totals, steps through it, and other views of it.

pub mod model;

use self::model::{selecting_of, totals_text};
use crate::ask::KindFacts;
use crate::components::{IconName, square_button};
use crate::hooks::{FileHandle, ShownFile, use_file, use_shown};
use crate::state::{Choice, DockTab, FileAction, TimelineCommand};
use yew::prelude::*;

#[component]
pub fn KindBar() -> Html {
    let (file, shown) = (use_file(), use_shown());
    let on_leave = file.clicked(FileAction::SelectKind(None));
    let body = match shown.kind_facts.as_deref() {
        None => html! { <span class="kind-totals">{ "Selecting…" }</span> },
        Some(Err(message)) => html! { <span class="kind-totals">{ message }</span> },
        Some(Ok(facts)) => known(&file, &shown, facts),
    };
    html! {
        <div class="kind-bar" role="group" aria-label="Selected allocations" data-kind="">
            { body }
            { square_button(IconName::Close, "Clear selection", "Clear the selection (Esc)", Some(on_leave)) }
        </div>
    }
}

fn known(file: &FileHandle, shown: &ShownFile, facts: &KindFacts) -> Html {
    let step = |is_back: bool, name: IconName, label: &'static str, title: &'static str| {
        let onclick = file.commanded(TimelineCommand::StepKind { is_back });
        square_button(name, label, title, Some(onclick))
    };
    let [previous, next] = ["Previous allocation of the selection", "Next allocation of the selection"];
    let name = format!("{} {}", facts.title, facts.detail);
    html! {
        <>
            <span class="kind-name" title={name.trim_end().to_owned()}>
                <strong>{ &facts.title }</strong>
                if !facts.detail.is_empty() { <span class="kind-detail">{ " " }{ &facts.detail }</span> }
            </span>
            <span class="kind-totals numbers" role="status">{ totals_text(facts, shown.moment().1) }</span>
            if facts.count > 0 {
                <span class="kind-steps">
                    { step(true, IconName::Previous, previous, "Previous allocation of the selection (Shift+N)") }
                    { step(false, IconName::Next, next, "Next allocation of the selection (N)") }
                </span>
                { views(file, shown, facts) }
            }
        </>
    }
}

/// Shows buttons that limit the table and the flame graph to the kind.
fn views(file: &FileHandle, shown: &ShownFile, facts: &KindFacts) -> Html {
    let Some(selecting) = selecting_of(facts, &shown.ready.choices.selecting) else { return Html::default() };
    let button = |label: &'static str, title: &'static str, tab: DockTab| {
        let (file, selecting) = (file.clone(), selecting.clone());
        let onclick = move |_: MouseEvent| {
            file.choose(Choice::Selecting(selecting.clone()));
            if tab == DockTab::Allocations {
                file.choose(Choice::Rows(Default::default()));
            }
            file.act(FileAction::ChooseDock(Some(tab)));
        };
        html! { <button type="button" class="button quiet" {title} {onclick}>{ label }</button> }
    };
    html! {
        <>
            { button("Table", "Show these allocations in the table", DockTab::Allocations) }
            { button("Flame graph", "Show these allocations in the flame graph", DockTab::Flame) }
        </>
    }
}
