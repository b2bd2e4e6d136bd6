//! The open files, and the actions that change them.

mod first;
mod keeping;
mod ready;

pub use self::ready::ReadyFile;
use super::card::ThisCard;
use super::choices::{Choice, FileId};
use super::origin::{Origin, Start};
use super::points::PointAction;
use super::session::SessionFile;
use super::view_state::{DockTab, PanelTab};
use crate::ask::{Axis, ColorBy, Failure, FileSummary, Hit, Joinable, Kind, PreviewData, Report};
use shared::analysis::rank_of_name;
use shared::report::LogReport;
use std::rc::Rc;

/// Action on the open files; `now_ms` are milliseconds on the page's clock.
#[derive(Clone, Debug)]
pub enum FileAction {
    Add(Box<OpenFile>),
    Hear {
        id: FileId,
        report: Box<Report>,
        now_ms: f64,
    },
    /// A file is read again, after a failure, or for a part of it or all of it; in a survey, the user can then choose a
    /// part of it.
    Reload {
        id: FileId,
        is_survey: bool,
        now_ms: f64,
    },
    /// A file waits until others have been read.
    Wait(FileId),
    /// A file that waited is now being read.
    Begin {
        id: FileId,
        now_ms: f64,
    },
    /// A tab was closed, a load cancelled or an error dismissed.
    Close(FileId),
    Show(FileId),
    /// A tab was chosen by its position, from 0.
    ShowNth(usize),
    /// The page without a file is shown, while files stay open.
    ShowNone,
    /// Back or Forward led to a view of an open file, or without one to what the file shows; the timeline may show the
    /// part of that view already.
    Return {
        id: FileId,
        start: Option<Box<Start>>,
        is_same_part: bool,
    },
    /// Files that were open before a reload could not be reopened.
    Await(Vec<SessionFile>),
    /// The user gave up the awaited files.
    AwaitNone,
    /// The user looks at the shown file, so the page no longer switches to another one by itself.
    Stay,
    /// The storing of a file's bytes started, ended or was refused.
    Keep {
        id: FileId,
        keeping: Keeping,
    },
    /// A device of the shown file was chosen, by position.
    ChooseDevice(u32),
    /// The next or previous device was chosen; after the last comes the first.
    StepDevice(i32),
    /// An axis of the shown file was chosen; the time axis needs events with times.
    ChooseAxis(Axis),
    /// An allocation of the shown device was pinned with a click, or unpinned.
    Pin(Option<Hit>),
    SelectKind(Option<Kind>),
    /// All allocations with the stack of the pinned one were selected, or left if they were selected already.
    SelectPinnedKind,
    /// The selected kind is left, or else the pinned allocation.
    Leave,
    /// An allocation, if there is one, is pinned for another reason than a click, so the panel's tab stays.
    PinFound {
        device: u32,
        hit: Option<Hit>,
    },
    /// The pinned allocation of the initial view was looked up; there is no hit if it does not exist.
    PinStart {
        id: FileId,
        hit: Option<Hit>,
    },
    ChooseTab(PanelTab),
    ChooseDock(Option<DockTab>),
    /// The open view below the timeline was maximised, or returned to its usual height.
    MaximizeDock,
    Point(PointAction),
    ChooseColor(ColorBy),
    Choose(Choice),
    /// The comparison of ranks (true) or moments (false) was chosen, for all files.
    ChooseRanks(bool),
    /// Another view, or a notice about one, was requested while the page is open.
    GoTo(Box<Start>),
    /// The card of the shown file was chosen; `None` for an unknown one.
    ChooseCard(Option<ThisCard>),
    DismissNotice,
}

/// State of storing a file's bytes in the browser, so that a reload can reopen the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeping {
    #[default]
    NotYet,
    Begun,
    Kept,
    /// The bytes can't be stored, or the user does not want it.
    Never,
}

/// All open files in the order of their tabs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    pub all: Vec<OpenFile>,
    /// File whose tab is chosen; `None` on the page without a file.
    pub shown: Option<FileId>,
    /// True if the user has looked at nothing since files were opened.
    ///
    /// The page then switches by itself to a file with an out-of-memory error.
    pub is_unattended: bool,
    /// True if ranks are compared rather than moments; this holds for all files, because each rank has its own.
    pub are_ranks: bool,
    /// Files that were open before a reload, which the user has to drop again.
    pub awaited: Vec<SessionFile>,
}

/// File with a tab of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenFile {
    pub id: FileId,
    /// Name in the browser's history.
    pub key: Rc<str>,
    /// File name without folders.
    pub name: Rc<str>,
    /// Size in bytes; 0 if unknown.
    pub size_bytes: u64,
    pub origin: Origin,
    /// Number that counts up with each choice of files; files opened together share it.
    pub batch: u32,
    pub keeping: Keeping,
    /// Initial view, with a notice about it.
    pub start: Start,
    pub status: FileStatus,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FileStatus {
    /// The bytes are being read and decoded.
    Loading(Loading),
    /// The user chooses which of its events to open.
    Choosing(Rc<PreviewData>),
    Failed(Failure),
    /// The model is loaded.
    Ready(ReadyFile),
    Log(LogFile),
}

/// Log that has been read; equal only to its clones, because comparing all of it would take longer than drawing it.
#[derive(Clone, Debug)]
pub struct LogFile {
    pub report: Rc<LogReport>,
    /// What is needed beside other files.
    pub joinable: Option<Rc<Joinable>>,
}

impl PartialEq for LogFile {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.report, &other.report)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loading {
    pub seen_bytes: u64,
    /// Size of the file in bytes; 0 while it is unknown.
    pub total_bytes: u64,
    /// True if it waits until others have been read.
    pub is_waiting: bool,
    /// Start of reading, in milliseconds on the page's clock.
    pub began_ms: f64,
    /// Time of the last progress report, in milliseconds on the page's clock.
    pub now_ms: f64,
    /// True if the file is only surveyed, so that the user can choose a part of it.
    pub is_survey: bool,
    /// Summary of what has been read so far, if reading takes a while.
    pub preview: Option<Rc<PreviewData>>,
}

impl Files {
    pub fn after(&self, action: FileAction) -> Self {
        let mut files = self.clone();
        files.is_unattended &= !action.is_of_person();
        match action {
            FileAction::Add(file) => files.add(*file),
            FileAction::Hear { id, report, now_ms } => {
                if let Some(file) = files.all.iter_mut().find(|file| file.id == id) {
                    let is_opened = matches!(*report, Report::Opened(_));
                    file.hear(*report, now_ms);
                    files.are_ranks |= is_opened && file.start.view.as_ref().is_some_and(|view| view.choices.are_ranks);
                }
                files.show_first();
            }
            FileAction::Reload { id, is_survey, now_ms } => {
                files.with(id, |file| file.status = FileStatus::begun(now_ms, is_survey));
            }
            FileAction::Wait(id) => files.with(id, |file| {
                if let FileStatus::Loading(loading) = &mut file.status {
                    loading.is_waiting = true;
                }
            }),
            FileAction::Begin { id, now_ms } => files.with(id, |file| {
                if matches!(file.status, FileStatus::Loading(_)) {
                    file.status = FileStatus::begun(now_ms, false);
                }
            }),
            FileAction::Close(id) => files.close(id),
            FileAction::Show(id) => files.show(|file| file.id == id),
            FileAction::ShowNth(position) => {
                let id = files.all.get(position).map(|file| file.id);
                files.show(|file| Some(file.id) == id);
            }
            FileAction::ShowNone => files.shown = None,
            FileAction::Return { id, start, is_same_part } => {
                files.show(|file| file.id == id);
                if let Some(start) = start {
                    files.go_to(*start, is_same_part);
                }
            }
            FileAction::Await(awaited) => files.awaited = awaited,
            FileAction::AwaitNone => files.awaited.clear(),
            FileAction::Stay => (),
            FileAction::Keep { id, keeping } => files.with(id, |file| file.keeping = keeping),
            FileAction::ChooseDevice(device) => files.with_shown(|file| file.choose_device(device)),
            FileAction::StepDevice(step) => files.with_shown(|file| file.step_device(step)),
            FileAction::ChooseAxis(axis) => files.with_shown(|file| file.choose_axis(axis)),
            FileAction::Pin(hit) => files.with_shown(|file| file.pin(hit)),
            FileAction::SelectKind(kind) => files.with_shown(|file| file.kind = kind.map(Rc::new)),
            FileAction::SelectPinnedKind => files.with_shown(ReadyFile::select_pinned),
            FileAction::Leave => files.with_shown(ReadyFile::leave),
            FileAction::PinFound { device, hit } => files.with_shown(|file| file.pin_found(device, hit)),
            FileAction::PinStart { id, hit } => files.with(id, |file| {
                if let FileStatus::Ready(file) = &mut file.status {
                    file.pin_start(hit);
                }
            }),
            FileAction::ChooseTab(tab) => files.with_shown(|file| file.tab = tab),
            FileAction::ChooseDock(dock) => files.with_shown(|file| file.choose_dock(dock)),
            FileAction::Point(action) => files.with_shown(|file| file.take_point(action)),
            FileAction::MaximizeDock => files.with_shown(ReadyFile::toggle_maximized),
            FileAction::ChooseColor(color) => files.with_shown(|file| file.color = Some(color)),
            FileAction::Choose(choice) => files.with_shown(|file| file.choose(choice)),
            FileAction::ChooseRanks(are_ranks) => files.are_ranks = are_ranks,
            FileAction::GoTo(start) => files.go_to(*start, false),
            FileAction::ChooseCard(card) => files.with_shown(|file| file.choose_card(card)),
            FileAction::DismissNotice => files.with_shown(|file| file.notice = None),
        }
        files
    }

    /// Returns the file whose tab is chosen.
    pub fn shown_file(&self) -> Option<&OpenFile> {
        self.all.iter().find(|file| Some(file.id) == self.shown)
    }

    /// Shows another view of the shown file; for a file that is still being read it becomes the initial view.
    fn go_to(&mut self, start: Start, is_same_part: bool) {
        let shown = self.shown;
        let Some(file) = self.all.iter_mut().find(|file| Some(file.id) == shown) else { return };
        match &mut file.status {
            FileStatus::Loading(_) | FileStatus::Choosing(_) => {
                file.start = Start { card: start.card.or(file.start.card), ..start };
            }
            FileStatus::Failed(_) | FileStatus::Log(_) => (),
            FileStatus::Ready(ready) => {
                if let Some(view) = &start.view {
                    self.are_ranks = view.choices.are_ranks;
                }
                ready.go_to(start, is_same_part);
            }
        }
    }

    fn add(&mut self, file: OpenFile) {
        self.awaited.retain(|awaited| *awaited.key != *file.key);
        // Whoever opens files of several ranks wants to see them next to each other.
        let ranks = self.all.iter().filter(|file| rank_of_name(&file.name).is_some()).count();
        self.are_ranks |= rank_of_name(&file.name).is_some() && ranks == 1;
        self.shown = Some(file.id);
        self.all.push(file);
        self.is_unattended = true;
    }

    fn show(&mut self, is_it: impl Fn(&OpenFile) -> bool) {
        if let Some(file) = self.all.iter().find(|file| is_it(file)) {
            self.shown = Some(file.id);
        }
    }

    /// Closes a file; if it was shown, its right neighbour is shown, or else its left one.
    fn close(&mut self, id: FileId) {
        let Some(position) = self.all.iter().position(|file| file.id == id) else { return };
        self.all.remove(position);
        if self.shown == Some(id) {
            let neighbour = self.all.get(position).or(self.all.last());
            self.shown = neighbour.map(|file| file.id);
        }
    }

    fn with(&mut self, id: FileId, change: impl FnOnce(&mut OpenFile)) {
        if let Some(file) = self.all.iter_mut().find(|file| file.id == id) {
            change(file);
        }
    }

    fn with_shown(&mut self, change: impl FnOnce(&mut ReadyFile)) {
        let shown = self.shown;
        let file = self.all.iter_mut().find(|file| Some(file.id) == shown);
        if let Some(OpenFile { status: FileStatus::Ready(ready), .. }) = file {
            change(ready);
        }
    }
}

impl Default for FileStatus {
    fn default() -> Self {
        Self::begun(0.0, false)
    }
}

impl FileStatus {
    /// Returns the status of a file that is read from now on, in milliseconds on the page's clock.
    pub fn begun(now_ms: f64, is_survey: bool) -> Self {
        Self::Loading(Loading { began_ms: now_ms, now_ms, is_survey, ..Loading::default() })
    }
}

impl OpenFile {
    fn hear(&mut self, report: Report, now_ms: f64) {
        match (report, &mut self.status) {
            (Report::Kept(is_kept), _) if self.keeping == Keeping::Begun => {
                self.keeping = if is_kept { Keeping::Kept } else { Keeping::Never };
            }
            (Report::Progress { seen_bytes, total_bytes }, FileStatus::Loading(loading)) => {
                *loading = Loading { seen_bytes, total_bytes, now_ms, ..loading.clone() };
            }
            (Report::Preview(preview), FileStatus::Loading(loading)) => loading.preview = Some(Rc::new(*preview)),
            (Report::Surveying, FileStatus::Loading(loading)) => loading.is_survey = true,
            (Report::Surveyed(overview), FileStatus::Loading(_)) => {
                self.status = FileStatus::Choosing(Rc::new(*overview));
            }
            (Report::Opened(summary), FileStatus::Loading(_)) => {
                let mut start = self.start.clone();
                if let Some(view) = start.view.as_mut().filter(|_| summary.is_part()) {
                    // A part of the file has other moments than the whole file.
                    (view.range, view.pin) = (None, None);
                    view.kind = view.kind.take().filter(|kind| !matches!(**kind, Kind::StackOf(_)));
                }
                self.status = FileStatus::Ready(ReadyFile::new(*summary, &start));
            }
            (Report::Log(report, joinable), FileStatus::Loading(_)) => {
                self.status = FileStatus::Log(LogFile { report: Rc::from(report), joinable: joinable.map(Rc::from) });
            }
            (Report::Figures(figures), FileStatus::Ready(ready)) => ready.hear(figures),
            (Report::Notices(notices), FileStatus::Ready(ready)) => {
                ready.summary = Rc::new(FileSummary { notices, ..FileSummary::clone(&ready.summary) });
            }
            // A worker that panics reports the reason first and its trap second, so the first report has the cause.
            (Report::Failed(_), FileStatus::Failed(_)) => (),
            (Report::Failed(failure), _) => self.status = FileStatus::Failed(failure),
            (Report::Parts(parts), FileStatus::Ready(ready)) => {
                if let Some(place) = ready.parts.get_mut(parts.device as usize) {
                    *place = Some(Rc::new(parts));
                }
            }
            (Report::Findings(findings), FileStatus::Ready(ready)) => ready.findings = Some(Rc::new(findings)),
            // A report that does not fit the current state is out of date.
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests;
