//! Local files that the tab remembers.

use super::view_link::ViewLink;
use crate::platform::{can_keep, forget_kept, keep_session, new_session_id, page_address, session_text, stored};
use crate::state::{Files, Keeping, OpenFile, Session, SessionFile, ViewState, take_awaited};
use std::cell::{Cell, RefCell};
use wasm_bindgen_futures::spawn_local;

/// Storage key of the choice whether bytes are stored.
pub(super) const CHOICE: &str = "snapscope-keep";

/// Stored value of a choice against it.
pub(super) const NO: &str = "no";

/// Returns true if the bytes of local files may be stored, which is the default.
pub(super) fn is_keeping_chosen() -> bool {
    stored(CHOICE).as_deref() != Some(NO)
}

/// State of local files that the tab remembers; those that are open are in [`Files`].
pub(super) struct LocalFiles {
    pub(super) session: RefCell<Session>,
    /// Files without a stored copy, which the user has to drop again.
    pub(super) awaited: RefCell<Vec<SessionFile>>,
    /// Keys of all files that the tab remembered when the page was opened.
    known: Vec<String>,
    /// True once the files of this page are open again or awaited.
    pub(super) is_restored: Cell<bool>,
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

    pub(super) fn forget(&self, key: &str) {
        let (id, key) = (self.session.borrow().id.clone(), key.to_owned());
        if can_keep() {
            spawn_local(async move { forget_kept(&id, &key).await });
        }
    }

    /// Stores the list of open and awaited local files in the tab's session.
    pub(super) fn save(&self, files: &Files, link: &ViewLink) {
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
