//! Dock tab with a table of allocations or of groups of them, and a walk from match to match.

mod long_table;
pub mod model;

use self::long_table::LongTable;
use self::model::{Target, match_text, optional_head, sort_for};
use super::export::picture::SheetButtons;
use super::selection::model::{group_text, mistyped_text, share_text};
use super::selection::{ScopeBar, SelectingHandle, use_latest, use_selecting};
use crate::ask::{
    Column, Columns, Found, GetRows, GroupBy, GroupKeyData, Hit, Kind, ScopeData, SelectionData, SheetOf, TablePage,
    TableRequest, Walk, WalkRequest, WalkTo,
};
use crate::components::{IconName, select, square_button, waiting};
use crate::hooks::{FileHandle, Seen, use_answer, use_file, use_shown, use_subject};
use crate::state::{Choice, FileAction, RowsChoice, TimelineCommand};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
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
    let rows = use_table(&selection, RowsChoice { sort: sorted, ..rows_choice }, open);
    let on_walk = on_walk(&file, shown.device.device, selection.clone(), last_found.setter());
    let on_next = on_walk.reform(move |is_back: bool| match (pinned, is_back) {
        (None, _) => Walk::First,
        (Some(allocation), false) => Walk::After(allocation),
        (Some(allocation), true) => Walk::Before(allocation),
    });
    let on_search_key = {
        let on_next = on_next.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Enter" {
                on_next.emit(event.shift_key());
            }
        })
    };
    let on_row = {
        let (handle, on_by, file) = (handle.clone(), on_by.clone(), file.clone());
        Callback::from(move |target: Target| match target {
            Target::Allocation(allocation) => on_walk.emit(Walk::This(allocation)),
            Target::Group(key, title, mark, kind) => {
                file.act(FileAction::SelectKind(Some(kind)));
                on_by.emit(None);
                handle.choose(handle.selecting().with_group(Some((key, title, mark))));
            }
        })
    };
    let on_sort =
        file.choosing(move |column: Column| Choice::Rows(RowsChoice { sort: sorted.after(column), ..rows_choice }));
    let counts = rows.page.as_ref().map(|page| (page.count, page.all_count));
    let is_now = |(of, found): &&(SelectionData, Found)| *of == selection && allocation_of(&found.hit) == pinned;
    let place = last_found.as_ref().filter(is_now).map(|(_, found)| found.position);
    let of = {
        let request = rows.request.clone();
        move |()| SheetOf::Allocations(request.clone())
    };
    html! {
        <div class="dock-view">
            <ScopeBar error={rows.error.as_deref().map(|error| AttrValue::from(mistyped_text(error)))}
                lead={grouping(by, &on_by)} matches={matches(counts, place, &on_next)} {on_search_key}>
                if by.is_none() { { column_picker(rows_choice, &file) } }
                <SheetButtons table={table_name(by)} {of} />
            </ScopeBar>
            { table(&rows, (pinned, shown.selected_kind()), on_sort, on_row, on_open) }
        </div>
    }
}

struct Rows {
    request: TableRequest,
    page: Option<Rc<TablePage>>,
    columns: Columns,
    /// Error in the search text; while it is set, the table shows the previous result.
    error: Option<String>,
    on_window: Callback<(u32, u32)>,
}

#[hook]
fn use_table(selection: &SelectionData, choice: RowsChoice, open: Vec<GroupKeyData>) -> Rows {
    let window = use_state_eq(|| FIRST_ROWS);
    let ((first, count), RowsChoice { by, sort, columns }) = (*window, choice);
    let request = TableRequest { selection: selection.clone(), by, sort, columns, open, first, count };
    let (client, device) = use_subject();
    // The previous rows stay until the new ones arrive.
    let answer = use_answer((client, device, request), |(client, device, request)| async move {
        let rows = client.ask(GetRows { device, request: request.clone() }).await?;
        Ok((request, rows.map(Rc::new)))
    });
    let read = answer.as_deref().and_then(|(request, rows)| Some((request.clone(), rows.as_ref().ok()?.clone())));
    let (request, page) = use_latest(read).unzip();
    let error = answer.and_then(|answer| answer.1.as_ref().err().cloned());
    let on_window = use_callback(window.setter(), |wanted: (u32, u32), window| window.set(wanted));
    Rows { request: request.unwrap_or_default(), page, columns, error, on_window }
}

/// Returns the open groups, and a callback that opens or closes one; another selection or grouping closes all.
#[hook]
fn use_open_groups(selection: &SelectionData, by: Option<GroupBy>) -> (Vec<GroupKeyData>, Callback<GroupKeyData>) {
    let open = use_state_eq(|| (None, Vec::<GroupKeyData>::new()));
    let of = Some((selection.clone(), by));
    let now = if open.0 == of { open.1.clone() } else { Vec::new() };
    let on_open = {
        let (now, open) = (now.clone(), open.setter());
        Callback::from(move |key: GroupKeyData| {
            let mut next = now.clone();
            match next.iter().position(|&one| one == key) {
                Some(position) => drop(next.remove(position)),
                None => next.push(key),
            }
            open.set((of.clone(), next));
        })
    };
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

fn table_name(by: Option<GroupBy>) -> String {
    match by {
        None => "allocations".to_owned(),
        Some(kind) => format!("by-{}", group_text(kind).to_lowercase()),
    }
}

/// Shows the number of matches, and the buttons for the previous and next match.
fn matches(counts: Option<(u64, u64)>, place: Option<u32>, on_next: &Callback<bool>) -> Html {
    let is_empty = counts.is_none_or(|(count, _)| count == 0);
    let text = counts.map(|(count, all_count)| match_text(place, count, all_count));
    let button = |label: &'static str, title: &'static str, name: IconName, is_back: bool| {
        let onclick = on_next.reform(move |_: MouseEvent| is_back);
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

fn table(
    rows: &Rows,
    (pinned, kind): (Option<u32>, Option<Kind>),
    on_sort: Callback<Column>,
    on_row: Callback<Target>,
    on_open: Callback<GroupKeyData>,
) -> Html {
    let Some(page) = &rows.page else { return waiting("Sorting allocations…") };
    let totals = share_text(page.bytes, page.count, page.all_count);
    let Rows { request, columns, on_window, .. } = rows;
    html! {
        <>
            <LongTable request={request.clone()} page={page.clone()} columns={*columns} chosen={pinned.map(Target::Allocation)} {kind}
                {on_sort} {on_row} {on_open} {on_window} />
            <p class="table-totals numbers" role="status" aria-label="Totals"
                data-found={request.selection.filter.text.clone()}>{ totals }</p>
        </>
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
