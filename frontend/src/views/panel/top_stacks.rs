//! Panel tab for the stacks that hold the memory at a moment.

use super::own_code::OwnCodeChoice;
use super::stacks_model::{TopStack, rest, rows};
use crate::ask::stack::stack_mark;
use crate::ask::{Kind, NameMark};
use crate::components::stack_row::{RowFigures, StackRow};
use crate::hooks::use_stacks;
use crate::platform::WorkerClient;
use shared::base::{Moment, format};
use shared::report::LiveGroup;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct TopStacksProps {
    pub(super) client: WorkerClient,
    /// Position of the device.
    pub(super) device: u32,
    pub(super) moment: u32,
    /// Mark of the stack whose allocations are selected.
    pub(super) selected: Option<NameMark>,
    /// Called with a stack to select, and with `None` to select none.
    pub(super) on_kind: Callback<Option<Kind>>,
    /// Rule for the user's own code.
    pub(super) own: Rc<str>,
    pub(super) on_own: Callback<Rc<str>>,
}

/// Shows the stacks with bars, largest first; each opens to its frames.
#[component]
pub(super) fn TopStacks(props: &TopStacksProps) -> Html {
    let Some(stacks) = use_stacks(&props.client, props.device, props.moment) else {
        return html! { <p class="panel-empty">{ "Computing totals…" }</p> };
    };
    if stacks.groups.is_empty() {
        return html! { <p class="panel-empty">{ "No memory is live at this moment" }</p> };
    }
    let moment = Moment::of_event_number(stacks.event);
    let lines = rows(&stacks).into_iter().zip(&stacks.groups).enumerate();
    html! {
        <section class="top-stacks">
            <p class="panel-lead numbers">
                <strong>{ format::bytes(stacks.live_bytes) }</strong>{ format!(" live {moment}, by stack") }
            </p>
            <OwnCodeChoice own={props.own.clone()} on_own={props.on_own.clone()} />
            <ol>{ for lines.map(|(rank, (row, data))| line(props, &format!("{}/{rank}", moment.0), row, data)) }</ol>
            if let Some(rest) = rest(&stacks) { <p class="panel-empty numbers">{ rest }</p> }
        </section>
    }
}

fn line(props: &TopStacksProps, key: &str, row: TopStack, data: &LiveGroup) -> Html {
    let TopStack { label, size, share, count, bar } = row;
    let figures = RowFigures { size, note: format!("{share}, {count}"), bar };
    let mark = stack_mark(&data.frames);
    // Allocations without a stack have nothing in common.
    let on_open = (!data.frames.is_empty())
        .then(|| props.on_kind.reform(move |is_open: bool| is_open.then_some(Kind::Stack(mark))));
    let is_selected = props.selected == Some(mark) && !data.frames.is_empty();
    html! { <StackRow {key} {label} {figures} frames={Rc::new(data.frames.clone())} {is_selected} {on_open} /> }
}
