//! Light or dark.

use crate::platform::{SystemScheme, apply_scheme, remembered_scheme, system_scheme};
use crate::state::{Scheme, SchemeChoice};
use yew::prelude::*;

/// The chosen and the resulting colours.
#[derive(Clone, PartialEq)]
pub struct SchemeHandle {
    choice: UseStateHandle<SchemeChoice>,
    system: UseStateHandle<Scheme>,
}

impl SchemeHandle {
    /// What the user chose.
    pub fn choice(&self) -> SchemeChoice {
        *self.choice
    }

    /// What is shown.
    pub fn scheme(&self) -> Scheme {
        self.choice.resolve(*self.system)
    }

    /// Chooses, for this visit and the next.
    pub fn choose(&self, choice: SchemeChoice) {
        apply_scheme(choice);
        self.choice.set(choice);
    }
}

/// The colours of the page, which follow the system unless the user chose.
#[hook]
pub fn use_scheme() -> SchemeHandle {
    let choice = use_state_eq(remembered_scheme);
    let system = use_state_eq(system_scheme);
    let setter = system.setter();
    use_effect_with((), move |()| {
        let listener = SystemScheme::listen(move |scheme| setter.set(scheme));
        move || drop(listener)
    });
    SchemeHandle { choice, system }
}
