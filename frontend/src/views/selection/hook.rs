//! Hook for the selection that the views below the timeline share.

use crate::ask::{DeviceFigures, FindGroup, Hit, SelectionData};
use crate::hooks::Seen;
use crate::platform::WorkerClient;
use crate::state::{Choice, Choices, Meaning, Selecting};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Selection, with a callback that changes it.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectingHandle {
    selecting: Rc<Selecting>,
    on_change: Callback<Selecting>,
}

impl SelectingHandle {
    pub fn selecting(&self) -> &Selecting {
        &self.selecting
    }

    /// Changes the selection.
    pub fn choose(&self, selecting: Selecting) {
        self.on_change.emit(selecting);
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

    /// Resolves the selection for the shown device.
    pub fn data(&self, device: &DeviceFigures, pinned: Option<&Hit>, seen: Option<&Seen>) -> SelectionData {
        let seen = seen.filter(|seen| seen.device == device.device);
        let view = seen.and_then(|seen| seen.range.map(|range| (seen.axis, range.x.start, range.x.end)));
        self.selecting.data(&Meaning { peak: device.peak_moment, pin: pinned.map(|hit| hit.moment), view })
    }
}

impl SelectingHandle {
    /// Creates a handle from a file's choices and the callback that receives a changed selection.
    pub fn new(choices: &Choices, on_choose: &Callback<Choice>) -> Self {
        Self { selecting: Rc::new(choices.selecting.clone()), on_change: on_choose.reform(Choice::Selecting) }
    }
}

/// Looks up the group that an address names by its mark; if there is none, all groups are selected.
#[hook]
pub fn use_awaited_group(handle: &SelectingHandle, client: &WorkerClient, device: u32) {
    let awaited = handle.selecting().awaited_group();
    let handle = handle.clone();
    use_effect_with((client.clone(), device, awaited), move |(client, device, awaited)| {
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

/// Returns the selection of the views below the timeline.
///
/// # Panics
/// Panics outside of the dock, which provides the selection.
#[hook]
pub fn use_selecting() -> SelectingHandle {
    use_context().expect("the dock provides what is chosen")
}
