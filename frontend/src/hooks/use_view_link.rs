//! Hooks that keep the address and the browser's history in step with the view on the screen.

use super::use_files::FilesHandle;
use super::view_link::ViewLink;
use crate::platform::{entry_name, fragment, on_history, put_entry};
use crate::state::{FileAction, FileStatus, NO_FILE, OpenFile, Place, Start, ViewState};
use yew::prelude::*;

/// Writes the view of the shown file to the page's address after a short delay.
#[hook]
pub fn use_view_link(files: &FilesHandle) -> ViewLink {
    let link = use_memo((), |()| ViewLink::new());
    link.follow(files.files());
    use_start_pin(files);
    use_history(files, &link);
    (*link).clone()
}

/// Pins the allocation of the initial view once the lifetimes of its device are known.
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

/// Shows the file and view of the browser's history entry whenever another entry becomes current.
#[hook]
pub(super) fn use_history(files: &FilesHandle, link: &ViewLink) {
    // The listener lives as long as the page, but the files change.
    let now = use_mut_ref(|| files.clone());
    *now.borrow_mut() = files.clone();
    let link = link.clone();
    use_effect_with((), move |()| {
        let listener = on_history(move || {
            let files = now.borrow().clone();
            arrive(&files, &link);
        });
        move || drop(listener)
    });
}

fn arrive(files: &FilesHandle, link: &ViewLink) {
    let text = fragment();
    match (entry_name(), text) {
        (Some(name), text) if name != NO_FILE => return_to(files, link, &name, text.as_deref()),
        // An entry without a file and without a view is the address with which the page was opened.
        (_, None) => {
            // The entry is named now, so that a reload shows the same.
            put_entry(false, NO_FILE, None);
            link.return_to(Place::default());
            files.dispatch(FileAction::ShowNone);
        }
        (_, Some(text)) => go_to(files, link, &text),
    }
}

/// Goes to an entry that this page has made, which names the file.
fn return_to(files: &FilesHandle, link: &ViewLink, name: &str, text: Option<&str>) {
    let all = &files.files().all;
    let Some(file) = all.iter().find(|file| *file.key == *name) else {
        // The file was closed: the page shows what it did before, and the address follows that.
        link.return_to(Place { file: Some(name.into()), view: None });
        return;
    };
    let view = text.and_then(|text| ViewState::from_text(text).ok());
    link.return_to(Place { file: Some(file.key.clone()), view: view.clone() });
    let is_same_part = view.as_ref().is_some_and(|view| is_same_part(link, file, view));
    if !is_same_part && view.is_some() {
        link.forget_range(file.id);
    }
    let start = view.map(|view| Box::new(Start { view: Some(view), ..Start::default() }));
    files.dispatch(FileAction::Return { id: file.id, start, is_same_part });
}

/// Returns true if the timeline of a file, now on the screen, already shows the part that a view names.
fn is_same_part(link: &ViewLink, file: &OpenFile, view: &ViewState) -> bool {
    let FileStatus::Ready(ready) = &file.status else { return false };
    let device = ready.summary.devices.get(ready.device as usize);
    device.is_some_and(|device| device.index == view.device)
        && ready.axis == view.axis
        && link.range(file.id, ready) == view.range
}

/// Applies an address that the user has entered to the shown file.
fn go_to(files: &FilesHandle, link: &ViewLink, text: &str) {
    if link.view().is_some_and(|view| view.to_text() == text) {
        return;
    }
    // The entered address already has its own history entry.
    let file = files.files().shown_file().map(|file| file.key.clone());
    link.return_to(Place { file, view: None });
    let start = match ViewState::from_text(text) {
        Ok(view) => {
            files.files().shown.inspect(|&id| link.forget_range(id));
            Start { view: Some(view), ..Start::default() }
        }
        Err(error) => Start { notice: Some(error.message(true).into()), ..Start::default() },
    };
    files.go_to(start);
}
