//! Dock tab with a table of allocations or of groups of them, and a walk from match to match; only the rows on the
//! screen are in the document.

pub mod model;

use self::model::{Head, Level, Line, Target, heads, lines, match_text, optional_head, sort_for};
use super::export::SheetButtons;
use super::selection::model::{group_text, mistyped_text, share_text};
use super::selection::{ScopeBar, SelectingHandle, use_latest, use_selecting};
use crate::ask::{
    Column, Columns, Found, GetRows, GroupBy, GroupKey, Hit, Kind, ScopeData, SelectionData, SheetOf, TablePage,
    TableRequest, Walk, WalkRequest, WalkTo,
};
use crate::components::{IconName, bound, empty, icon, passing, select, square_button, waiting};
use crate::draw::row_after;
use crate::hooks::{FileHandle, LongList, Seen, use_answer, use_file, use_long_list, use_room, use_shown, use_subject};
use crate::state::{Choice, FileAction, RowsChoice, TimelineCommand};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::Element;
use yew::prelude::*;

/// Rows requested before the table has reported which ones are in view: first row and count.
const FIRST_ROWS: (u32, u32) = (0, 64);

#[derive(Clone, PartialEq, Properties)]
pub(super) struct AllocationsViewProps {
    pub(super) seen: Option<Seen>,
}

/// Last match of the walk, with the selection in which it was found.
type LastFound = Option<(SelectionData, Found)>;

#[component]
pub(super) fn AllocationsView(props: &AllocationsViewProps) -> Html {
    let (file, shown, handle) = (use_file(), use_shown(), use_selecting());
    let rows_choice = shown.ready.choices.rows;
    let RowsChoice { by, sort, columns } = rows_choice;
    let pinned = shown.ready.pinned.as_deref().and_then(allocation_of);
    let on_by = file.choosing(move |by| Choice::Rows(RowsChoice { by, ..rows_choice }));
    use_way_back(&handle, &on_by);
    let last_found = use_state_eq(|| LastFound::None);
    // The table is always about bytes, even if other views weigh by something else.
    let selection = SelectionData { weight: Default::default(), ..handle.data(props.seen) };
    let sorted = sort_for(sort, by.is_some(), columns);
    let (open, on_open) = use_open_groups(&selection, by);
    let window = use_state_eq(|| FIRST_ROWS);
    let (first, count) = *window;
    let request = TableRequest { selection: selection.clone(), by, sort: sorted, columns, open, first, count };
    let (client, device) = use_subject();
    // The previous rows stay until the new ones arrive.
    let answer = use_answer((client, device, request), |(client, device, request)| async move {
        let rows = client.ask(GetRows { device, request: request.clone() }).await?;
        Ok((request, rows.map(Rc::new)))
    });
    let rows = answer.as_deref().and_then(|(request, rows)| Some((request.clone(), rows.as_ref().ok()?.clone())));
    let rows = use_latest(rows);
    let error = answer.as_ref().and_then(|answer| answer.1.as_ref().err());
    let on_window = use_callback(window.setter(), |wanted: (u32, u32), window| window.set(wanted));
    let on_walk = on_walk(&file, shown.device.device, selection.clone(), last_found.setter());
    let on_next = on_walk.reform(move |is_back: bool| match (pinned, is_back) {
        (None, _) => Walk::First,
        (Some(allocation), false) => Walk::After(allocation),
        (Some(allocation), true) => Walk::Before(allocation),
    });
    let on_search_key = bound(on_next.clone(), move |on_next, event: KeyboardEvent| {
        if event.key() == "Enter" {
            on_next.emit(event.shift_key());
        }
    });
    let handles = (handle.clone(), on_by.clone(), file.clone());
    let on_row = bound(handles, move |(handle, on_by, file), target: Target| match target {
        Target::Allocation(allocation) => on_walk.emit(Walk::This(allocation)),
        Target::Group(key, title, mark, kind) => {
            file.act(FileAction::SelectKind(Some(kind)));
            on_by.emit(None);
            handle.choose(handle.selecting().with_group(Some((key, title, mark))));
        }
    });
    let on_sort =
        file.choosing(move |column: Column| Choice::Rows(RowsChoice { sort: sorted.after(column), ..rows_choice }));
    let counts = rows.as_ref().map(|(_, page)| (page.count, page.all_count));
    let is_now = |(of, found): &&(SelectionData, Found)| *of == selection && allocation_of(&found.hit) == pinned;
    let place = last_found.as_ref().filter(is_now).map(|(_, found)| found.position);
    let table = by.map_or("allocations".to_owned(), |kind| format!("by-{}", group_text(kind).to_lowercase()));
    let shown_request = rows.as_ref().map(|(request, _)| request.clone()).unwrap_or_default();
    let of = bound(shown_request, |request, ()| SheetOf::Allocations(request.clone()));
    html! {
        <div class="dock-view">
            <ScopeBar error={error.map(|error| AttrValue::from(mistyped_text(error)))}
                lead={grouping(by, &on_by)} matches={matches(counts, place, &on_next)} {on_search_key}>
                if by.is_none() { { column_picker(rows_choice, &file) } }
                <SheetButtons {table} {of} />
            </ScopeBar>
            if let Some((request, page)) = rows {
                <LongTable request={request.clone()} page={page.clone()} {columns} chosen={pinned.map(Target::Allocation)}
                    kind={shown.selected_kind()} {on_sort} {on_row} {on_open} {on_window} />
                <p class="table-totals numbers" role="status" aria-label="Totals"
                    data-found={request.selection.filter.text}>
                    { share_text(page.bytes, page.count, page.all_count) }
                </p>
            } else {
                { waiting("Sorting allocations…") }
            }
        </div>
    }
}

/// Returns the open groups, and a callback that opens or closes one; another selection or grouping closes all.
#[hook]
fn use_open_groups(selection: &SelectionData, by: Option<GroupBy>) -> (Vec<GroupKey>, Callback<GroupKey>) {
    let open = use_state_eq(|| (None, Vec::<GroupKey>::new()));
    let of = Some((selection.clone(), by));
    let now = if open.0 == of { open.1.clone() } else { Vec::new() };
    let on_open = bound((now.clone(), open.setter()), move |(now, open), key: GroupKey| {
        let mut next = now.clone();
        match next.iter().position(|&one| one == key) {
            Some(position) => drop(next.remove(position)),
            None => next.push(key),
        }
        open.set((of.clone(), next));
    });
    (now, on_open)
}

fn column_picker(choice: RowsChoice, file: &FileHandle) -> Html {
    let entry = |column: Column| {
        let toggled = RowsChoice { columns: choice.columns.toggled(column), ..choice };
        let onchange = file.choosing(move |_: Event| Choice::Rows(toggled));
        let head = optional_head(column);
        html! {
            <label class="check" title={head.hint}>
                <input type="checkbox" checked={choice.columns.has(column)} {onchange} />{ head.label }
            </label>
        }
    };
    html! {
        <details class="column-picker">
            <summary class="button">{ "Columns" }</summary>
            <fieldset class="column-list" aria-label="Columns">{ for Columns::ALL.map(entry) }</fieldset>
        </details>
    }
}

/// Returns to the groups when the selection stops being limited to one group.
#[hook]
fn use_way_back(handle: &SelectingHandle, on_by: &Callback<Option<GroupBy>>) {
    let group = handle.selecting().group_mark.map(|group| group.by);
    let before = use_mut_ref(|| None::<GroupBy>);
    let on_by = on_by.clone();
    use_effect_with(group, move |group| {
        let left = before.replace(*group);
        if let (Some(kind), None) = (left, *group) {
            on_by.emit(Some(kind));
        }
    });
}

fn grouping(by: Option<GroupBy>, on_by: &Callback<Option<GroupBy>>) -> Html {
    let groups = GroupBy::ALL.iter().map(|&kind| format!("By {}", group_text(kind).to_lowercase()));
    let options: Vec<AttrValue> =
        std::iter::once("Allocations".to_owned()).chain(groups).map(AttrValue::from).collect();
    let chosen = GroupBy::ALL.iter().position(|&kind| Some(kind) == by).map_or(0, |position| position + 1);
    let on_choose = on_by.reform(move |index: usize| index.checked_sub(1).map(|index| GroupBy::ALL[index]));
    select("Rows", &options, chosen, &on_choose)
}

/// Shows the number of matches, and the buttons for the previous and next match.
fn matches(counts: Option<(u64, u64)>, place: Option<u32>, on_next: &Callback<bool>) -> Html {
    let is_empty = counts.is_none_or(|(count, _)| count == 0);
    let text = counts.map(|(count, all_count)| match_text(place, count, all_count));
    let button = |label: &'static str, title: &'static str, name: IconName, is_back: bool| {
        let onclick = passing(on_next, is_back);
        square_button(name, label, title, (!is_empty).then_some(onclick))
    };
    html! {
        <span class="scope-matches">
            <span class="numbers" role="status">{ text.unwrap_or_default() }</span>
            { button("Previous match", "Previous match (Shift+Enter)", IconName::Up, true) }
            { button("Next match", "Next match (Enter)", IconName::Down, false) }
        </span>
    }
}

fn allocation_of(hit: &Hit) -> Option<u32> {
    hit.allocation.as_ref().map(|found| found.allocation)
}

/// Pins an allocation of the selection and shows it in the timeline.
fn on_walk(
    file: &FileHandle,
    device: u32,
    selection: SelectionData,
    last_found: UseStateSetter<LastFound>,
) -> Callback<Walk> {
    let file = file.clone();
    Callback::from(move |to: Walk| {
        let (file, selection, last_found) = (file.clone(), selection.clone(), last_found.clone());
        spawn_local(async move {
            let request = WalkRequest { selection: selection.clone(), to };
            // An error means that the file was closed, or an invalid search text, which the table shows.
            let Ok(Ok(Some(found))) = file.client.ask(WalkTo { device, request }).await else { return };
            let moment = found.hit.moment;
            file.act(FileAction::Pin(Some(found.hit.clone())));
            // In other scopes the allocation is in view already, and moving the view would change the scope.
            if matches!(selection.scope, ScopeData::At(_)) {
                file.command(TimelineCommand::JumpTo { moment });
            }
            last_found.set(Some((selection, found)));
        });
    })
}

const GROUP_COLUMNS: usize = 3;

#[derive(Clone, PartialEq, Properties)]
struct LongTableProps {
    request: TableRequest,
    page: Rc<TablePage>,
    columns: Columns,
    /// Line chosen elsewhere on the page.
    chosen: Option<Target>,
    /// Selected kind, which marks the group with the same allocations.
    kind: Option<Kind>,
    on_sort: Callback<Column>,
    on_row: Callback<Target>,
    on_open: Callback<GroupKey>,
    /// Called when other lines are needed, with the first row and the number of rows.
    on_window: Callback<(u32, u32)>,
}

#[component]
fn LongTable(props: &LongTableProps) -> Html {
    let LongTableProps { request, page, columns, .. } = props;
    let has_groups = request.by.is_some();
    let (heads, row_count) = (heads(has_groups, *columns), page.row_count);
    let lines = use_memo((page.clone(), *columns), |(page, columns)| lines(page, *columns));
    let pane = use_node_ref();
    let room_px = use_room(&pane);
    let list = use_long_list(pane, row_count, room_px);
    let active = use_state_eq(|| None::<u32>);
    // A new order is shown from its top.
    let (from_top, inactive) = (list.clone(), active.setter());
    use_effect_with((request.sort, heads.len() == GROUP_COLUMNS), move |_| {
        from_top.scroll_to(0);
        inactive.set(None);
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
    let onclick = passing(&props.on_sort, head.column);
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
    let onclick = passing(&props.on_row, target);
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
