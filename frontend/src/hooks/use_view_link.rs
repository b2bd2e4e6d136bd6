//! The view on the screen, kept in the page's address.

use super::use_files::FilesHandle;
use crate::draw::camera::View;
use crate::platform::{FragmentListener, replace_fragment};
use crate::state::{FileId, FileStatus, Files, ReadyFile, Start, ViewState};
use crate::worker::AxisKind;
use gloo_timers::callback::Timeout;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use yew::prelude::*;

/// The address follows when the view has rested for so long: browsers refuse pages that change it all the time.
const REST_MS: u32 = 400;

/// What the timeline shows, as it tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Position of the device.
    pub device: u32,
    /// What runs along x.
    pub axis: AxisKind,
    /// The part in view; `None` for all of it.
    pub range: Option<View>,
    /// Whether a view was left that one can go back to.
    pub can_go_back: bool,
}

/// The view of the shown file, up to date at any moment.
///
/// A timeline that is dragged tells its view with every frame, so this renders nothing.
#[derive(Clone, Default)]
pub struct ViewLink {
    inner: Rc<Inner>,
}

#[derive(Default)]
struct Inner {
    files: RefCell<Files>,
    seen: Cell<Option<(FileId, Seen)>>,
    due: RefCell<Option<Timeout>>,
    /// Whether a file of this visit was shown: from then on the address is about this visit's files.
    is_started: Cell<bool>,
}

impl PartialEq for ViewLink {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }
}

impl ViewLink {
    /// The timeline shows another part.
    pub fn see(&self, seen: Seen) {
        let shown = self.inner.files.borrow().shown;
        self.inner.seen.set(shown.map(|id| (id, seen)));
        self.write_soon();
    }

    /// What is on the screen; `None` where no file is shown.
    pub fn view(&self) -> Option<ViewState> {
        let files = self.inner.files.borrow();
        let file = files.shown_file()?;
        let FileStatus::Ready(ready) = &file.status else { return None };
        let mut view = ready.view_state(self.range(file.id, ready));
        if view.choices.are_ranks != files.are_ranks {
            Rc::make_mut(&mut view.choices).are_ranks = files.are_ranks;
        }
        Some(view)
    }

    /// The part in view; before the timeline has told, the one that it begins with.
    fn range(&self, id: FileId, ready: &ReadyFile) -> Option<View> {
        let is_of =
            |(file, seen): &(FileId, Seen)| *file == id && seen.device == ready.device && seen.axis == ready.axis;
        self.inner.seen.get().filter(is_of).map_or(ready.start_range, |(_, seen)| seen.range)
    }

    /// What the timeline has told is of the view before.
    fn forget_range(&self) {
        self.inner.seen.set(None);
    }

    fn follow(&self, files: &Files) {
        let is_other = *self.inner.files.borrow() != *files;
        if is_other {
            let is_shown = files.shown_file().is_some_and(|file| matches!(file.status, FileStatus::Ready(_)));
            self.inner.is_started.set(self.inner.is_started.get() || is_shown);
            *self.inner.files.borrow_mut() = files.clone();
            self.write_soon();
        }
    }

    fn write_soon(&self) {
        let link = self.clone();
        *self.inner.due.borrow_mut() = Some(Timeout::new(REST_MS, move || link.write()));
    }

    /// An address that was opened stays until a file is shown with its view.
    fn write(&self) {
        let text = self.view().map(|view| view.to_text());
        let has_files = !self.inner.files.borrow().all.is_empty();
        if text.is_some() || (self.inner.is_started.get() && !has_files) {
            replace_fragment(text.as_deref());
        }
    }
}

/// The view of the shown file, in the page's address a moment later.
#[hook]
pub fn use_view_link(files: &FilesHandle) -> ViewLink {
    let link = use_memo((), |()| ViewLink::default());
    link.follow(files.files());
    use_start_pin(files);
    use_pasted(files, &link);
    (*link).clone()
}

/// Goes to the view of an address that somebody puts into an open page.
#[hook]
fn use_pasted(files: &FilesHandle, link: &ViewLink) {
    // The listener lives as long as the page, and files change.
    let now = use_mut_ref(|| files.clone());
    *now.borrow_mut() = files.clone();
    let link = link.clone();
    use_effect_with((), move |()| {
        let listener = FragmentListener::new(move |fragment| {
            let files = now.borrow().clone();
            let text = fragment.unwrap_or_default();
            if text.is_empty() || link.view().is_some_and(|view| view.to_text() == text) {
                return;
            }
            let start = match ViewState::from_text(&text) {
                Ok(view) => {
                    link.forget_range();
                    Start { view: Some(view), notice: None }
                }
                Err(error) => Start { view: None, notice: Some(error.of_open_page().into()) },
            };
            files.go_to(start);
        });
        move || drop(listener)
    });
}

/// Pins what the view to begin with has pinned, once the lifetimes of its device are known.
#[hook]
fn use_start_pin(files: &FilesHandle) {
    let wanted = files.files().shown_file().and_then(|file| {
        let FileStatus::Ready(ready) = &file.status else { return None };
        ready.shown_figures()?;
        Some((file.id, ready.device, ready.start_pin?))
    });
    let files = files.clone();
    use_effect_with(wanted, move |wanted| {
        if let Some((id, device, pin)) = *wanted {
            files.pin_start(id, device, pin);
        }
    });
}
