//! Hook for the colour scheme, light or dark.

use crate::platform::{SystemScheme, apply_scheme, remembered_scheme, system_scheme};
use crate::state::{Scheme, SchemeChoice};
use yew::prelude::*;

/// Chosen and effective colour scheme.
#[derive(Clone, PartialEq)]
pub struct SchemeHandle {
    choice: UseStateHandle<SchemeChoice>,
    system: UseStateHandle<Scheme>,
}

impl SchemeHandle {
    /// Returns the user's choice.
    pub fn choice(&self) -> SchemeChoice {
        *self.choice
    }

    /// Returns the effective scheme.
    pub fn scheme(&self) -> Scheme {
        self.choice.resolve(*self.system)
    }

    /// Changes the choice, for this visit and later ones.
    pub fn choose(&self, choice: SchemeChoice) {
        apply_scheme(choice);
        self.choice.set(choice);
    }
}

/// Returns the page's colour scheme, which follows the system's unless the user has chosen one.
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
