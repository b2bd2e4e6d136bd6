//! Hook for sharing the shown file, and the share links that were created in this browser, in its local storage.
//!
//! The file's worker makes a copy, which is uploaded on request. Other tabs change the links too, so each change starts
//! from what is stored at that moment.

use crate::ask::{CopyOptions, GetCopyPreview, WriteCopy};
use crate::platform::{ApiError, ApiRequest, AskError, Upload, WorkerClient, store, stored, unix_ms};
use crate::state::{CopyStep, Link, Links, SendFailure, SendStep, Sharing, SharingAction, ViewState, shared_view_text};
use gloo_timers::future::TimeoutFuture;
use shared::api::{ErrorCode, ServerLimits, ShareCreated, ShareRequest};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;
use yew::prelude::*;

/// Time without a change of the options after which a copy is made, in milliseconds.
const REST_MS: u32 = 250;

/// [`Sharing`] as the state of a yew reducer.
#[derive(Default, PartialEq)]
struct Model(Sharing);

impl Reducible for Model {
    type Action = SharingAction;

    fn reduce(self: Rc<Self>, action: SharingAction) -> Rc<Self> {
        Rc::new(Self(self.0.after(action)))
    }
}

/// State that rendering does not depend on.
#[derive(Default)]
struct Work {
    copy: RefCell<Option<Blob>>,
    upload: RefCell<Option<Upload>>,
    /// Number of copies requested so far; results of earlier requests are dropped.
    round: Cell<u32>,
}

#[derive(Clone)]
pub struct SharingHandle {
    model: UseReducerHandle<Model>,
    work: Rc<Work>,
    view: ViewState,
}

impl PartialEq for SharingHandle {
    fn eq(&self, other: &Self) -> bool {
        self.model == other.model
    }
}

impl SharingHandle {
    pub fn state(&self) -> &Sharing {
        &self.model.0
    }

    pub fn dispatch(&self, action: SharingAction) {
        self.model.dispatch(action);
    }

    /// Returns the texts typed by the user that the link will contain.
    pub fn typed(&self) -> Vec<&str> {
        self.view.typed()
    }

    /// Returns a callback that does something with the dialog's state.
    pub fn doing<T: 'static>(&self, act: impl Fn(&Self, T) + 'static) -> Callback<T> {
        let sharing = self.clone();
        Callback::from(move |value| act(&sharing, value))
    }

    pub fn send(&self) {
        let Some(copy) = self.work.copy.borrow().clone().filter(|_| self.state().can_send()) else { return };
        let sharing = self.state();
        let request = ShareRequest {
            title: sharing.title.trim().to_owned(),
            view_state: shared_view_text(&self.view, &sharing.options),
            days: sharing.days,
        };
        let json = serde_json::to_string(&request).expect("wire types have texts as keys");
        let (told, ended) = (self.model.dispatcher(), self.model.dispatcher());
        let step = |sent_bytes, total_bytes| SharingAction::Send(SendStep::Sending { sent_bytes, total_bytes });
        self.dispatch(step(0, copy.size() as u64));
        let title = request.title;
        let upload = Upload::start(
            "shares",
            &json,
            &copy,
            move |sent, total| told.dispatch(step(sent, total)),
            move |answer| ended.dispatch(SharingAction::Send(outcome(title, answer))),
        );
        match upload {
            Ok(upload) => drop(self.work.upload.replace(Some(upload))),
            Err(_) => self.dispatch(SharingAction::Send(SendStep::Failed(refused(ApiError::NoServer)))),
        }
    }

    pub fn cancel(&self) {
        drop(self.work.upload.take());
        self.dispatch(SharingAction::Send(SendStep::Nothing));
    }

    pub fn delete(&self, link: Link) {
        let dispatcher = self.model.dispatcher();
        spawn_local(async move {
            let step = match delete_link(&link).await {
                Ok(()) => SendStep::Deleted,
                Err(error) => SendStep::Failed(refused(error)),
            };
            dispatcher.dispatch(SharingAction::Send(step));
        });
    }
}

/// Deletes a link on the server and from this browser's list, also if the server no longer has it.
///
/// # Errors
/// Returns an error if the server does not answer or refuses; the link then stays in the list.
pub async fn delete_link(link: &Link) -> Result<(), ApiError> {
    let request = ApiRequest::delete(format!("shares/{}", link.token))
        .header("authorization", format!("Bearer {}", link.delete_token));
    match request.send_for_nothing().await {
        Err(error) if !error.is(ErrorCode::NotFound) => Err(error),
        _ => {
            change(|links| links.remove(&link.token));
            Ok(())
        }
    }
}

/// Parses the answer to an upload and stores its link in this browser.
fn outcome(title: String, answer: Result<String, ApiError>) -> SendStep {
    let created = answer.and_then(|text| serde_json::from_str::<ShareCreated>(&text).map_err(|_| ApiError::NoServer));
    match created {
        Ok(ShareCreated { token, delete_token, expires_ms }) => {
            let link = Link { token, delete_token, title, created_ms: unix_ms(), expires_ms };
            // If storage is disabled, only the dialog that created the link knows it.
            change(|links| links.add(link.clone()));
            SendStep::Done(link)
        }
        Err(error) => SendStep::Failed(refused(error)),
    }
}

fn refused(error: ApiError) -> SendFailure {
    match error {
        ApiError::NoServer => SendFailure {
            message: "The server does not respond.".to_owned(),
            hint: "Check the connection, then try again.".to_owned(),
            needs_token: false,
        },
        // The server's own hint is written for programs.
        error if error.is(ErrorCode::Unauthorized) => SendFailure {
            message: "This server accepts copies only with its token.".to_owned(),
            hint: "Ask the server's operator for the token, type it below and upload again. This browser keeps it."
                .to_owned(),
            needs_token: true,
        },
        ApiError::Refused(body) => SendFailure { message: body.message, hint: body.hint, needs_token: false },
    }
}

/// Returns the sharing state of a file with the view that is on the screen now.
#[hook]
pub fn use_sharing(client: &WorkerClient, view: &ViewState) -> SharingHandle {
    let model = use_reducer_eq(Model::default);
    let work = use_memo((), |()| Work::default());
    let handle = SharingHandle { model, work, view: view.clone() };
    let (dispatcher, work) = (handle.model.dispatcher(), handle.work.clone());
    use_effect_with((), move |()| {
        spawn_local(async move {
            let limits: Option<ServerLimits> = ApiRequest::get("limits").send().await.ok();
            dispatcher.dispatch(SharingAction::Hear(limits));
        });
        // A closed dialog uploads nothing more and waits for no copy.
        move || {
            work.round.set(u32::MAX);
            drop(work.upload.take());
        }
    });
    let (of_options, client) = (handle.clone(), client.clone());
    use_effect_with(handle.state().options.clone(), move |options| {
        of_options.work.round.set(of_options.work.round.get() + 1);
        of_options.work.copy.replace(None);
        let options = options.clone();
        spawn_local(async move { of_options.prepare(&client, options).await });
    });
    handle
}

impl SharingHandle {
    /// Requests a preview of the options' effect, then the copy, unless the options change meanwhile.
    async fn prepare(&self, client: &WorkerClient, options: CopyOptions) {
        let round = self.work.round.get();
        if round > 1 {
            TimeoutFuture::new(REST_MS).await;
        }
        if self.work.round.get() != round {
            return;
        }
        if let Ok(preview) = client.ask(GetCopyPreview { options: options.clone() }).await {
            self.tell(round, SharingAction::Preview(Rc::new(preview)));
        }
        let told = self.clone();
        let progress = move |share| told.tell(round, SharingAction::Copy(CopyStep::Making(share)));
        match client.file(WriteCopy { options }, progress).await {
            Ok(copy) => {
                let bytes = copy.size() as u64;
                if self.work.round.get() == round {
                    self.work.copy.replace(Some(copy));
                }
                self.tell(round, SharingAction::Copy(CopyStep::Made { bytes }));
            }
            Err(AskError::Refused(reason)) => self.tell(round, SharingAction::Copy(CopyStep::Failed(reason))),
            // Another copy is being made, or the file is closed.
            Err(AskError::Superseded | AskError::Closed) => (),
        }
    }

    fn tell(&self, round: u32, action: SharingAction) {
        if self.work.round.get() == round {
            self.dispatch(action);
        }
    }
}

const NAME: &str = "snapscope-links";

/// Storage key for a list that this version cannot read, so that its deletion tokens are not lost.
const ASIDE: &str = "snapscope-links-unread";

/// Returns the links, and whether the stored list could be read.
pub fn kept() -> (Links, bool) {
    match stored(NAME).as_deref().map(Links::from_text) {
        None => (Links::default(), true),
        Some(Ok(links)) => (links, true),
        Some(Err(_)) => (Links::default(), false),
    }
}

pub fn forget_ended(now_ms: i64) {
    if kept().0.remove_ended(now_ms) > 0 {
        change(|links| {
            links.remove_ended(now_ms);
        });
    }
}

fn change(act: impl FnOnce(&mut Links)) {
    let (mut links, is_readable) = kept();
    if let (false, Some(text)) = (is_readable, stored(NAME)) {
        store(ASIDE, &text);
    }
    act(&mut links);
    store(NAME, &links.to_text());
}
