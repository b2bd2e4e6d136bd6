//! The server's token: asked for when something needs it.

use frontend::platform::keep_token;
use yew::prelude::*;

/// Whether the token is asked for, and what waits for it.
#[derive(Clone, PartialEq)]
pub(crate) struct TokenHandle {
    waiting: UseStateHandle<Option<Callback<()>>>,
}

impl TokenHandle {
    /// Whether the dialog is open.
    pub(crate) fn is_asked(&self) -> bool {
        self.waiting.is_some()
    }

    /// Opens the dialog; `then` happens once there is a token.
    pub(crate) fn ask(&self, then: Callback<()>) {
        self.waiting.set(Some(then));
    }

    /// Keeps a token and goes on, or closes the dialog without one.
    pub(crate) fn answer(&self, token: Option<String>) {
        let waiting = (*self.waiting).clone();
        self.waiting.set(None);
        if let (Some(token), Some(then)) = (token, waiting) {
            keep_token(Some(&token));
            then.emit(());
        }
    }
}

/// The server's token.
#[hook]
pub(crate) fn use_token() -> TokenHandle {
    TokenHandle { waiting: use_state_eq(|| None) }
}
