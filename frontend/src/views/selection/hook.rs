//! Hook for the selection that the views below the timeline share.

use crate::ask::{FindGroup, SelectionData};
use crate::hooks::{FileHandle, Seen, ShownFile, use_file, use_shown};
use crate::state::{Choice, Meaning, Selecting};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Selection, with the file whose views it limits.
#[derive(Clone, PartialEq)]
pub struct SelectingHandle {
    file: FileHandle,
    shown: Rc<ShownFile>,
}

impl SelectingHandle {
    pub fn selecting(&self) -> &Selecting {
        &self.shown.ready.choices.selecting
    }

    /// Changes the selection.
    pub fn choose(&self, selecting: Selecting) {
        self.file.choose(Choice::Selecting(selecting));
    }

    /// Returns a callback that applies `change` with its argument to the selection.
    pub fn choosing<T: 'static>(&self, change: impl Fn(&mut Selecting, T) + 'static) -> Callback<T> {
        let handle = self.clone();
        Callback::from(move |value| {
            let mut selecting = handle.selecting().clone();
            change(&mut selecting, value);
            handle.choose(selecting);
        })
    }

    /// Resolves the selection for the shown device and the part of the timeline in view.
    pub fn data(&self, seen: Option<Seen>) -> SelectionData {
        let ShownFile { ready, device, .. } = &*self.shown;
        let seen = seen.filter(|seen| seen.device == device.device);
        let view = seen.and_then(|seen| seen.range.map(|range| (seen.axis, range.x.start, range.x.end)));
        let pin = ready.pinned.as_ref().map(|hit| hit.moment);
        self.selecting().data(&Meaning { peak: device.peak_moment, pin, view })
    }
}

/// Returns the selection of the views below the timeline.
#[hook]
pub fn use_selecting() -> SelectingHandle {
    SelectingHandle { file: use_file(), shown: use_shown() }
}

/// Looks up the group that an address names by its mark; if there is none, all groups are selected.
#[hook]
pub fn use_awaited_group() {
    let handle = use_selecting();
    let (device, awaited) = (handle.shown.device.device, handle.selecting().awaited_group());
    use_effect_with((handle.file.client.clone(), device, awaited), move |(client, device, awaited)| {
        let (client, device, awaited) = (client.clone(), *device, *awaited);
        spawn_local(async move {
            let Some(mark) = awaited else { return };
            // An error means that the file was closed.
            if let Ok(found) = client.ask(FindGroup { device, group: mark }).await {
                let group = found.map(|(key, title)| (key, title, mark.mark));
                handle.choose(handle.selecting().with_group(group));
            }
        });
    });
}
