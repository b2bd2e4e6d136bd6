//! Hook that reopens local files after a reload or Back.
//!
//! The tab remembers the files, and the browser stores their bytes for a day.

use super::local_files::{CHOICE, NO, is_keeping_chosen};
use super::use_files::FilesHandle;
use super::view_link::{ViewLink, is_plain_page};
use crate::platform::{can_keep, entry_name, guard_page, kept_file, on_leave, page_address, session_text, store};
use crate::state::{FileAction, Keeping, NO_FILE, OpenFile};
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

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
            let listener = on_leave(save);
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
        let guard = is_at_risk.then(guard_page);
        move || drop(guard)
    });
    SessionHandle {
        is_restoring: *is_restoring,
        is_keeping: *is_keeping,
        on_keep: choose(files, is_keeping.setter()),
        on_forget: files.doing(|files, ()| {
            files.local().awaited.borrow_mut().clear();
            files.dispatch(FileAction::AwaitNone);
        }),
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
    files.doing(move |files, is_keeping| {
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
