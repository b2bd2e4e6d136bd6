//! Writes the view on the screen to the page's address and to the browser's history.

use crate::ask::Axis;
use crate::draw::camera::View;
use crate::platform::{entry_name, fragment, has_files, page_path, put_entry, search_params};
use crate::state::{
    Address, Entry, FileId, FileStatus, Files, NO_FILE, OpenFile, Place, ReadyFile, ViewState, entry_for,
};
use gloo_timers::callback::Timeout;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use yew::prelude::*;

/// Time without movement after which a moved view is written to the address, in milliseconds.
///
/// Browsers refuse address changes that come too often, and a turn of the wheel becomes a single history step.
const REST_MS: u32 = 400;

/// Delay in milliseconds after a click, which is shorter so that a quick Back undoes the click.
const CLICK_MS: u32 = 60;

/// View of the timeline as it reports it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Position of the device.
    pub device: u32,
    pub axis: Axis,
    /// Part in view; `None` for all of it.
    pub range: Option<View>,
    /// True if there is an earlier view to go back to.
    pub can_go_back: bool,
}

/// Current view of the shown file.
///
/// A dragged timeline reports its view with every frame, so an update does not render the page.
#[derive(Clone, Default)]
pub struct ViewLink {
    inner: Rc<Inner>,
}

#[derive(Default)]
struct Inner {
    files: RefCell<Files>,
    /// Last view of each file.
    seen: RefCell<HashMap<FileId, Seen>>,
    due: RefCell<Option<Timeout>>,
    is_due: Cell<bool>,
    /// True once a file of this visit was shown; from then on the address describes this visit's files.
    is_started: Cell<bool>,
    /// Place that the current history entry describes; `None` while it is the address with which the page was opened.
    place: RefCell<Option<Place>>,
    /// True if the view comes from another history entry and has not come to rest since.
    is_returning: Cell<bool>,
    on_rest: RefCell<Option<Callback<()>>>,
}

impl PartialEq for ViewLink {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }
}

impl ViewLink {
    /// Creates the link for the address with which the page was opened.
    pub(super) fn new() -> Self {
        let link = Self::default();
        let is_plain = fragment().is_none() && is_plain_page();
        let is_home = is_plain && entry_name().is_none_or(|name| name == NO_FILE);
        *link.inner.place.borrow_mut() = is_home.then(Place::default);
        link
    }

    /// Stores a view that a file's timeline reports; by then another file may be shown.
    pub fn see(&self, id: FileId, seen: Seen) {
        self.inner.seen.borrow_mut().insert(id, seen);
        self.write_in(REST_MS);
    }

    /// Returns the current view; `None` if no file is shown.
    pub fn view(&self) -> Option<ViewState> {
        let files = self.inner.files.borrow();
        self.view_of(files.shown_file()?, files.are_ranks)
    }

    /// Returns the last view of a file; `None` if the file is not ready.
    pub fn view_of(&self, file: &OpenFile, are_ranks: bool) -> Option<ViewState> {
        let FileStatus::Ready(ready) = &file.status else { return None };
        let mut view = ready.view_state(self.range(file.id, ready));
        if view.choices.are_ranks != are_ranks {
            Rc::make_mut(&mut view.choices).are_ranks = are_ranks;
        }
        Some(view)
    }

    /// Returns the part in view; before the timeline's first report, the initial one.
    pub fn range(&self, id: FileId, ready: &ReadyFile) -> Option<View> {
        let seen = self.inner.seen.borrow().get(&id).copied();
        let is_of = |seen: &Seen| seen.device == ready.device && seen.axis == ready.axis;
        seen.filter(is_of).map_or(ready.start_range, |seen| seen.range)
    }

    /// Drops the last reported view of a file, because it is out of date.
    pub(super) fn forget_range(&self, id: FileId) {
        self.inner.seen.borrow_mut().remove(&id);
    }

    /// Notes that another history entry is shown, so that the resulting changes add no entry of their own.
    pub(super) fn return_to(&self, place: Place) {
        *self.inner.place.borrow_mut() = Some(place);
        self.inner.is_returning.set(true);
        self.write_in(REST_MS);
    }

    /// Sets the callback for each time that the view comes to rest.
    pub(super) fn on_rest(&self, on_rest: Callback<()>) {
        *self.inner.on_rest.borrow_mut() = Some(on_rest);
    }

    pub(super) fn follow(&self, files: &Files) {
        let is_other = *self.inner.files.borrow() != *files;
        if is_other {
            let is_left = self.inner.files.borrow().shown != files.shown && !self.inner.is_returning.get();
            if is_left && self.inner.is_due.get() {
                // The file that is left gets its history entry even if it was shown only for a moment.
                self.write();
            }
            let is_shown = files.shown_file().is_some_and(|file| matches!(file.status, FileStatus::Ready(_)));
            self.inner.is_started.set(self.inner.is_started.get() || is_shown);
            *self.inner.files.borrow_mut() = files.clone();
            self.write_in(CLICK_MS);
        }
    }

    fn write_in(&self, ms: u32) {
        // A moving view is written when it comes to rest, even if something is clicked meanwhile.
        let is_moving = ms < REST_MS && self.inner.is_due.get();
        if !is_moving {
            let link = self.clone();
            self.inner.is_due.set(true);
            *self.inner.due.borrow_mut() = Some(Timeout::new(ms, move || link.rest()));
        }
    }

    fn rest(&self) {
        self.inner.is_due.set(false);
        self.write();
        let on_rest = self.inner.on_rest.borrow().clone();
        if let Some(on_rest) = on_rest {
            on_rest.emit(());
        }
    }

    /// Updates the history; the address with which the page was opened stays until a file is shown with its view.
    fn write(&self) {
        let Some(place) = self.place() else { return };
        let is_returning = self.inner.is_returning.replace(false);
        let before = self.inner.place.borrow().clone();
        let is_of_person = !is_returning && !self.is_moved_by_itself(before.as_ref());
        let entry = entry_for(before.as_ref(), &place, is_of_person);
        if entry != Entry::Same {
            let text = place.view.as_ref().map(ViewState::to_text);
            put_entry(entry == Entry::New, place.file.as_deref().unwrap_or(NO_FILE), text.as_deref());
            *self.inner.place.borrow_mut() = Some(place);
        }
    }

    fn place(&self) -> Option<Place> {
        let files = self.inner.files.borrow();
        let file = files.shown_file().map(|file| file.key.clone());
        let view = self.view();
        (view.is_some() || self.inner.is_started.get()).then_some(Place { file, view })
    }

    /// Returns true if the page itself chose another of several files, or the file of the previous place was closed.
    fn is_moved_by_itself(&self, before: Option<&Place>) -> bool {
        let files = self.inner.files.borrow();
        let key = before.and_then(|place| place.file.as_ref());
        let old = key.and_then(|key| files.all.iter().find(|file| file.key == *key));
        let is_together = old.zip(files.shown_file()).is_some_and(|(old, shown)| old.batch == shown.batch);
        let is_chosen = files.is_unattended && is_together && old.map(|file| file.id) != files.shown;
        is_chosen || (key.is_some() && old.is_none())
    }
}

pub(super) fn address() -> Address {
    Address::of(&page_path(), search_params, has_files())
}

/// Returns true if the address names nothing, so that files are opened by hand.
pub(super) fn is_plain_page() -> bool {
    address() == Address::Plain
}
