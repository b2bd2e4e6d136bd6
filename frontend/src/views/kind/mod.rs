//! Bar of the selected kind of allocations: its name, its totals, steps through it, and other views of it.

pub mod hook;
pub mod model;

use self::model::{selecting_of, totals_text};
use crate::ask::{KindFacts, Readable};
use crate::components::icon::{Icon, IconName};
use crate::state::{Choice, DockTab, FileAction, Selecting, TimelineCommand};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct KindBarProps {
    /// Totals of the kind; `None` until they are known.
    pub facts: Option<Rc<Readable<KindFacts>>>,
    /// True if the totals are those of the pin's moment instead of the peak.
    pub is_at_pin: bool,
    /// Selection of the views below the timeline.
    pub selecting: Selecting,
    pub on_action: Callback<FileAction>,
    /// Called with a command that steps through the kind.
    pub on_command: Callback<TimelineCommand>,
}

/// Shows the bar in one line; the name is cut if there is no room.
#[component]
pub fn KindBar(props: &KindBarProps) -> Html {
    let on_leave = props.on_action.reform(|_: MouseEvent| FileAction::SelectKind(None));
    let body = match props.facts.as_deref() {
        None => html! { <span class="kind-totals">{ "Selecting…" }</span> },
        Some(Err(message)) => html! { <span class="kind-totals">{ message }</span> },
        Some(Ok(facts)) => known(props, facts),
    };
    html! {
        <div class="kind-bar" role="group" aria-label="Selected allocations" data-kind="">
            { body }
            <button type="button" class="button quiet square" aria-label="Clear selection" title="Clear the selection (Esc)"
                onclick={on_leave}><Icon name={IconName::Close} /></button>
        </div>
    }
}

fn known(props: &KindBarProps, facts: &KindFacts) -> Html {
    let step = |is_back: bool| props.on_command.reform(move |_: MouseEvent| TimelineCommand::StepKind { is_back });
    let name = format!("{} {}", facts.title, facts.detail);
    html! {
        <>
            <span class="kind-name" title={name.trim_end().to_owned()}>
                <strong>{ &facts.title }</strong>
                if !facts.detail.is_empty() { <span class="kind-detail">{ " " }{ &facts.detail }</span> }
            </span>
            <span class="kind-totals numbers" role="status">{ totals_text(facts, props.is_at_pin) }</span>
            if facts.count > 0 {
                <span class="kind-steps">
                    <button type="button" class="button quiet square" aria-label="Previous allocation of the selection"
                        title="Previous allocation of the selection (Shift+N)" onclick={step(true)}>
                        <Icon name={IconName::Previous} /></button>
                    <button type="button" class="button quiet square" aria-label="Next allocation of the selection"
                        title="Next allocation of the selection (N)" onclick={step(false)}>
                        <Icon name={IconName::Next} /></button>
                </span>
                { views(props, facts) }
            }
        </>
    }
}

/// Shows buttons that limit the table and the flame graph to the kind.
fn views(props: &KindBarProps, facts: &KindFacts) -> Html {
    let Some(selecting) = selecting_of(facts, &props.selecting) else { return Html::default() };
    let button = |label: &'static str, title: &'static str, tab: DockTab| {
        let (on_action, selecting) = (props.on_action.clone(), selecting.clone());
        let onclick = move |_: MouseEvent| {
            on_action.emit(FileAction::Choose(Choice::Selecting(selecting.clone())));
            if tab == DockTab::Allocations {
                on_action.emit(FileAction::Choose(Choice::Rows(Default::default())));
            }
            on_action.emit(FileAction::ChooseDock(Some(tab)));
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
