//! Hook for the server's token, which is asked for when a request needs it.

use frontend::platform::keep_token;
use yew::prelude::*;

/// State of the token dialog, with the callback that waits for the token.
#[derive(Clone, PartialEq)]
pub(crate) struct TokenHandle {
    waiting: UseStateHandle<Option<Callback<()>>>,
}

impl TokenHandle {
    /// True while the dialog is open.
    pub(crate) fn is_asked(&self) -> bool {
        self.waiting.is_some()
    }

    /// Opens the dialog; `then` is called once there is a token.
    pub(crate) fn ask(&self, then: Callback<()>) {
        self.waiting.set(Some(then));
    }

    /// Stores the token and calls the waiting callback, or closes the dialog if there is none.
    pub(crate) fn answer(&self, token: Option<String>) {
        let waiting = (*self.waiting).clone();
        self.waiting.set(None);
        if let (Some(token), Some(then)) = (token, waiting) {
            keep_token(Some(&token));
            then.emit(());
        }
    }
}

/// Returns the state of the token dialog.
#[hook]
pub(crate) fn use_token() -> TokenHandle {
    TokenHandle { waiting: use_state_eq(|| None) }
}
