//! Tests that choices survive the way into an address and back.

use super::*;
use crate::ask::differences::Column as DiffColumn;
use crate::ask::site_table::SiteColumn;
use crate::ask::{Column, FilterData, GroupMark, Part, Weight};
use crate::state::{DockTab, ViewState, When};
use shared::analysis::Category;
use shared::trace::PoolId;

fn mark() -> NameMark {
    NameMark::of(["relu", "train.py"])
}

fn chosen() -> Selecting {
    let filter = FilterData {
        text: "a;b=c (größer)".to_owned(),
        is_expression: true,
        min_bytes: 1 << 20,
        min_lifetime: 10,
        stream: Some(u64::MAX),
        pool: Some(PoolId(0, 7)),
        category: Some(Category::OptimizerState),
        group: None,
    };
    let group_mark = Some(GroupMark { by: GroupBy::Module, mark: mark() });
    Selecting { when: When::View(Part::Born), filter, group_mark, ..Selecting::default() }
}

fn view(dock: impl Into<Option<DockTab>>, choices: Choices) -> ViewState {
    ViewState { dock: dock.into(), choices: Rc::new(choices), ..ViewState::default() }
}

#[track_caller]
fn check(dock: DockTab, choices: Choices, fields: &str) {
    let view = view(dock, choices);
    let text = view.to_text();
    assert_eq!(ViewState::from_text(&text), Ok(view), "{text}");
    let (_, written) = text.split_once(";dock=").expect("the dock is open");
    assert_eq!(written.split_once(';').map_or("", |(_, fields)| fields), fields);
}

#[test]
fn what_nobody_chose_is_not_in_the_address() {
    DockTab::ALL.into_iter().for_each(|dock| check(dock, Choices::default(), ""));
}

#[test]
fn a_table_of_allocations_comes_back() {
    let sort = Sort { column: Column::Lifetime, is_rising: true };
    let columns = Columns::of([Column::Born, Column::Phase]);
    let rows = RowsChoice { by: Some(GroupBy::Function), sort, columns };
    let fields = format!(
        "when=allocated;find=a%3Bb%3Dc%20%28gr%C3%B6%C3%9Fer%29;expression=1;min=1048576;life=10;stream={};pool=0:7;\
         category={};group=module:{};rows=function;sort=lifetime+;columns=allocated,phase",
        u64::MAX,
        Category::OptimizerState.name(),
        mark(),
    );
    check(DockTab::Allocations, Choices { selecting: chosen(), rows, ..Choices::default() }, &fields);
}

#[test]
fn the_chosen_event_comes_back() {
    let events = EventsChoice { event: Some(402), follows: false };
    check(DockTab::Events, Choices { events, ..Choices::default() }, "event=402;follow=0");
}

#[test]
fn stacks_come_back() {
    let controls = Controls { is_inverted: true, by_line: false, rootward: Rootward::Down, ..Controls::default() };
    let selecting = Selecting { weight: Weight::Count, ..Selecting::default() };
    let zoom = Some(Zoom { start: 1.0 / 3.0, end: 4096.0, row: 2.0 });
    let stacks = StacksChoice { controls, search: "adam".to_owned(), zoom, ..StacksChoice::default() };
    let fields = "weight=count;stacks=inverted,flames,functions;highlight=adam;zoom=0.3333333333333333..4096@2";
    check(DockTab::Flame, Choices { selecting, stacks, ..Choices::default() }, fields);
    let stacks = StacksChoice {
        controls: Controls { is_table: true, with_runtime: true, by_appearance: true, ..Controls::default() },
        site: Some(mark()),
        order: SiteOrder { column: SiteColumn::Own, is_rising: false },
        ..StacksChoice::default()
    };
    let fields = format!("stacks=table,appearance,runtime;sort=itself-;function={}", mark());
    check(DockTab::Flame, Choices { stacks, ..Choices::default() }, &fields);
}

#[test]
fn a_view_of_sources_comes_back() {
    let fields = "when=kept;find=a;min=1";
    let mut choices = Choices::default();
    choices.selecting.when = When::View(Part::BornAndKept);
    choices.selecting.filter = FilterData { text: "a".to_owned(), min_bytes: 1, ..FilterData::default() };
    check(DockTab::Source, choices, fields);
}

#[test]
fn a_map_of_segments_comes_back() {
    let segments =
        SegmentsChoice { instant: Instant::At(402), color_by: BlockColors::State, scale: 3, focus: Some((402, 17)) };
    check(DockTab::Segments, Choices { segments, ..Choices::default() }, "at=m402;blocks=state;scale=3;block=17@402");
    for (instant, word) in [(Instant::LivePeak, "at=peak"), (Instant::End, "at=end")] {
        let segments = SegmentsChoice { instant, ..SegmentsChoice::default() };
        check(DockTab::Segments, Choices { segments, ..Choices::default() }, word);
    }
}

#[test]
fn a_comparison_comes_back() {
    let compare = CompareChoice {
        this: Some(CompareSide::Step(4)),
        other: Some(CompareSide::Moment(9)),
        against: Some(Against::Device(1)),
    };
    let sort = DiffSort { column: DiffColumn::Title, is_rising: true };
    let differences = DifferencesChoice { by: DiffBy::Module, sort, filter: "adam".to_owned() };
    let fields = "this=s4;other=m9;against=1;rows=module;sort=title+;filter=adam";
    check(DockTab::Compare, Choices { compare, differences, ..Choices::default() }, fields);
    check(DockTab::Compare, Choices { are_ranks: true, ..Choices::default() }, "compare=ranks");
}

#[test]
fn another_file_is_not_in_the_address() {
    let compare = CompareChoice { against: Some(Against::OfFile(2, 0)), ..CompareChoice::default() };
    let view = view(DockTab::Compare, Choices { compare, ..Choices::default() });
    assert!(view.to_text().ends_with(";dock=compare"));
}

#[test]
fn settings_come_back() {
    let setup = WhatIfSetup {
        conf: "expandable_segments:True,max_split_size_mb:128".to_owned(),
        capacity_bytes: Some(80 << 30),
        elsewhere_bytes: 1 << 20,
    };
    let fields = "conf=expandable_segments:True,max_split_size_mb:128;card=85899345920;elsewhere=1048576";
    check(DockTab::WhatIf, Choices { what_if: Some(Rc::new(setup)), ..Choices::default() }, fields);
    let empty = Choices { what_if: Some(Rc::default()), ..Choices::default() };
    check(DockTab::WhatIf, empty, "conf=");
}

#[test]
fn only_the_open_view_is_in_the_address() {
    let text = |dock: Option<DockTab>| view(dock, Choices { selecting: chosen(), ..Choices::default() }).to_text();
    assert!(!text(None).contains("find=") && !text(Some(DockTab::Segments)).contains("find="));
}

#[test]
fn what_is_not_known_leaves_the_rest() {
    let text = "v1;dock=flame;when=never;weight=gold;stacks=upside,inverted;zoom=5..1@0;function=x;min=-1;group=stack";
    let view = ViewState::from_text(text).expect("a view");
    let controls = Controls { is_inverted: true, ..Controls::default() };
    let stacks = StacksChoice { controls, ..StacksChoice::default() };
    assert_eq!(*view.choices, Choices { stacks, ..Choices::default() });
}

#[test]
fn fields_of_another_kind_of_view_are_not_taken() {
    let long = "a".repeat(1001);
    let texts = [
        "dock=flame;stacks=table;zoom=0..1@0".to_owned(),
        format!("dock=flame;sort=itself-;function={}", mark()),
        "dock=allocations;weight=count".to_owned(),
        "dock=compare;compare=ranks;this=s4;other=m9;against=1;rows=module;sort=title+;filter=adam".to_owned(),
        format!("dock=flame;find={long};highlight={long}"),
        format!("dock=compare;filter={long}"),
    ];
    for text in texts {
        let view = ViewState::from_text(&format!("v1;{text}")).expect("a view");
        assert_eq!(ViewState::from_text(&view.to_text()), Ok(view), "{text}");
    }
}

#[test]
fn another_selection_is_another_graph() {
    let zoom = Some(Zoom { start: 0.0, end: 1.0, row: 0.0 });
    let zoomed = Choices { stacks: StacksChoice { zoom, ..StacksChoice::default() }, ..Choices::default() };
    let after = |choice: Choice| {
        let mut choices = zoomed.clone();
        choices.take(choice);
        choices.stacks.zoom
    };
    assert_eq!(after(Choice::Selecting(chosen())), None);
    assert_eq!(after(Choice::Stacks(Controls { is_inverted: true, ..Controls::default() })), None);
    assert_eq!(after(Choice::Stacks(Controls { is_table: true, ..Controls::default() })), zoom);
    assert_eq!(after(Choice::StackSearch("a".to_owned())), zoom);
}

#[test]
fn what_was_typed_can_be_told() {
    let mut choices = Choices { selecting: chosen(), ..Choices::default() };
    choices.take(Choice::StackSearch("adam".to_owned()));
    let view = |dock: Option<DockTab>| view(dock, choices.clone());
    assert_eq!(view(Some(DockTab::Flame)).typed(), ["a;b=c (größer)", "adam"]);
    assert_eq!(view(Some(DockTab::Allocations)).typed(), ["a;b=c (größer)"]);
    assert_eq!(view(Some(DockTab::Source)).typed(), ["a;b=c (größer)"]);
    assert!(view(None).typed().is_empty() && ViewState::default().typed().is_empty());
}
