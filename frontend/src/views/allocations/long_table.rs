//! Table of any length; only the rows on the screen are in the document.

use crate::ask::{Column, Columns, GroupKeyData, Kind, TablePage, TableRequest};
use crate::components::{IconName, empty, icon};
use crate::draw::row_after;
use crate::hooks::{LongList, use_long_list, use_room};
use crate::views::allocations::model::{Head, Level, Line, Target, heads, lines};
use std::rc::Rc;
use web_sys::Element;
use yew::prelude::*;

const GROUP_COLUMNS: usize = 3;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct LongTableProps {
    pub(super) request: TableRequest,
    pub(super) page: Rc<TablePage>,
    pub(super) columns: Columns,
    /// Line chosen elsewhere on the page.
    pub(super) chosen: Option<Target>,
    /// Selected kind, which marks the group with the same allocations.
    pub(super) kind: Option<Kind>,
    pub(super) on_sort: Callback<Column>,
    pub(super) on_row: Callback<Target>,
    pub(super) on_open: Callback<GroupKeyData>,
    /// Called when other lines are needed, with the first row and the number of rows.
    pub(super) on_window: Callback<(u32, u32)>,
}

#[component]
pub(super) fn LongTable(props: &LongTableProps) -> Html {
    let LongTableProps { request, page, columns, .. } = props;
    let has_groups = request.by.is_some();
    let (heads, row_count) = (heads(has_groups, *columns), page.row_count);
    let lines = use_memo((page.clone(), *columns), |(page, columns)| lines(page, *columns));
    let pane = use_node_ref();
    let room_px = use_room(&pane);
    let list = use_long_list(pane, row_count, room_px);
    let active = use_state_eq(|| None::<u32>);
    // A new order is shown from its top.
    use_effect_with((request.sort, heads.len() == GROUP_COLUMNS), {
        let (list, active) = (list.clone(), active.setter());
        move |_| {
            list.scroll_to(0);
            active.set(None);
        }
    });
    let wanted = list.scrolling.wanted(list.top);
    use_effect_with((wanted, props.on_window.clone()), |(wanted, on_window)| on_window.emit(*wanted));
    let current = active.filter(|&row| row < row_count);
    let line = |row: u32| row.checked_sub(page.first).and_then(|index| lines.get(index as usize));
    let onkeydown = on_key(props, current.and_then(line), current, &list, active.setter());
    let label = if has_groups { "Groups of allocations" } else { "Allocations" };
    html! {
        <div class="table" ref={&list.pane} role="grid" tabindex="0" aria-label={label}
            aria-rowcount={(u64::from(row_count) + 1).to_string()}
            aria-activedescendant={current.map(row_id)}
            onscroll={&list.onscroll} {onkeydown}>
            <div class="table-head" role="row" aria-rowindex="1">
                { for heads.iter().map(|head| head_cell(props, *head)) }
            </div>
            <div class="table-rows" role="rowgroup">
                { for list.rows().map(|row| table_row(props, &heads, line(row), row, current)) }
                if row_count == 0 {
                    { empty(if page.all_count == 0 { "No allocations here" } else { "No allocation matches the filter" }) }
                }
            </div>
            <div ref={&list.spacer}></div>
        </div>
    }
}

fn on_key(
    props: &LongTableProps,
    line: Option<&Line>,
    current: Option<u32>,
    list: &LongList,
    active: UseStateSetter<Option<u32>>,
) -> Callback<KeyboardEvent> {
    let list = list.clone();
    let (on_row, on_open) = (props.on_row.clone(), props.on_open.clone());
    let target = line.map(|line| (line.target.clone(), line.level));
    Callback::from(move |event: KeyboardEvent| {
        // The column heads are buttons, which handle keys themselves.
        let is_button = event.target_dyn_into::<Element>().is_some_and(|target| target.tag_name() == "BUTTON");
        if is_button || event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        match (event.key().as_str(), &target) {
            ("ArrowRight" | "ArrowLeft", Some((Target::Group(key, ..), Level::Group(is_open))))
                if *is_open == (event.key() == "ArrowLeft") =>
            {
                on_open.emit(*key);
            }
            ("ArrowRight" | "ArrowLeft", Some((_, Level::Group(_) | Level::Member))) => (),
            ("Enter" | " ", Some((target, _))) => on_row.emit(target.clone()),
            (key, _) => {
                let Some(row) = row_after(key, current, &list.scrolling) else { return };
                active.set(Some(row));
                list.scroll_to(list.scrolling.first_with(row, list.top));
            }
        }
        // The timeline would pan, and the browser would scroll.
        event.prevent_default();
    })
}

fn row_id(row: u32) -> String {
    format!("table-row-{row}")
}

fn head_cell(props: &LongTableProps, head: Head) -> Html {
    let onclick = props.on_sort.reform(move |_: MouseEvent| head.column);
    let sort = props.request.sort.aria(head.column);
    html! {
        <span role="columnheader" aria-sort={sort} data-column={format!("{:?}", head.column)}>
            <button type="button" class="table-sort" title={head.hint} {onclick}>
                { head.label }
                <span class="table-arrow" aria-hidden="true">
                    { match sort { "ascending" => "↑", "descending" => "↓", _ => "" } }
                </span>
            </button>
        </span>
    }
}

fn table_row(props: &LongTableProps, heads: &[Head], line: Option<&Line>, row: u32, current: Option<u32>) -> Html {
    let Some(line) = line else {
        return html! { <div key={row} class="table-row" role="row" aria-busy="true"><span role="gridcell">{ "…" }</span></div> };
    };
    let target = line.target.clone();
    let is_of_kind = matches!(&target, Target::Group(_, _, _, kind) if props.kind.as_ref() == Some(kind));
    let is_chosen = is_of_kind || props.chosen.as_ref() == Some(&target);
    let onclick = props.on_row.reform(move |_: MouseEvent| target.clone());
    let cell = |(head, text): (&Head, &String)| {
        html! { <span class="numbers" role="gridcell" data-column={format!("{:?}", head.column)}>{ text }</span> }
    };
    let between = heads.iter().skip(1).zip(&line.cells);
    let expanded = if let Level::Group(is_open) = line.level { Some(is_open.to_string()) } else { None };
    let level = match line.level {
        Level::Plain => None,
        Level::Group(_) => Some("group"),
        Level::Member => Some("member"),
    };
    let full_text = format!("{} {}", line.title, line.detail).trim_end().to_owned();
    html! {
        <div key={row} id={row_id(row)} class="table-row" role="row" aria-rowindex={(u64::from(row) + 2).to_string()}
            aria-selected={is_chosen.to_string()} aria-expanded={expanded}
            data-level={level} data-active={(current == Some(row)).then_some("")} {onclick}>
            <span class="table-size numbers" role="gridcell" data-column="Bytes">
                { opener(props, line) }
                <span>{ &line.size }</span>
                <svg class="table-bar" height="4" aria-hidden="true">
                    <rect width={format!("{:.2}%", line.bar)} height="4" rx="2" />
                </svg>
                <span class="table-share">{ &line.share }</span>
            </span>
            { for between.map(cell) }
            <span class="table-title" role="gridcell" data-column="Title" title={full_text}>
                { &line.title }
                if !line.detail.is_empty() { <span class="table-detail">{ " " }{ &line.detail }</span> }
            </span>
        </div>
    }
}

fn opener(props: &LongTableProps, line: &Line) -> Html {
    let (Target::Group(key, title, ..), Level::Group(is_open)) = (&line.target, line.level) else {
        return Html::default();
    };
    let (key, verb) = (*key, if is_open { "Close" } else { "Open" });
    let onclick = props.on_open.reform(move |event: MouseEvent| {
        event.stop_propagation();
        key
    });
    html! {
        <button type="button" class="table-open" tabindex="-1" aria-label={format!("{verb} {title}")} {onclick}>
            { icon(if is_open { IconName::Down } else { IconName::Next }) }
        </button>
    }
}
