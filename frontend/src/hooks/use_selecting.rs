//! What is chosen in the views below the timeline, shared by them.

use super::Seen;
use crate::state::{Meaning, Selecting};
use crate::worker::{DeviceFigures, Hit, SelectionData};
use std::rc::Rc;
use yew::prelude::*;

/// What is chosen, and how to choose something else.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectingHandle {
    selecting: Rc<Selecting>,
    on_change: Callback<Selecting>,
}

impl SelectingHandle {
    /// What is chosen.
    pub fn selecting(&self) -> &Selecting {
        &self.selecting
    }

    /// Chooses something else.
    pub fn choose(&self, selecting: Selecting) {
        self.on_change.emit(selecting);
    }

    /// A callback that chooses what comes of its value.
    pub fn choosing<T: 'static>(&self, change: impl Fn(&mut Selecting, T) + 'static) -> Callback<T> {
        let handle = self.clone();
        Callback::from(move |value| {
            let mut selecting = handle.selecting().clone();
            change(&mut selecting, value);
            handle.choose(selecting);
        })
    }

    /// The selection that was chosen, for the shown device.
    pub fn data(&self, device: &DeviceFigures, pinned: Option<&Hit>, seen: Option<&Seen>) -> SelectionData {
        let seen = seen.filter(|seen| seen.device == device.device);
        let view = seen.and_then(|seen| seen.range.map(|range| (seen.axis, range.x.start, range.x.end)));
        self.selecting.data(&Meaning { peak: device.peak_moment, pin: pinned.map(|hit| hit.moment), view })
    }
}

/// The state behind [`use_selecting`]: for the component around all views.
#[hook]
pub fn use_selecting_state(device: u32) -> SelectingHandle {
    let selecting = use_state_eq(|| Rc::new(Selecting::default()));
    let setter = selecting.setter();
    use_effect_with(device, {
        let (before, setter) = (Rc::clone(&selecting), setter.clone());
        move |_| setter.set(Rc::new(before.for_other_device()))
    });
    let on_change = use_callback((), move |selecting: Selecting, ()| setter.set(Rc::new(selecting)));
    SelectingHandle { selecting: Rc::clone(&selecting), on_change }
}

/// What is chosen in the views below the timeline.
///
/// # Panics
/// Outside of the dock, which provides it.
#[hook]
pub fn use_selecting() -> SelectingHandle {
    use_context().expect("the dock provides what is chosen")
}
