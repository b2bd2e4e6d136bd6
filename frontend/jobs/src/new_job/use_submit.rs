//! Hook that submits a config as a new job.

use super::model::draft::Draft;
use crate::common::browser::{go_to, random_key};
use crate::common::model::refusal::needs_token;
use crate::common::model::route::Route;
use crate::common::use_token::TokenHandle;
use frontend::platform::{ApiError, ApiRequest, token};
use shared::api::{JobDetails, JobRequest, JobTask};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// State of a submission.
#[derive(Clone, Debug, Default, PartialEq)]
enum Sending {
    /// Nothing was sent yet, or the text has changed since.
    #[default]
    Not,
    Now,
    Refused(ApiError),
}

/// Submission of a draft, with its state.
pub(crate) struct SubmitHandle {
    sending: UseStateHandle<Sending>,
    send: Callback<()>,
}

impl SubmitHandle {
    pub(crate) fn is_sending(&self) -> bool {
        *self.sending == Sending::Now
    }

    /// Returns why the server refused the submission.
    pub(crate) fn error(&self) -> Option<ApiError> {
        match &*self.sending {
            Sending::Refused(error) => Some(error.clone()),
            _ => None,
        }
    }

    /// Returns a callback that sends the config, then goes to the page of its job.
    pub(crate) fn send(&self) -> Callback<()> {
        self.send.clone()
    }
}

/// Returns a handle that submits a draft.
///
/// The idempotency key changes only with the text and the task, so sending the same ones twice creates one job.
#[hook]
pub(crate) fn use_submit(draft: Rc<Draft>, token_handle: &TokenHandle, needs_one: bool) -> SubmitHandle {
    let sending = use_state_eq(Sending::default);
    let key = use_memo((draft.text.clone(), draft.task), |_| random_key());
    use_effect_with((draft.text.clone(), draft.task), {
        let sending = sending.setter();
        move |_| sending.set(Sending::Not)
    });
    let (handle, setter) = (token_handle.clone(), sending.setter());
    let send = Callback::from(move |()| {
        let (text, task, key) = (draft.text.clone(), draft.task, key.to_string());
        let submission = Submission { text, task, key, handle: handle.clone(), sending: setter.clone() };
        if needs_one && token().is_none() {
            return submission.ask();
        }
        submission.send();
    });
    SubmitHandle { sending, send }
}

#[derive(Clone)]
struct Submission {
    text: String,
    task: JobTask,
    key: String,
    handle: TokenHandle,
    sending: UseStateSetter<Sending>,
}

impl Submission {
    fn ask(self) {
        let handle = self.handle.clone();
        handle.ask(Callback::from(move |()| self.clone().send()));
    }

    fn send(self) {
        self.sending.set(Sending::Now);
        spawn_local(async move {
            let body = JobRequest { config: self.text.clone(), task: Some(self.task), ..JobRequest::default() };
            let request = ApiRequest::post("jobs").header("idempotency-key", self.key.clone()).json(&body);
            match request.send::<JobDetails>().await {
                Ok(details) => go_to(&Route::Job(details.job.id).path()),
                Err(error) if needs_token(&error) => {
                    self.sending.set(Sending::Not);
                    self.ask();
                }
                Err(error) => self.sending.set(Sending::Refused(error)),
            }
        });
    }
}
