//! Hooks that several pages share: answers of the server, and the token of the browser's tab.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use frontend::platform::{ApiError, ApiRequest, keep_token};
use gloo_timers::callback::Timeout;
use serde::de::DeserializeOwned;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Last answer and last error of a resource.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fetched<T> {
    pub answer: Option<Rc<T>>,
    /// Error of the last request; an older answer is kept beside it.
    pub error: Option<ApiError>,
}

impl<T> Default for Fetched<T> {
    fn default() -> Self {
        Self { answer: None, error: None }
    }
}

/// Resource with a way to request it again.
pub(crate) struct FetchedHandle<T: 'static> {
    pub now: UseStateHandle<Fetched<T>>,
    round: UseStateHandle<u32>,
}

impl<T> FetchedHandle<T> {
    /// Returns a callback that requests the resource again at once.
    pub(crate) fn again(&self) -> Callback<()> {
        let round = self.round.clone();
        Callback::from(move |()| round.set(round.wrapping_add(1)))
    }
}

/// Ends the requests after the first one.
pub(crate) fn once<T>(_: &Fetched<T>) -> Option<u32> {
    None
}

/// Reads the resource at `path` below `/api/v1`; without a path it reads nothing.
///
/// `wait_ms` maps each answer to the time until the next request, in milliseconds; `None` ends the requests.
#[hook]
pub(crate) fn use_fetched<T>(path: Option<String>, wait_ms: fn(&Fetched<T>) -> Option<u32>) -> FetchedHandle<T>
where
    T: DeserializeOwned + PartialEq + 'static,
{
    let now = use_state_eq(Fetched::default);
    let round = use_state_eq(|| 0);
    let setter = now.setter();
    use_effect_with((path, *round), move |(path, _)| {
        let fetch = Rc::new(Fetch {
            path: path.clone(),
            wait_ms,
            setter,
            last: RefCell::default(),
            timer: RefCell::default(),
            is_over: Cell::new(false),
        });
        Fetch::ask(&fetch);
        move || {
            fetch.is_over.set(true);
            fetch.timer.take();
        }
    });
    FetchedHandle { now, round }
}

struct Fetch<T: 'static> {
    path: Option<String>,
    wait_ms: fn(&Fetched<T>) -> Option<u32>,
    setter: UseStateSetter<Fetched<T>>,
    last: RefCell<Option<Rc<T>>>,
    timer: RefCell<Option<Timeout>>,
    is_over: Cell<bool>,
}

impl<T: DeserializeOwned + PartialEq + 'static> Fetch<T> {
    fn ask(this: &Rc<Self>) {
        let Some(path) = this.path.clone() else { return };
        let this = Rc::clone(this);
        spawn_local(async move {
            let answer = ApiRequest::get(path).send::<T>().await;
            // The answer is stale if the path or round has changed or the component is gone.
            if !this.is_over.get() {
                Self::hear(&this, answer);
            }
        });
    }

    fn hear(this: &Rc<Self>, answer: Result<T, ApiError>) {
        let fetched = match answer {
            Ok(answer) => Fetched { answer: Some(Rc::new(answer)), error: None },
            Err(error) => Fetched { answer: this.last.borrow().clone(), error: Some(error) },
        };
        this.last.borrow_mut().clone_from(&fetched.answer);
        let wait_ms = (this.wait_ms)(&fetched);
        this.setter.set(fetched);
        if let Some(wait_ms) = wait_ms {
            let next = Rc::clone(this);
            *this.timer.borrow_mut() = Some(Timeout::new(wait_ms, move || Self::ask(&next)));
        }
    }
}

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
