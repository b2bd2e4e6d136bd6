//! The open files, and how they change.

mod begin;
mod first;
mod keeping;
mod ready;

pub use self::begin::{NewFile, Start};
pub use self::ready::ReadyFile;
use super::card::ThisCard;
use super::choices::Choice;
use super::origin::Origin;
use super::session::SessionFile;
use super::view_state::{DockTab, PanelTab};
use crate::worker::{AxisKind, ColorBy, FileSummary, Hit, PreviewData, Report};
use std::rc::Rc;

/// A number for an open file, never used twice in one visit.
pub type FileId = u32;

/// Everything that happens to the open files.
#[derive(Clone, Debug)]
pub enum FileAction {
    /// A file was chosen and its worker started.
    Add(Box<NewFile>),
    /// Its worker said something.
    Hear {
        /// The file.
        id: FileId,
        /// What the worker said.
        report: Box<Report>,
        /// Milliseconds on the page's clock.
        now_ms: f64,
    },
    /// A file that could not be read is read again.
    Retry {
        /// The file.
        id: FileId,
        /// Milliseconds on the page's clock.
        now_ms: f64,
    },
    /// A file is read again, for a part of it or for all of it.
    Reload {
        /// The file.
        id: FileId,
        /// Whether it is only looked through, for a part of it to be chosen.
        is_survey: bool,
        /// Milliseconds on the page's clock.
        now_ms: f64,
    },
    /// A file waits until others are read.
    Wait(FileId),
    /// It is the turn of a file that waited.
    Begin {
        /// The file.
        id: FileId,
        /// Milliseconds on the page's clock.
        now_ms: f64,
    },
    /// A tab was closed, a load cancelled or an error dismissed.
    Close(FileId),
    /// A tab was chosen.
    Show(FileId),
    /// A tab was chosen by its position, from 0.
    ShowNth(usize),
    /// The page without a file is shown, while files stay open.
    ShowNone,
    /// Back or forward led to a view of an open file.
    Return {
        /// The file.
        id: FileId,
        /// The view, `None` for whatever the file shows.
        start: Option<Box<Start>>,
        /// Whether the timeline shows the part of that view already.
        is_same_part: bool,
    },
    /// Files that were open before a reload could not be opened again.
    Await(Vec<SessionFile>),
    /// They will not come.
    AwaitNone,
    /// Somebody looks at what is shown: it is not changed for another file.
    Stay,
    /// The bytes of a file are kept for a reload, or are not.
    Keep {
        /// The file.
        id: FileId,
        /// How it stands.
        keeping: Keeping,
    },
    /// A device of the shown file was chosen, by position.
    ChooseDevice(u32),
    /// The next or previous device, around the end.
    StepDevice(i32),
    /// The axis of the shown file; time needs events that have one.
    ChooseAxis(AxisKind),
    /// An allocation of the shown device was clicked, or none.
    Pin(Option<Hit>),
    /// An allocation is shown that something else than a click led to, on a device by position: the tab stays.
    PinFound {
        /// The device.
        device: u32,
        /// The allocation, `None` if there is none to pin.
        hit: Option<Hit>,
    },
    /// The allocation that the view to begin with has pinned was found.
    PinStart {
        /// The file.
        id: FileId,
        /// What a click on it would have hit, `None` if it is not there.
        hit: Option<Hit>,
    },
    /// A part of the panel was chosen.
    ChooseTab(PanelTab),
    /// A view below the timeline was opened, or closed.
    ChooseDock(Option<DockTab>),
    /// What the colours of the timeline tell apart.
    ChooseColor(ColorBy),
    /// Something was chosen in a view below the timeline.
    Choose(Choice),
    /// Ranks are to be compared, or moments, in all files.
    ChooseRanks(bool),
    /// Another view was asked for while the page is open, or something is to be said about one.
    GoTo(Box<Start>),
    /// The card that the shown file is looked at on, `None` for an unknown one.
    ChooseCard(Option<ThisCard>),
    /// The notice about the view to begin with was read.
    DismissNotice,
}

/// Whether the browser keeps the bytes of a file, so that a reload opens it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeping {
    /// Nobody asked for it.
    #[default]
    NotYet,
    /// They are being written.
    Begun,
    /// They are kept.
    Kept,
    /// They can't be kept, or are not to be.
    Never,
}

/// All open files in the order of their tabs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    /// The files.
    pub all: Vec<OpenFile>,
    /// The one whose tab is chosen; `None` on the page without a file.
    pub shown: Option<FileId>,
    /// Whether nobody has chosen or looked at anything since files were opened: then the one with an error is shown.
    pub is_unattended: bool,
    /// Whether ranks are compared, and not moments: whoever goes from rank to rank goes from file to file.
    pub are_ranks: bool,
    /// Files that were open before a reload and are to be dropped again.
    pub awaited: Vec<SessionFile>,
}

/// One tab.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenFile {
    /// Its number.
    pub id: FileId,
    /// What the history of the browser calls it.
    pub key: Rc<str>,
    /// Its name.
    pub name: Rc<str>,
    /// Its length, 0 where it is not known.
    pub size_bytes: u64,
    /// Where it came from.
    pub origin: Origin,
    /// Files that were opened together have the same.
    pub batch: u32,
    /// Whether its bytes are kept.
    pub keeping: Keeping,
    /// How it is shown first.
    pub start: Start,
    /// How far it is.
    pub status: FileStatus,
}

/// How far a file is.
#[derive(Clone, Debug, PartialEq)]
pub enum FileStatus {
    /// Its bytes are being read and decoded.
    Loading(Loading),
    /// Which of its events are opened is to be chosen.
    Choosing(Rc<PreviewData>),
    /// It could not be read.
    Failed(Failure),
    /// Its model is there.
    Ready(ReadyFile),
}

/// The progress of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loading {
    /// Bytes decoded.
    pub seen_bytes: u64,
    /// Length of the file, 0 while it is not known.
    pub total_bytes: u64,
    /// Whether it waits until others are read.
    pub is_waiting: bool,
    /// When it began, on the page's clock.
    pub began_ms: f64,
    /// When the last progress came.
    pub now_ms: f64,
    /// Whether it is only looked through, for a part of it to be chosen.
    pub is_survey: bool,
    /// What has been read so far, of a file that takes a while.
    pub preview: Option<Rc<PreviewData>>,
}

/// Why a file could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The decoder's word for it, empty for what is no error of the file.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// Byte offset, where it is known.
    pub offset: Option<u64>,
    /// What to do.
    pub hint: String,
    /// What the page offers to do.
    pub remedy: Remedy,
}

/// What is offered for a file that could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remedy {
    /// Another file.
    #[default]
    OtherFile,
    /// Another try, since the file itself may be fine.
    Retry,
    /// A part of the file, since all of it may be too much for the browser.
    Part,
    /// The page of new jobs, since it is a training config.
    Jobs,
}

impl Remedy {
    /// What is offered for a file that the decoder has a word for.
    fn of_code(code: &str) -> Self {
        match code {
            "training-config" | "training-arguments" => Self::Jobs,
            _ => Self::OtherFile,
        }
    }
}

impl Failure {
    /// The part of the page that decodes files did not come.
    fn without_decoder() -> Self {
        Self {
            code: String::new(),
            message: "The part of Snapscope that decodes files could not be loaded".to_owned(),
            offset: None,
            hint: "Check the connection and try again; if Snapscope was updated meanwhile, reload the page.".to_owned(),
            remedy: Remedy::Retry,
        }
    }

    /// The worker ended without a word, as it does where the browser gives it no more memory.
    fn stopped(detail: &str) -> Self {
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        Self {
            code: String::new(),
            message: format!("The decoder stopped unexpectedly{detail}"),
            offset: None,
            hint: "The tab may have run out of memory: open a part of the file, or close other files first, or use \
                   the command line."
                .to_owned(),
            remedy: Remedy::Part,
        }
    }
}

impl Files {
    /// The files after an action.
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
            FileAction::Retry { id, now_ms } => {
                if let Some(file) = files.all.iter_mut().find(|file| file.id == id) {
                    file.status = FileStatus::begun(now_ms);
                }
            }
            FileAction::Reload { id, is_survey, now_ms } => {
                if let Some(file) = files.all.iter_mut().find(|file| file.id == id) {
                    file.status =
                        FileStatus::Loading(Loading { began_ms: now_ms, now_ms, is_survey, ..Loading::default() });
                }
            }
            FileAction::Wait(id) => files.with_loading(id, |loading| loading.is_waiting = true),
            FileAction::Begin { id, now_ms } => {
                files.with_loading(id, |loading| {
                    *loading = Loading { began_ms: now_ms, now_ms, ..Loading::default() };
                });
            }
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
            FileAction::Keep { id, keeping } => {
                if let Some(file) = files.all.iter_mut().find(|file| file.id == id) {
                    file.keeping = keeping;
                }
            }
            FileAction::ChooseDevice(device) => files.with_shown(|file| file.choose_device(device)),
            FileAction::StepDevice(step) => files.with_shown(|file| file.step_device(step)),
            FileAction::ChooseAxis(axis) => files.with_shown(|file| file.choose_axis(axis)),
            FileAction::Pin(hit) => files.with_shown(|file| file.pin(hit)),
            FileAction::PinFound { device, hit } => files.with_shown(|file| file.pin_found(device, hit)),
            FileAction::PinStart { id, hit } => {
                if let Some(OpenFile { status: FileStatus::Ready(file), .. }) =
                    files.all.iter_mut().find(|file| file.id == id)
                {
                    file.pin_start(hit);
                }
            }
            FileAction::ChooseTab(tab) => files.with_shown(|file| file.tab = tab),
            FileAction::ChooseDock(dock) => files.with_shown(|file| file.dock = dock),
            FileAction::ChooseColor(color) => files.with_shown(|file| file.color = color),
            FileAction::Choose(choice) => files.with_shown(|file| file.choose(choice)),
            FileAction::ChooseRanks(are_ranks) => files.are_ranks = are_ranks,
            FileAction::GoTo(start) => files.go_to(*start, false),
            FileAction::ChooseCard(card) => files.with_shown(|file| file.choose_card(card)),
            FileAction::DismissNotice => files.with_shown(|file| file.notice = None),
        }
        files
    }

    /// The file whose tab is chosen.
    pub fn shown_file(&self) -> Option<&OpenFile> {
        self.all.iter().find(|file| Some(file.id) == self.shown)
    }

    /// What is still being read is shown that way when it is there.
    fn go_to(&mut self, start: Start, is_same_part: bool) {
        let shown = self.shown;
        let Some(file) = self.all.iter_mut().find(|file| Some(file.id) == shown) else { return };
        match &mut file.status {
            FileStatus::Loading(_) | FileStatus::Choosing(_) => {
                file.start = Start { card: start.card.or(file.start.card), ..start };
            }
            FileStatus::Failed(_) => (),
            FileStatus::Ready(ready) => {
                if let Some(view) = &start.view {
                    self.are_ranks = view.choices.are_ranks;
                }
                ready.go_to(start, is_same_part);
            }
        }
    }

    fn add(&mut self, file: NewFile) {
        let NewFile { id, key, name, size_bytes, origin, batch, is_kept, start, now_ms } = file;
        let keeping = if is_kept { Keeping::Kept } else { Keeping::NotYet };
        let status = FileStatus::begun(now_ms);
        self.awaited.retain(|file| *file.key != *key);
        self.all.push(OpenFile { id, key, name, size_bytes, origin, batch, keeping, start, status });
        self.shown = Some(id);
        self.is_unattended = true;
    }

    fn show(&mut self, is_it: impl Fn(&OpenFile) -> bool) {
        if let Some(file) = self.all.iter().find(|file| is_it(file)) {
            self.shown = Some(file.id);
        }
    }

    /// The tab that takes the place of a closed one is its right neighbour, or else its left one.
    fn close(&mut self, id: FileId) {
        let Some(position) = self.all.iter().position(|file| file.id == id) else { return };
        self.all.remove(position);
        if self.shown == Some(id) {
            let neighbour = self.all.get(position).or(self.all.last());
            self.shown = neighbour.map(|file| file.id);
        }
    }

    fn with_loading(&mut self, id: FileId, change: impl FnOnce(&mut Loading)) {
        let file = self.all.iter_mut().find(|file| file.id == id);
        if let Some(OpenFile { status: FileStatus::Loading(loading), .. }) = file {
            change(loading);
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

impl FileStatus {
    fn begun(now_ms: f64) -> Self {
        Self::Loading(Loading { began_ms: now_ms, now_ms, ..Loading::default() })
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
                    // Moments of the whole file are others in a part of it.
                    (view.range, view.pin) = (None, None);
                }
                self.status = FileStatus::Ready(ReadyFile::new(*summary, &start));
            }
            (Report::Figures(figures), FileStatus::Ready(ready)) => ready.hear(figures),
            (Report::Notices(notices), FileStatus::Ready(ready)) => {
                ready.are_notices_known = true;
                ready.summary = Rc::new(FileSummary { notices, ..FileSummary::clone(&ready.summary) });
            }
            // A worker that panics says why, and then its trap is reported too: the first one is the cause.
            (Report::Failed { .. } | Report::NoDecoder | Report::Stopped(_), FileStatus::Failed(_)) => (),
            (Report::Failed { code, message, offset, hint }, _) => {
                let remedy = Remedy::of_code(&code);
                self.status = FileStatus::Failed(Failure { code, message, offset, hint, remedy });
            }
            (Report::Stopped(detail), _) => self.status = FileStatus::Failed(Failure::stopped(&detail)),
            (Report::NoDecoder, _) => self.status = FileStatus::Failed(Failure::without_decoder()),
            (Report::Parts(parts), FileStatus::Ready(ready)) => {
                if let Some(place) = ready.parts.get_mut(parts.device as usize) {
                    *place = Some(Rc::new(parts));
                }
            }
            (Report::Findings(findings), FileStatus::Ready(ready)) => ready.findings = Some(Rc::new(findings)),
            // A report that is late by a state has nothing to say any more.
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests;
