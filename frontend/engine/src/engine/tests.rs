//! Tests the engine with questions as the page asks them.

use super::*;
use frontend::ask::*;
use shared::analysis::PictureRequest;
use shared::export::{Table, TableFormat};
use shared::import::import;

const TRACE: &str = "
    alloc a 100 t=10
    alloc b 50 t=20
    free_completed a t=30
    oom 4096 free=512 t=40
    start step t=15
    end step t=40
    segment s 2KiB
    block b 512 requested=50
    block old 512 requested=7
";

#[track_caller]
fn ask<A: Ask>(question: &A) -> A::Answer
where
    Engine: Answers<A>,
{
    Engine::of(TRACE).answer(question).expect("there is an answer")
}

fn hit(x: f64, bytes: f64) -> Hit {
    let axis = Axis::Events;
    ask(&GetHit { device: 0, areas: None, axis, x, bytes, units_per_px: 0.01, is_click: false })
}

fn view() -> View {
    let request = PictureRequest { x1: 5.0, y1: 200.0, width_px: 500, height_px: 400, ..PictureRequest::default() };
    View { request, pixel_ratio: 1.0, ..View::default() }
}

#[test]
fn figures_of_the_first_device_come_first_and_findings_last() {
    let idle_first = "segment s 1KiB\ndevice 1\nalloc a 5\ndevice 2\nalloc b 5\n";
    let mut engine = Engine::of(idle_first);
    let reports: Vec<_> = std::iter::from_fn(|| engine.next_report()).collect();
    let order: Vec<_> = reports
        .iter()
        .map(|report| match report {
            Report::Figures(figures) => format!("figures of {}", figures.summary.device),
            Report::Notices(notices) => format!("notices: {}", !notices.is_empty()),
            Report::Parts(parts) => format!("parts of {}", parts.device),
            Report::Findings(_) => "findings".to_owned(),
            other => panic!("{other:?} is about something else"),
        })
        .collect();
    let figures = ["figures of 1", "figures of 0", "figures of 2", "notices: true"];
    assert_eq!(order[..4], figures);
    assert_eq!(order[4..], ["parts of 1", "parts of 0", "parts of 2", "findings"]);
}

#[test]
fn a_notice_names_its_device() {
    let two = "alloc a 5 t=1\nsegment s 1KiB\nblock a 5\ndevice 1\nalloc b 5 t=1\noom 9 free=1 t=2\nsegment s 1KiB\nblock b 5";
    let mut engine = Engine::of(two);
    assert_eq!(engine.summary.first_device(), 1);
    let notices = std::iter::from_fn(|| engine.next_report()).find_map(|report| match report {
        Report::Notices(notices) => Some(notices),
        _ => None,
    });
    let found: Vec<_> = notices.unwrap().into_iter().map(|notice| (notice.code, notice.device)).collect();
    assert_eq!(found, [("no-stacks".to_owned(), None), ("out-of-memory".to_owned(), Some(1))]);
}

#[test]
fn figures_are_those_of_the_core() {
    let Some(Report::Figures(figures)) = Engine::of(TRACE).next_report() else { panic!("figures come first") };
    assert_eq!((figures.summary.events, figures.summary.peak_live_bytes, figures.peak_moment), (4, 157, 2));
    assert_eq!((figures.summary.initial_bytes, figures.summary.end_live_bytes, figures.peak_us), (7, 57, Some(10)));
    assert_eq!((figures.end_events, figures.duration_us), (5.0, Some(30)));
}

#[test]
fn a_picture_says_what_it_is_of() {
    let data = ask(&GetPicture { device: 0, view: view(), kind: None });
    assert_eq!(data.view, Some(view()));
    assert!(data.band_count() >= 3, "a, b and the initial band");
    assert_eq!(data.live.iter().map(|step| step.bytes).fold(0.0, f64::max), 157.0);
}

#[test]
fn an_outline_is_of_the_whole_trace() {
    let data = ask(&GetOutline { device: 0, axis: Axis::Time, columns: 100 });
    assert_eq!(data.band_count(), 0);
    assert_eq!(data.reserved.first().map(|step| step.bytes), Some(2048.0));
}

#[test]
fn a_point_above_the_outline_still_has_a_moment() {
    let above = hit(2.5, 1000.0);
    assert_eq!((above.moment, above.live_bytes, above.allocation), (2, 157, None));
    let on_a = hit(2.5, 20.0).allocation.expect("a is there");
    assert_eq!((on_a.size_bytes, on_a.below_bytes, on_a.born, on_a.died), (100, 7, 1, Some(3)));
    assert_eq!((on_a.lifetime_us, on_a.is_initial), (Some(20), false));
}

#[test]
fn a_moment_has_a_place_on_both_axes() {
    let place = |axis, moment| ask(&GetPlace { device: 0, axis, moment });
    assert_eq!(place(Axis::Events, 2), 2.5);
    assert_eq!(place(Axis::Time, 2), 15.0);
    assert_eq!(place(Axis::Time, 4), 30.5, "the last moment is drawn for a microsecond");
}

fn details(allocation: u32) -> Details {
    ask(&GetDetails { device: 0, allocation })
}

#[test]
fn details_say_where_an_allocation_comes_from() {
    let old = details(0);
    assert_eq!((old.size_bytes, old.is_initial, old.died, old.born_us), (7, true, None, None));
    assert_eq!(old.stream, Some(0));
    let b = details(2);
    assert_eq!((b.size_bytes, b.born, b.born_us), (50, 2, Some(10)));
    assert_eq!(b.spans, ["step"]);
}

#[test]
fn an_allocation_is_found_by_its_key() {
    let find = |key, moment| Engine::of(TRACE).answer(&FindAllocation { device: 0, key, moment }).ok();
    for (x, bytes) in [(2.5, 20.0), (2.5, 120.0), (2.5, 3.0)] {
        let clicked = hit(x, bytes);
        let key = clicked.allocation.as_ref().expect("something is there").key();
        assert_eq!(find(key, clicked.moment), Some(clicked));
    }
    assert_eq!(find(AllocationKey::Event(1), 99).map(|hit| hit.moment), Some(4));
    for key in [AllocationKey::Event(2), AllocationKey::Event(9), AllocationKey::Initial(1), AllocationKey::Initial(99)]
    {
        assert_eq!(find(key, 1), None, "{key:?}");
    }
}

#[test]
fn a_copy_is_a_compressed_snapshot_that_shows_the_same() {
    let copy = Engine::of(TRACE).write(&WriteCopy { options: CopyOptions::default() }, &mut |_| ()).unwrap();
    let mut copy = Engine::new(import(&copy.bytes).expect("a snapshot"));
    assert_eq!(copy.next_report(), Engine::of(TRACE).next_report());
    assert_eq!(copy.answer(&GetMarks { device: 0 }), Engine::of(TRACE).answer(&GetMarks { device: 0 }));
}

#[test]
fn a_preview_counts_what_a_copy_leaves_out() {
    let preview = |options| ask(&GetCopyPreview { options });
    assert_eq!(preview(CopyOptions::default()).annotations, 0);
    assert_eq!(preview(CopyOptions { drop_annotations: true, ..CopyOptions::default() }).annotations, 2);
    let texts = preview(CopyOptions::default()).remaining;
    assert_eq!(texts[0].kind.name(), "annotation", "marks have names");
}

#[test]
fn what_is_not_there_is_refused() {
    assert!(Engine::of(TRACE).answer(&GetDetails { device: 0, allocation: 99 }).is_err());
    assert!(Engine::of(TRACE).answer(&GetMarks { device: 7 }).is_err());
}

#[test]
fn stacks_beyond_the_limit_are_summed() {
    let stacks = ask(&GetStacks { device: 0, moment: u32::MAX, limit: 0 });
    assert_eq!((stacks.event, stacks.live_bytes, stacks.groups.len()), (3, 57, 0));
    assert_eq!((stacks.other_groups, stacks.other_bytes), (1, 57));
}

#[test]
fn marks_are_spans_and_single_events() {
    let Marks { spans, marks, .. } = ask(&GetMarks { device: 0 });
    assert_eq!((spans.len(), spans[0].name.as_str(), spans[0].start_us), (1, "step", 5));
    assert_eq!((marks.len(), marks[0].moment, marks[0].size_bytes, marks[0].free_bytes), (1, 4, 4096, Some(512)));
}

pub(super) fn order(form: ExportForm) -> ExportOrder {
    ExportOrder {
        form,
        file: "ada-run.pickle".to_owned(),
        device: 0,
        moment: None,
        axis: Axis::Events,
        range: None,
        is_dark: false,
        is_clean: false,
    }
}

fn exported(order: &ExportOrder) -> Option<Vec<u8>> {
    Engine::of(TRACE).write(order, &mut |_| ()).ok().map(|file| file.bytes)
}

#[test]
fn every_form_is_written_and_a_clean_one_does_not_name_the_file() {
    let forms = [
        ExportForm::Picture,
        ExportForm::Table(Table::Stacks, TableFormat::Json),
        ExportForm::Speedscope,
        ExportForm::Perfetto,
        ExportForm::Report,
    ];
    for form in forms {
        for is_clean in [false, true] {
            let bytes = exported(&ExportOrder { is_clean, ..order(form) }).expect("a file");
            let text = String::from_utf8(bytes).expect("UTF-8");
            assert_eq!(text.contains("ada-run.pickle"), !is_clean, "{form:?}");
        }
    }
    for is_clean in [false, true] {
        let bytes = exported(&ExportOrder { is_clean, ..order(ExportForm::Pickle) }).expect("a file");
        assert_eq!(import(&bytes).expect("a snapshot").devices.len(), 1);
    }
}

#[test]
fn an_export_of_what_is_not_there_is_refused() {
    assert_eq!(exported(&ExportOrder { device: 99, ..order(ExportForm::Picture) }), None);
}

#[test]
fn a_table_is_of_the_moment_that_is_asked_for() {
    let row = |moment| {
        let table = exported(&ExportOrder { moment, ..order(ExportForm::Table(Table::Stacks, TableFormat::Csv)) })
            .expect("a table");
        String::from_utf8(table).expect("UTF-8").lines().nth(1).map(str::to_owned)
    };
    assert_eq!(row(Some(0)).as_deref(), Some("0,-1,,7,1,7,no stack recorded,"));
    assert_eq!(row(None).as_deref(), Some("0,1,,157,3,7,no stack recorded,"));
}
