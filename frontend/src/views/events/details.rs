//! The chosen event: its facts, its stack, and the way to its allocation.

use super::model::{facts, row};
use crate::ask::EventDetails;
use crate::components::icon::{Icon, IconName};
use crate::components::stack_view::StackView;
use crate::hooks::use_file;
use crate::state::FileAction;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct EventCardProps {
    pub(super) details: Rc<EventDetails>,
}

/// Shows one event.
#[component]
pub(super) fn EventCard(props: &EventCardProps) -> Html {
    let file = use_file();
    let EventDetails { report, hit } = &*props.details;
    let row = row(&report.line);
    let title = format!("Event {}: {}", row.cells[0], row.action);
    let onclick = {
        let hit = hit.clone();
        file.acting(move |_: MouseEvent| FileAction::Pin(hit.clone()))
    };
    html! {
        <article class="event-card" aria-label={title.clone()} data-event={report.line.event.to_string()}>
            <header class="event-head">
                <h3>{ title }</h3>
                if hit.is_some() {
                    <button type="button" class="button" {onclick}>
                        <Icon name={IconName::Pin} />{ "Pin its allocation" }
                    </button>
                }
            </header>
            <dl class="facts">
                { for facts(report).into_iter().map(|(name, value)| html! {
                    <div class="fact"><dt>{ name }</dt><dd class="numbers">{ value }</dd></div>
                }) }
            </dl>
            if report.frames.is_empty() {
                <p class="panel-empty">{ "No stack was recorded for this event" }</p>
            } else {
                <StackView title="Stack" frames={Rc::new(report.frames.clone())} />
            }
        </article>
    }
}
