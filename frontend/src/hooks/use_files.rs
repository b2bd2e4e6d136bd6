//! Hook for the open files and their Web Workers.
//!
//! While no file is open and nothing waits, the page compiles the viewer and starts the worker of the first file.
//! As many files are read at a time as there are processors; among waiting files, the displayed one comes first.

use super::local_files::{LocalFiles, is_keeping_chosen};
use crate::ask::{Failure, FindAllocation, PartOrder, Remedy, Report, Wanted};
use crate::platform::{Source, WorkerClient, asset_url, bring_to_jobs, entry_name, fragment, mark, now_ms, processors};
use crate::state::{
    FileAction, FileId, FileStatus, Files, Keeping, LogFile, NO_FILE, OpenFile, PinKey, ReadyFile, SessionFile, Start,
    Turns,
};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Script that starts the module as a Web Worker.
const WORKER_SCRIPT: &str = "worker.js";

/// [`Files`] as the state of a yew reducer.
#[derive(Default, PartialEq)]
struct Model(Files);

impl Reducible for Model {
    type Action = FileAction;

    fn reduce(self: Rc<Self>, action: FileAction) -> Rc<Self> {
        Rc::new(Self(self.0.after(action)))
    }
}

/// Largest number of files that are decoded at a time, because a browser doesn't tell how much memory there is.
const MOST_AT_A_TIME: usize = 8;

struct Workers {
    clients: RefCell<HashMap<FileId, WorkerClient>>,
    /// Source of each file, which is needed to start it later, to retry it, or to open a part of it.
    sources: RefCell<HashMap<FileId, Source>>,
    /// Name of each local file in the folder of copies.
    keys: RefCell<HashMap<FileId, Rc<str>>>,
    turns: RefCell<Turns>,
    last_id: Cell<FileId>,
    last_batch: Cell<u32>,
    local: LocalFiles,
    /// True if the page's address describes the next file that is opened.
    is_addressed: Cell<bool>,
}

#[derive(Clone, PartialEq)]
pub struct OpenLog {
    pub id: FileId,
    pub name: Rc<str>,
    pub file: LogFile,
}

/// Open file that is ready to be shown.
#[derive(Clone, PartialEq)]
pub struct Peer {
    pub id: FileId,
    pub name: Rc<str>,
    pub client: WorkerClient,
    pub file: ReadyFile,
}

#[derive(Clone)]
pub struct FilesHandle {
    model: UseReducerHandle<Model>,
    workers: Rc<Workers>,
}

impl PartialEq for FilesHandle {
    fn eq(&self, other: &Self) -> bool {
        self.model == other.model
    }
}

impl FilesHandle {
    pub fn files(&self) -> &Files {
        &self.model.0
    }

    /// Dispatches an action that neither starts nor ends a worker.
    pub fn dispatch(&self, action: FileAction) {
        let shown = match action {
            FileAction::Show(id) | FileAction::Return { id, .. } => Some(id),
            FileAction::ShowNth(position) => self.files().all.get(position).map(|file| file.id),
            _ => None,
        };
        if let Some(id) = shown {
            self.workers.turns.borrow_mut().prefer(id);
        }
        self.model.dispatch(action);
    }

    /// Returns a callback that does something with the files.
    pub fn doing<T: 'static>(&self, act: impl Fn(&Self, T) + 'static) -> Callback<T> {
        let files = self.clone();
        Callback::from(move |value| act(&files, value))
    }

    /// Returns a callback that dispatches an action.
    pub fn acting<T: 'static>(&self, action: impl Fn(T) -> FileAction + 'static) -> Callback<T> {
        self.doing(move |files, value| files.dispatch(action(value)))
    }

    /// Shows another view of the shown file, or of the next file if none is open.
    pub fn go_to(&self, start: Start) {
        self.workers.is_addressed.set(self.files().all.is_empty());
        self.model.dispatch(FileAction::GoTo(Box::new(start)));
    }

    pub fn client(&self, id: FileId) -> Option<WorkerClient> {
        self.workers.clients.borrow().get(&id).cloned()
    }

    /// Returns the files that are ready to be shown, in the order of their tabs.
    pub fn peers(&self) -> Vec<Peer> {
        let peer = |open: &OpenFile| match &open.status {
            FileStatus::Ready(file) => {
                Some(Peer { id: open.id, name: open.name.clone(), client: self.client(open.id)?, file: file.clone() })
            }
            _ => None,
        };
        self.files().all.iter().filter_map(peer).collect()
    }

    pub fn logs(&self) -> Vec<OpenLog> {
        let log = |open: &OpenFile| match &open.status {
            FileStatus::Log(file) => Some(OpenLog { id: open.id, name: open.name.clone(), file: file.clone() }),
            _ => None,
        };
        self.files().all.iter().filter_map(log).collect()
    }

    /// Opens files, each with its own worker, with at most one per processor being decoded at a time.
    pub fn open(&self, files: Vec<web_sys::File>) {
        self.next_batch();
        for file in files {
            let (name, size_bytes) = (file.name(), file.size() as u64);
            let (key, start) = match self.local().claim(&name, size_bytes) {
                Some(known) => (known.key.clone(), Some(self.start_again(&known))),
                None => (self.local().new_key(), None),
            };
            let opened = OpenFile { name: name.into(), key: key.into(), size_bytes, ..OpenFile::default() };
            self.open_source(opened, start, Source::File(file));
        }
        // The last file is the one that is shown.
        self.workers.turns.borrow_mut().prefer(self.workers.last_id.get());
    }

    /// Reopens local files that were open in this tab, from their stored copies.
    pub(super) fn open_again(&self, files: Vec<(SessionFile, web_sys::File)>) -> Vec<FileId> {
        self.next_batch();
        let open = |(known, file): (SessionFile, web_sys::File)| {
            let start = Some(self.start_again(&known));
            let (name, key, size_bytes) = (known.name.into(), known.key.into(), known.size_bytes);
            let opened = OpenFile { name, key, size_bytes, keeping: Keeping::Kept, ..OpenFile::default() };
            self.open_source(opened, start, Source::File(file))
        };
        files.into_iter().map(open).collect()
    }

    /// Returns the view of a file that was open before: that of the address if the address names the file.
    fn start_again(&self, known: &SessionFile) -> Start {
        let is_addressed = entry_name().as_deref() == Some(&known.key);
        Start::of_text(&fragment().filter(|_| is_addressed).unwrap_or_else(|| known.view.clone()))
    }

    pub(super) fn local(&self) -> &LocalFiles {
        &self.workers.local
    }

    fn next_batch(&self) {
        self.workers.last_batch.set(self.workers.last_batch.get() + 1);
    }

    /// Opens a snapshot of this site; without a view to start with, the address tells it.
    pub(super) fn open_url(&self, file: OpenFile, start: Option<Start>, url: String) {
        let key = format!("site:{url}").into();
        self.open_source(OpenFile { key, ..file }, start, Source::Url(url));
    }

    /// Looks up the allocation that is pinned in the initial view.
    pub(super) fn pin_start(&self, id: FileId, device: u32, pin: PinKey) {
        let (Some(client), dispatcher) = (self.client(id), self.model.dispatcher()) else { return };
        spawn_local(async move {
            // The allocation does not exist if the address belongs to another file.
            let hit = client.ask(FindAllocation { device, key: pin.allocation, moment: pin.moment }).await.ok();
            dispatcher.dispatch(FileAction::PinStart { id, hit });
        });
    }

    /// Lets the user choose which events of a file to open.
    pub fn choose_part(&self, id: FileId) {
        let is_ready = |file: &OpenFile| file.id == id && matches!(file.status, FileStatus::Ready(_));
        if !self.files().all.iter().any(is_ready) {
            // Data that the worker has read so far would stay in its WebAssembly memory, which never shrinks.
            self.end_worker(id);
            self.workers.turns.borrow_mut().take(id);
            self.begin(id);
        }
        self.reload(id, Wanted::Survey);
    }

    /// Opens some events of a file, or all of it.
    pub fn open_part(&self, id: FileId, part: Option<PartOrder>) {
        self.reload(id, part.map_or(Wanted::All, Wanted::Part));
    }

    fn reload(&self, id: FileId, wanted: Wanted) {
        let Some(client) = self.client(id) else { return };
        self.model.dispatch(FileAction::Reload { id, is_survey: wanted == Wanted::Survey, now_ms: now_ms() });
        // A worker that has ended has reported so already.
        let _ = client.read_again(wanted);
    }

    /// Closes a file, or cancels reading it; its worker ends at once.
    pub fn close(&self, id: FileId) {
        self.workers.sources.borrow_mut().remove(&id);
        self.end_worker(id);
        self.forget_copy(id);
        self.end_turn(id);
        self.model.dispatch(FileAction::Close(id));
    }

    fn end_worker(&self, id: FileId) {
        let client = self.workers.clients.borrow_mut().remove(&id);
        client.inspect(WorkerClient::close);
    }

    fn forget_copy(&self, id: FileId) {
        let key = self.workers.keys.borrow().get(&id).cloned();
        key.inspect(|key| self.local().forget(key));
    }

    /// Reads a file again after a failure, in a new worker.
    pub fn retry(&self, id: FileId) {
        self.model.dispatch(FileAction::Reload { id, is_survey: false, now_ms: now_ms() });
        self.begin_in_turn(id);
    }

    /// Opens the page for new jobs with a config that was opened as a snapshot.
    pub fn take_to_jobs(&self, id: FileId) {
        let Some(Source::File(file)) = self.workers.sources.borrow().get(&id).cloned() else { return };
        spawn_local(async move { bring_to_jobs(&file).await });
    }

    fn open_source(&self, file: OpenFile, start: Option<Start>, source: Source) -> FileId {
        let id = self.workers.last_id.get() + 1;
        self.workers.last_id.set(id);
        let start = start.unwrap_or_else(|| self.addressed_start(id, &file.key));
        let start = Start { card: file.start.card, ..start };
        if matches!(source, Source::File(_)) {
            self.workers.keys.borrow_mut().insert(id, file.key.clone());
        }
        let (batch, status) = (self.workers.last_batch.get(), FileStatus::begun(now_ms(), false));
        self.model.dispatch(FileAction::Add(Box::new(OpenFile { id, batch, start, status, ..file })));
        self.workers.sources.borrow_mut().insert(id, source);
        self.begin_in_turn(id);
        id
    }

    /// Returns the view in the address if it belongs to the file.
    ///
    /// The address describes the first file of a visit unless it names another one. Later it follows what is shown,
    /// until the user enters another address.
    fn addressed_start(&self, id: FileId, key: &str) -> Start {
        let is_first = self.workers.is_addressed.take() || id == 1;
        let is_meant = match entry_name() {
            Some(name) if name == NO_FILE => false,
            // The name is from a visit that this tab no longer remembers.
            Some(name) => name == key || (is_first && !name.starts_with("site:") && !self.local().knows(&name)),
            None => is_first,
        };
        if is_meant { Start::of_text(&fragment().unwrap_or_default()) } else { Start::default() }
    }

    /// Starts to read a file, now or when it is its turn.
    fn begin_in_turn(&self, id: FileId) {
        let may_begin = self.workers.turns.borrow_mut().ask(id);
        if may_begin {
            self.begin(id);
        } else {
            self.model.dispatch(FileAction::Wait(id));
        }
    }

    /// Ends the turn of a file that was decoded, has failed or was closed, and starts the next one.
    fn end_turn(&self, id: FileId) {
        let next = self.workers.turns.borrow_mut().end(id);
        if let Some(next) = next {
            self.model.dispatch(FileAction::Begin { id: next, now_ms: now_ms() });
            self.begin(next);
        }
    }

    fn begin(&self, id: FileId) {
        let Some(source) = self.workers.sources.borrow().get(&id).cloned() else { return };
        let handle = self.clone();
        let on_report = move |report: Report| {
            let is_opened = matches!(report, Report::Opened(_));
            let is_read = report.is_read();
            if matches!(report, Report::Kept(true)) && !is_keeping_chosen() {
                // The copy was written while the user turned the storing of copies off.
                handle.forget_copy(id);
            }
            handle.model.dispatch(FileAction::Hear { id, report: Box::new(report), now_ms: now_ms() });
            if is_opened {
                mark("snapshot-parsed");
            }
            if is_read {
                handle.end_turn(id);
            }
        };
        match WorkerClient::open(&asset_url(WORKER_SCRIPT), &source, on_report.clone()) {
            Ok(client) => drop(self.workers.clients.borrow_mut().insert(id, client)),
            Err(_) => on_report(Report::Failed(Failure::new(
                "The browser could not start a web worker, which Snapscope needs to decode files",
                "Allow web workers for this site, or open the page in another browser.",
                Remedy::OtherFile,
            ))),
        }
    }
}

#[hook]
pub fn use_files() -> FilesHandle {
    let model = use_reducer_eq(Model::default);
    let workers = use_memo((), |()| Workers {
        clients: RefCell::default(),
        sources: RefCell::default(),
        keys: RefCell::default(),
        turns: RefCell::new(Turns::new(processors().min(MOST_AT_A_TIME))),
        last_id: Cell::default(),
        last_batch: Cell::default(),
        local: LocalFiles::remembered(),
        is_addressed: Cell::default(),
    });
    FilesHandle { model, workers }
}
