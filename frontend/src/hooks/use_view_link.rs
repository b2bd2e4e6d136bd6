//! Hook that keeps the address and the browser's history in step with the view on the screen.

use super::use_files::FilesHandle;
use super::use_history::use_history;
use super::view_link::ViewLink;
use crate::state::FileStatus;
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
