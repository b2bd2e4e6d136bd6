//! Panel tab for the stacks that hold the memory at a moment.

use super::own_code::OwnCodeChoice;
use super::stacks_model::{TopStack, rest, rows};
use crate::ask::stack::stack_mark;
use crate::ask::{GetStacks, Kind, NameMark};
use crate::components::stack_view::{RowFigures, StackRow};
use crate::hooks::{FileHandle, use_asked, use_file, use_shown};
use crate::state::FileAction;
use shared::base::{Moment, format};
use shared::report::LiveGroup;
use std::rc::Rc;
use yew::prelude::*;

/// Number of stacks in the list.
const ROWS: u32 = 50;

/// Shows the stacks with bars, largest first; each opens to its frames.
#[component]
pub(super) fn TopStacks() -> Html {
    let (file, shown) = (use_file(), use_shown());
    let (device, moment) = (shown.device.device, shown.moment().0);
    let Some(stacks) = use_asked(Some(GetStacks { device, moment, limit: ROWS })) else {
        return html! { <p class="panel-empty">{ "Computing totals…" }</p> };
    };
    if stacks.groups.is_empty() {
        return html! { <p class="panel-empty">{ "No memory is live at this moment" }</p> };
    }
    let selected = shown.kind_facts().and_then(|facts| facts.stack);
    let moment = Moment::of_event_number(stacks.event);
    let lines = rows(&stacks).into_iter().zip(&stacks.groups).enumerate();
    html! {
        <section class="top-stacks">
            <p class="panel-lead numbers">
                <strong>{ format::bytes(stacks.live_bytes) }</strong>{ format!(" live {moment}, by stack") }
            </p>
            <OwnCodeChoice />
            <ol>{ for lines.map(|(rank, (row, data))| line(&file, selected, &format!("{}/{rank}", moment.0), (row, data))) }</ol>
            if let Some(rest) = rest(&stacks) { <p class="panel-empty numbers">{ rest }</p> }
        </section>
    }
}

fn line(file: &FileHandle, selected: Option<NameMark>, key: &str, (row, data): (TopStack, &LiveGroup)) -> Html {
    let TopStack { label, size, share, count, bar } = row;
    let figures = RowFigures { size, note: format!("{share}, {count}"), bar };
    let mark = stack_mark(&data.frames);
    // Allocations without a stack have nothing in common.
    let on_open = (!data.frames.is_empty())
        .then(|| file.acting(move |is_open: bool| FileAction::SelectKind(is_open.then_some(Kind::Stack(mark)))));
    let is_selected = selected == Some(mark) && !data.frames.is_empty();
    html! { <StackRow {key} {label} {figures} frames={Rc::new(data.frames.clone())} {is_selected} {on_open} /> }
}
