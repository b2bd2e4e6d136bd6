//! Hook that reopens local files after a reload or Back.
//!
//! The tab remembers the files, and the browser stores their bytes for a day.

use super::use_arrival::is_plain_page;
use super::use_files::FilesHandle;
use super::use_view_link::ViewLink;
use crate::platform::{
    LeaveGuard, LeaveListener, can_keep, entry_name, forget_kept, keep_session, kept_file, new_session_id,
    page_address, session_text, store, stored,
};
use crate::state::{FileAction, Files, Keeping, NO_FILE, OpenFile, Session, SessionFile, ViewState, take_awaited};
use std::cell::{Cell, RefCell};
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Storage key of the choice whether bytes are stored.
const CHOICE: &str = "snapscope-keep";

/// Stored value of a choice against it.
const NO: &str = "no";

/// Returns true if the bytes of local files may be stored, which is the default.
pub(super) fn is_keeping_chosen() -> bool {
    stored(CHOICE).as_deref() != Some(NO)
}

/// State of local files that the tab remembers; those that are open are in [`Files`].
pub(super) struct LocalFiles {
    session: RefCell<Session>,
    /// Files without a stored copy, which the user has to drop again.
    awaited: RefCell<Vec<SessionFile>>,
    /// Keys of all files that the tab remembered when the page was opened.
    known: Vec<String>,
    /// True once the files of this page are open again or awaited.
    is_restored: Cell<bool>,
}

impl LocalFiles {
    pub(super) fn remembered() -> Self {
        let session = session_text().and_then(|text| Session::from_text(&text));
        let session = session.unwrap_or_else(|| Session::new(new_session_id()));
        let known = session.files.iter().map(|file| file.key.clone()).collect();
        Self { session: RefCell::new(session), awaited: RefCell::default(), known, is_restored: Cell::new(false) }
    }

    /// Creates a key for a file that was not open in this tab before.
    pub(super) fn new_key(&self) -> String {
        self.session.borrow_mut().new_key()
    }

    /// Returns true if the tab remembered a file with this key when the page was opened.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.known.iter().any(|known| known == key)
    }

    /// Finds the awaited file that matches a dropped one, and stops awaiting it.
    pub(super) fn claim(&self, name: &str, size_bytes: u64) -> Option<SessionFile> {
        let mut awaited = self.awaited.borrow_mut();
        let found = take_awaited(&awaited, name, size_bytes)?;
        awaited.retain(|file| file.key != found.key);
        Some(found)
    }

    /// Deletes the stored copy of a file.
    pub(super) fn forget(&self, key: &str) {
        let (id, key) = (self.session.borrow().id.clone(), key.to_owned());
        if can_keep() {
            spawn_local(async move { forget_kept(&id, &key).await });
        }
    }

    /// Stores the list of open and awaited local files in the tab's session.
    fn save(&self, files: &Files, link: &ViewLink) {
        if !self.is_restored.get() {
            return;
        }
        let mut session = self.session.borrow().clone();
        session.shown = files.shown_file().map(|file| file.key.to_string());
        let open = files.all.iter().filter(|file| file.is_local() && !file.is_failed());
        session.files.extend(open.map(|file| remembered(file, files.are_ranks, link)));
        session.files.extend(self.awaited.borrow().iter().cloned());
        keep_session(session.to_text().as_deref());
    }
}

fn remembered(file: &OpenFile, are_ranks: bool, link: &ViewLink) -> SessionFile {
    let view = link.view_of(file, are_ranks).or_else(|| file.start.view.clone());
    SessionFile {
        key: file.key.to_string(),
        name: file.name.to_string(),
        size_bytes: file.size_bytes,
        page: page_address(),
        view: view.as_ref().map(ViewState::to_text).unwrap_or_default(),
        is_kept: file.keeping == Keeping::Kept,
    }
}

/// Handling of local files when the page is left.
#[derive(Clone, PartialEq)]
pub struct SessionHandle {
    /// True while the files of the previous visit are being looked up.
    pub is_restoring: bool,
    /// True if bytes are stored.
    pub is_keeping: bool,
    /// Called with the choice whether bytes are stored.
    pub on_keep: Callback<bool>,
    /// Called when the user gives up all awaited files.
    pub on_forget: Callback<()>,
}

/// Reopens the local files of this tab, stores their bytes, and asks before unsaved work is lost.
#[hook]
pub fn use_session(files: &FilesHandle, link: &ViewLink) -> SessionHandle {
    let is_restoring = use_state_eq(|| session_text().is_some());
    let is_keeping = use_state_eq(is_keeping_chosen);
    // Listeners live as long as the page, but the files change.
    let now = use_mut_ref(|| files.clone());
    *now.borrow_mut() = files.clone();
    use_effect_with((), {
        let (files, setter) = (files.clone(), is_restoring.setter());
        move |()| {
            spawn_local(async move {
                restore(&files).await;
                setter.set(false);
            });
        }
    });
    use_effect_with((), {
        let (now, link) = (now.clone(), link.clone());
        move |()| {
            let save = {
                let link = link.clone();
                move || {
                    let files = now.borrow().clone();
                    files.local().save(files.files(), &link);
                }
            };
            link.on_rest(Callback::from({
                let save = save.clone();
                move |()| save()
            }));
            let listener = LeaveListener::new(save);
            move || drop(listener)
        }
    });
    use_effect_with((files.files().clone(), *is_keeping), {
        let files = files.clone();
        move |(_, is_keeping)| {
            if *is_keeping && can_keep() {
                keep_next(&files);
            }
        }
    });
    let is_at_risk = files.files().all.iter().any(OpenFile::is_at_risk);
    use_effect_with(is_at_risk, |is_at_risk| {
        let guard = is_at_risk.then(LeaveGuard::new);
        move || drop(guard)
    });
    SessionHandle {
        is_restoring: *is_restoring,
        is_keeping: *is_keeping,
        on_keep: choose(files, is_keeping.setter()),
        on_forget: forget_awaited(files),
    }
}

/// Reopens the local files of this page that have a stored copy, and lists the others as awaited.
async fn restore(files: &FilesHandle) {
    let local = files.local();
    let here = local.session.borrow_mut().take_for(&page_address(), is_plain_page());
    let (id, shown) = (local.session.borrow().id.clone(), local.session.borrow().shown.clone());
    let (mut found, mut lost) = (Vec::new(), Vec::new());
    for file in here {
        match kept_file(&id, &file.key, file.size_bytes).await {
            Some(bytes) => found.push((file, bytes)),
            None => lost.push(file),
        }
    }
    local.is_restored.set(true);
    if !lost.is_empty() {
        local.awaited.borrow_mut().clone_from(&lost);
        files.dispatch(FileAction::Await(lost));
    }
    if !found.is_empty() {
        let keys: Vec<_> = found.iter().map(|(file, _)| file.key.clone()).collect();
        let ids = files.open_again(found);
        let id_of = |key: Option<String>| keys.iter().position(|known| Some(known) == key.as_ref()).map(|at| ids[at]);
        let entry = entry_name();
        files.dispatch(match id_of(entry.clone()) {
            Some(id) => FileAction::Show(id),
            None if entry.as_deref() == Some(NO_FILE) => FileAction::ShowNone,
            // The file that the page's address names is the first one.
            None if !is_plain_page() => FileAction::ShowNth(0),
            None => id_of(shown).or(ids.last().copied()).map_or(FileAction::ShowNone, FileAction::Show),
        });
    }
}

/// Requests to store the next file; one file is stored at a time, and only while none is being read.
fn keep_next(files: &FilesHandle) {
    let Some(OpenFile { id, key, .. }) = files.files().next_to_keep() else { return };
    let Some(client) = files.client(*id) else { return };
    let session = files.local().session.borrow().id.clone();
    let is_asked = client.keep(session, key.to_string()).is_ok();
    let keeping = if is_asked { Keeping::Begun } else { Keeping::Never };
    files.dispatch(FileAction::Keep { id: *id, keeping });
}

fn choose(files: &FilesHandle, setter: UseStateSetter<bool>) -> Callback<bool> {
    let files = files.clone();
    Callback::from(move |is_keeping: bool| {
        // If the browser stores nothing, the choice holds for this visit only.
        store(CHOICE, if is_keeping { "yes" } else { NO });
        setter.set(is_keeping);
        for file in files.files().all.iter().filter(|file| file.is_local()) {
            let keeping = if is_keeping { Keeping::NotYet } else { Keeping::Never };
            if !is_keeping {
                files.local().forget(&file.key);
            }
            files.dispatch(FileAction::Keep { id: file.id, keeping });
        }
    })
}

fn forget_awaited(files: &FilesHandle) -> Callback<()> {
    let files = files.clone();
    Callback::from(move |()| {
        files.local().awaited.borrow_mut().clear();
        files.dispatch(FileAction::AwaitNone);
    })
}
