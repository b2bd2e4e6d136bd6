//! Tests of actions on open files.

use super::*;
use crate::ask::{AllocationKey, DeviceFigures, DeviceOutline, Parts, PreviewData, PreviewDevice, Remedy, WhatIfSetup};
use crate::draw::camera::View;
use crate::draw::span::Span;
use crate::state::ViewState;
use crate::state::choices::Choices;
use crate::state::view_state::PinKey;
use shared::import::ImportError;
use shared::report::{Diagnosis, Growth};

fn add(id: FileId) -> FileAction {
    add_at(id, Start::default())
}

fn add_at(id: FileId, start: Start) -> FileAction {
    add_file(OpenFile { id, name: "a.pickle".into(), batch: id, start, ..OpenFile::default() })
}

pub(super) fn add_file(file: OpenFile) -> FileAction {
    FileAction::Add(Box::new(file))
}

pub(super) fn hear(id: FileId, report: Report) -> FileAction {
    FileAction::Hear { id, report: Box::new(report), now_ms: 20.0 }
}

pub(super) fn opened_as(id: FileId, devices: Vec<DeviceOutline>) -> FileAction {
    hear(id, Report::Opened(Box::new(FileSummary { devices, ..FileSummary::default() })))
}

pub(super) fn failed(message: &str) -> Report {
    Report::Failed(Failure { message: message.to_owned(), offset: Some(3), ..Failure::default() })
}

fn opened(events: &[u64]) -> Report {
    let outline = |(index, &events)| DeviceOutline { index, events, ..DeviceOutline::default() };
    let devices = (0..).zip(events).map(outline).collect();
    Report::Opened(Box::new(FileSummary { devices, ..FileSummary::default() }))
}

pub(super) fn after(actions: impl IntoIterator<Item = FileAction>) -> Files {
    actions.into_iter().fold(Files::default(), |files, action| files.after(action))
}

#[track_caller]
pub(super) fn ready(files: &Files) -> &ReadyFile {
    match &files.shown_file().expect("a file is shown").status {
        FileStatus::Ready(ready) => ready,
        other => panic!("{other:?} is not ready"),
    }
}

#[track_caller]
fn failure(file: &OpenFile) -> &Failure {
    match &file.status {
        FileStatus::Failed(failure) => failure,
        other => panic!("{other:?} has not failed"),
    }
}

#[test]
fn closing_shows_a_neighbour() {
    let files = after([add(1), add(2), add(3), FileAction::Show(2), FileAction::Close(2)]);
    assert_eq!(files.shown, Some(3));
    let files = files.after(FileAction::Close(3));
    assert_eq!(files.shown, Some(1));
    assert_eq!(files.after(FileAction::Close(1)), Files::default());
}

#[test]
fn a_broken_file_leaves_the_others_alone() {
    let files = after([add(1), hear(1, opened(&[5])), add(2), hear(2, failed("no")), FileAction::ShowNth(0)]);
    assert_eq!(ready(&files).summary.devices.len(), 1);
    assert_eq!(failure(&files.all[1]).offset, Some(3));
}

#[test]
fn each_failure_has_its_remedy() {
    let refused = |code| Failure::from(ImportError { code, message: String::new(), offset: None, hint: String::new() });
    assert_eq!(refused("training-config").remedy, Remedy::Jobs);
    assert_eq!(refused("training-arguments").remedy, Remedy::Jobs);
    assert_eq!(refused("git-lfs-pointer").remedy, Remedy::OtherFile);
    assert_eq!(Failure::of_panic("panicked at raw_vec.rs:26:5:\ncapacity overflow").remedy, Remedy::Part);
    assert_eq!(Failure::of_panic("index out of bounds").remedy, Remedy::OtherFile);
    let stopped = Failure::stopped("unreachable");
    assert_eq!(stopped.remedy, Remedy::Part);
    assert_eq!(stopped.message, "The decoder stopped unexpectedly: unreachable");
}

#[test]
fn a_file_that_waited_begins_when_it_is_its_turn() {
    let waiting = after([add(1), FileAction::Wait(1)]);
    let loading = |files: &Files| match &files.all[0].status {
        FileStatus::Loading(loading) => loading.clone(),
        other => panic!("{other:?} is not loading"),
    };
    assert!(loading(&waiting).is_waiting);
    let begun = loading(&waiting.after(FileAction::Begin { id: 1, now_ms: 50.0 }));
    assert_eq!((begun.is_waiting, begun.began_ms), (false, 50.0));
}

#[test]
fn the_first_failure_is_the_cause() {
    let files = after([add(1), add(2), hear(1, failed("cause")), hear(1, failed("trap"))]);
    assert_eq!(failure(&files.all[0]).message, "cause");
    assert!(matches!(files.all[1].status, FileStatus::Loading(_)), "the other file stays");
}

#[test]
fn progress_after_the_end_changes_nothing() {
    let files = after([add(1), hear(1, opened(&[5]))]);
    assert_eq!(files.after(hear(1, Report::Progress { seen_bytes: 1, total_bytes: 2 })), files);
}

#[test]
fn devices_go_round_and_drop_the_pin() {
    let files = after([add(1), hear(1, opened(&[5, 5])), FileAction::Pin(Some(Hit::default()))]);
    let files = files.after(FileAction::StepDevice(-1));
    assert_eq!((ready(&files).device, &ready(&files).pinned), (1, &None));
    assert_eq!(ready(&files.after(FileAction::StepDevice(1))).device, 0);
    assert_eq!(ready(&files.after(FileAction::ChooseDevice(9))).device, 1);
}

#[test]
fn a_device_without_times_keeps_the_event_axis() {
    let figures = |device, has_times| Report::Figures(DeviceFigures { device, has_times, ..Default::default() });
    let time = FileAction::ChooseAxis(Axis::Time);
    let files = after([add(1), hear(1, opened(&[5, 5])), hear(1, figures(0, true)), hear(1, figures(1, false)), time]);
    assert_eq!(ready(&files).axis, Axis::Time);
    assert_eq!(ready(&files.after(FileAction::ChooseDevice(1))).axis, Axis::Events);
}

#[test]
fn what_was_found_is_kept_by_device() {
    let parts = Parts { device: 1, ..Parts::default() };
    let files = after([add(1), hear(1, opened(&[5, 5])), hear(1, Report::Parts(parts.clone()))]);
    assert_eq!(ready(&files).shown_parts(), None);
    assert_eq!(ready(&files.after(FileAction::ChooseDevice(1))).shown_parts(), Some(&Rc::new(parts)));
    let files = files.after(hear(1, Report::Findings(Diagnosis::default())));
    assert_eq!(ready(&files).findings, Some(Rc::default()));
}

#[test]
fn what_a_finding_shows_leaves_the_tab_alone() {
    let files =
        after([add(1), hear(1, opened(&[5, 5])), FileAction::PinFound { device: 1, hit: Some(Hit::default()) }]);
    let file = ready(&files);
    assert_eq!((file.device, file.tab, file.pinned.is_some()), (1, PanelTab::Findings, true));
    assert_eq!(ready(&files.after(FileAction::PinFound { device: 0, hit: None })).pinned, None);
}

fn view(device: i64) -> ViewState {
    let range = View { x: Span::new(1.0, 2.0), y: Span::new(0.0, 9.0) };
    let pin = PinKey { allocation: AllocationKey::Event(3), moment: 4 };
    let (axis, tab, color) = (Axis::Time, PanelTab::File, Some(ColorBy::Category));
    ViewState { device, axis, range: Some(range), pin: Some(pin), tab, color, ..ViewState::default() }
}

fn started(device: i64) -> Files {
    let start = Start { view: Some(view(device)), notice: Some("no".into()), card: None };
    after([add_at(1, start), hear(1, opened(&[5, 5]))])
}

#[test]
fn the_card_of_a_recording_is_known() {
    let recorded = ThisCard::whole(16 << 30);
    let opened_with = |view| {
        let start = Start { view, card: Some(recorded), ..Start::default() };
        after([add_at(1, start), hear(1, opened(&[5]))])
    };
    let files = opened_with(None);
    assert_eq!(ready(&files).card, Some(recorded));
    // A link to a copy of the file names that card.
    let shared = ready(&files).view_state(None).to_text();
    assert_eq!(ViewState::from_text(&shared).unwrap().card, Some(recorded));
    // A view with another card shows that card.
    let other = ThisCard::whole(80 << 30);
    let chosen = opened_with(Some(ViewState { card: Some(other), ..ViewState::default() }));
    assert_eq!(ready(&chosen).card, Some(other));
    // Another view of the file uses the same card.
    let elsewhere = FileAction::GoTo(Box::new(Start { view: Some(ViewState::default()), ..Start::default() }));
    assert_eq!(ready(&files.after(elsewhere)).card, Some(recorded));
}

#[test]
fn a_file_begins_with_the_view_of_the_address() {
    let files = started(1);
    let file = ready(&files);
    assert_eq!((file.device, file.notice.as_deref()), (1, Some("no")));
    assert_eq!(file.view_state(file.start_range), view(1));
    let files = files.after(FileAction::DismissNotice);
    assert_eq!(ready(&files).notice, None);
}

#[test]
fn a_view_of_another_file_is_left_alone() {
    let files = started(7);
    assert_eq!(ready(&files).view_state(None), ViewState::default());
}

#[test]
fn a_start_without_times_is_on_events_and_whole() {
    let figures = DeviceFigures { device: 1, has_times: false, ..Default::default() };
    let files = started(1).after(hear(1, Report::Figures(figures)));
    assert_eq!((ready(&files).axis, ready(&files).start_range), (Axis::Events, None));
}

#[test]
fn an_address_that_is_put_in_later_is_gone_to() {
    let searched = Choice::StackSearch("adam".to_owned());
    let before = after([add(1), hear(1, opened(&[5, 5])), FileAction::Choose(searched)]);
    let go_to = |view| FileAction::GoTo(Box::new(Start { view, ..Start::default() }));
    let files = before.after(go_to(Some(view(1))));
    let file = ready(&files);
    assert_eq!((file.view_state(file.start_range), file.arrivals), (view(1), 1));
    // A view of another file changes only the notice.
    let other = before.after(go_to(Some(view(7))));
    assert!(ready(&other).notice.is_some());
    let said = ReadyFile { notice: None, ..ready(&other).clone() };
    assert_eq!(&said, ready(&before));
    // While the file is being read, it becomes the initial view.
    let early = after([add(1), go_to(Some(view(1))), hear(1, opened(&[5, 5]))]);
    assert_eq!(ready(&early).view_state(ready(&early).start_range), view(1));
}

#[test]
fn choices_stay_with_their_file_and_leave_with_its_device() {
    let setup = WhatIfSetup { conf: "backend:native".to_owned(), ..WhatIfSetup::default() };
    let chosen = [Choice::StackSearch("adam".to_owned()), Choice::WhatIf(setup)].map(FileAction::Choose);
    let files = after([add(1), hear(1, opened(&[5, 5]))].into_iter().chain(chosen));
    let choices = |files: &Files| ready(files).choices.clone();
    assert_eq!((choices(&files).stacks.search.as_str(), choices(&files).what_if.is_some()), ("adam", true));
    let device = files.after(FileAction::ChooseDevice(1));
    assert_eq!((choices(&device).stacks.search.as_str(), choices(&device).what_if.is_some()), ("adam", false));
    let other = files.after(add(2)).after(hear(2, opened(&[5])));
    assert_eq!(*choices(&other), Choices::default());
    assert_eq!(choices(&other.after(FileAction::Show(1))), choices(&files));
}

#[test]
fn a_found_pin_leaves_the_tab_and_newer_pins_alone() {
    let hit = |moment| Hit { moment, ..Hit::default() };
    let pinned = |files: &Files| ready(files).pinned.as_ref().map(|hit| hit.moment);
    let found = started(1).after(FileAction::PinStart { id: 1, hit: Some(hit(4)) });
    assert_eq!((pinned(&found), ready(&found).tab), (Some(4), PanelTab::File));
    let clicked = started(1).after(FileAction::Pin(Some(hit(9))));
    assert_eq!(ready(&clicked).tab, PanelTab::Allocation);
    let late = clicked.after(FileAction::PinStart { id: 1, hit: Some(hit(4)) });
    assert_eq!(pinned(&late), Some(9));
    let elsewhere = started(1).after(FileAction::ChooseDevice(0));
    assert_eq!(pinned(&elsewhere.after(FileAction::PinStart { id: 1, hit: Some(hit(4)) })), None);
}

#[test]
fn a_part_is_chosen_while_the_file_is_read() {
    let preview = |events| PreviewData { devices: vec![PreviewDevice { events, ..PreviewDevice::default() }] };
    let seen = |seen_bytes| hear(1, Report::Progress { seen_bytes, total_bytes: 9 });
    let files = after([add(1), seen(3), hear(1, Report::Preview(Box::new(preview(4)))), seen(6)]);
    let FileStatus::Loading(loading) = &files.all[0].status else { panic!("it is being read") };
    assert_eq!((loading.seen_bytes, loading.preview.as_deref()), (6, Some(&preview(4))));

    let of_huge = after([add(1), hear(1, Report::Surveying)]);
    assert!(matches!(&of_huge.all[0].status, FileStatus::Loading(loading) if loading.is_survey));

    let files = files.after(FileAction::Reload { id: 1, is_survey: true, now_ms: 30.0 });
    let files = files.after(hear(1, Report::Surveyed(Box::new(preview(9)))));
    assert_eq!(files.all[0].status, FileStatus::Choosing(Rc::new(preview(9))));

    let files = files.after(FileAction::Reload { id: 1, is_survey: false, now_ms: 40.0 });
    assert!(matches!(&files.all[0].status, FileStatus::Loading(loading) if loading.began_ms == 40.0));
}

#[test]
fn a_file_is_read_again_once_its_decoder_can_be_had() {
    let files = after([add(1), hear(1, Report::Failed(Failure::without_decoder()))]);
    let failure = failure(&files.all[0]);
    assert!(failure.remedy == Remedy::Retry && failure.message.contains("could not be loaded"), "{failure:?}");
    let files = files.after(FileAction::Reload { id: 1, is_survey: false, now_ms: 30.0 });
    assert!(matches!(&files.all[0].status, FileStatus::Loading(loading) if loading.began_ms == 30.0));
    assert_eq!(ready(&files.after(hear(1, opened(&[5])))).summary.devices.len(), 1);
}

#[test]
fn the_rank_that_differs_is_shown_until_somebody_chooses() {
    let ranks = |growing: FileId| {
        let one = |id: FileId| {
            let name = format!("ddp.rank{id}.pickle").into();
            let growth = Growth { bytes_per_step: u64::from(id == growing) << 20, ..Growth::default() };
            let findings = Diagnosis { growth: vec![growth], ..Diagnosis::default() };
            [
                add_file(OpenFile { id, name, ..OpenFile::default() }),
                hear(id, opened(&[5])),
                hear(id, Report::Findings(findings)),
            ]
        };
        after([1, 2, 3, 4, 5].into_iter().flat_map(one))
    };
    assert_eq!(ranks(2).shown, Some(2));
    assert_eq!(ranks(9).shown, Some(5), "all are alike");
    let late = hear(1, Report::Findings(Diagnosis::default()));
    assert_eq!(ranks(2).after(FileAction::Show(4)).after(late).shown, Some(4));
}
