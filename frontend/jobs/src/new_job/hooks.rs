//! Hooks of the page: the draft, and its submission.

use std::rc::Rc;

use frontend::platform::{ApiError, ApiRequest, brought_config, token};
use shared::api::{GalleryRow, JobDetails};
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::model::draft::{Draft, DraftAction};
use super::model::edit::TextFile;
use crate::common::browser::{go_to, random_key};
use crate::common::hooks::{TokenHandle, once, use_fetched};
use crate::common::model::refusal::needs_token;
use crate::common::model::route::{Change, Route, Start};

/// [`Draft`] as the state of a yew reducer.
#[derive(Default, PartialEq)]
struct Model(Rc<Draft>);

impl Reducible for Model {
    type Action = DraftAction;

    fn reduce(self: Rc<Self>, action: DraftAction) -> Rc<Self> {
        Rc::new(Self(Rc::new(self.0.after(action))))
    }
}

/// Draft of a new job.
pub(crate) struct DraftHandle {
    pub draft: Rc<Draft>,
    /// Changes the draft.
    pub dispatch: Callback<DraftAction>,
    /// Reason why the config to start with could not be loaded.
    pub error: Option<ApiError>,
}

/// Returns the draft of a new job, loaded from what `start` names.
///
/// That is the example, a config of the gallery, the config of another job, or a file that was dropped on the viewer;
/// `change` is applied to it.
#[hook]
pub(crate) fn use_draft(start: &Start, change: &Change) -> DraftHandle {
    let model = use_reducer_eq(Model::default);
    let (gallery, job) = match start {
        Start::Example | Start::Brought => (None, None),
        Start::Gallery(_) => (Some("gallery".to_owned()), None),
        Start::Job(id) => (None, Some(format!("jobs/{id}"))),
    };
    let gallery = use_fetched::<Vec<GalleryRow>>(gallery, once);
    let job = use_fetched::<JobDetails>(job, once);
    let dispatcher = model.dispatcher();
    let change = change.clone();
    use_effect_with((start.clone(), gallery.now.answer.clone(), job.now.answer.clone()), move |(start, rows, job)| {
        if let (Start::Gallery(name), Some(rows)) = (start, rows)
            && let Some(config) = rows.iter().find(|row| row.name == *name).and_then(|row| row.config.clone())
        {
            dispatcher.dispatch(DraftAction::Load(config));
        }
        if let (Start::Brought, Some((name, text))) = (start, brought_config()) {
            dispatcher.dispatch(DraftAction::Bring(vec![TextFile { name, text }]));
        }
        if let Some(JobDetails { job, source, .. }) = job.as_deref() {
            let (card, steps, task) = (job.card.clone(), job.steps, job.task);
            dispatcher.dispatch(DraftAction::Again { source: source.clone(), card, steps, task });
        }
        dispatcher.dispatch(DraftAction::Change(change.clone()));
    });
    let error = gallery.now.error.clone().or_else(|| job.now.error.clone());
    let dispatcher = model.dispatcher();
    let dispatch = Callback::from(move |action| dispatcher.dispatch(action));
    DraftHandle { draft: Rc::clone(&model.0), dispatch, error }
}

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
    pub is_sending: bool,
    /// Reason why the server refused the submission.
    pub error: Option<ApiError>,
    /// Sends the config, then goes to the page of its job.
    pub send: Callback<()>,
}

/// Returns a handle that submits a draft.
///
/// The idempotency key changes only with the text and the task, so sending the same ones twice creates one job.
#[hook]
pub(crate) fn use_submit(draft: Rc<Draft>, token_handle: &TokenHandle, needs_one: bool) -> SubmitHandle {
    let sending = use_state_eq(Sending::default);
    let key = use_memo((draft.text.clone(), draft.script.clone(), draft.task), |_| random_key());
    use_effect_with((draft.text.clone(), draft.script.clone(), draft.task), {
        let sending = sending.setter();
        move |_| sending.set(Sending::Not)
    });
    let (handle, setter) = (token_handle.clone(), sending.setter());
    let send = Callback::from(move |()| {
        let (draft, key) = (Rc::clone(&draft), key.to_string());
        let submission = Submission { draft, key, handle: handle.clone(), sending: setter.clone() };
        if needs_one && token().is_none() {
            return submission.ask();
        }
        submission.send();
    });
    let error = if let Sending::Refused(error) = &*sending { Some(error.clone()) } else { None };
    SubmitHandle { is_sending: *sending == Sending::Now, error, send }
}

#[derive(Clone)]
struct Submission {
    draft: Rc<Draft>,
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
            let body = self.draft.request();
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
