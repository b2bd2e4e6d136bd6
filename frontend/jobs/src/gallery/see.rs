//! Page that opens the recording of a gallery config in the viewer, and has it made if nobody has opened it before.

use crate::common::browser::replace_by;
use crate::common::hooks::{Fetched, TokenHandle, use_fetched};
use crate::common::model::job;
use crate::common::model::refusal::needs_token;
use crate::common::model::route::Route;
use crate::common::parts::{refusal_note, way_back};
use frontend::platform::{ApiError, ApiRequest, set_title, site_url};
use shared::api::{ErrorCode, JobResource, JobState};
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct SeePageProps {
    pub name: AttrValue,
    pub token: TokenHandle,
}

fn wait_ms(job: &Fetched<Option<JobResource>>) -> Option<u32> {
    match (job.answer.as_deref(), &job.error) {
        (_, Some(error)) if error.is(ErrorCode::NotFound) => None,
        (_, Some(_)) => Some(3000),
        // It is asked again once it was ordered.
        (Some(None), None) => None,
        (Some(Some(job)), None) if job.state.is_over() => None,
        _ => Some(400),
    }
}

/// Shows the progress of the recording, then goes to the viewer.
#[component]
pub(crate) fn SeePage(props: &SeePageProps) -> Html {
    use_effect_with((), |()| set_title("Gallery – Snapscope"));
    let path = format!("gallery/{}/recording", props.name);
    let job = use_fetched::<Option<JobResource>>(Some(path.clone()), wait_ms);
    let refused = use_state_eq(|| None::<ApiError>);
    let order = Order { path, token: props.token.clone(), refused: refused.setter(), again: job.again() };
    use_effect_with(job.now.answer.as_deref() == Some(&None), {
        let order = order.clone();
        move |is_missing| {
            if *is_missing {
                order.send();
            }
        }
    });
    use_effect_with(job.now.answer.clone(), |job| {
        if let Some(job) = job.as_deref().and_then(Option::as_ref).filter(|job| job.snapshot_bytes.is_some()) {
            replace_by(&format!("?job={}", job.id));
        }
    });
    let error = (*refused).clone().or_else(|| job.now.error.clone());
    html! {
        <main class="page">
            { way_back() }
            <h1 class="page-title">{ "Opening the recording" }</h1>
            <p class="hint" role="status">
                { "The viewer opens when the recording is there. The first one to open it waits a few seconds, while the \
                   server records it." }
            </p>
            <div class="job-progress" data-recording={props.name.clone()}>
                if let Some(error) = error {
                    { refusal_note(&error, Some(&Callback::from(move |()| order.clone().send()))) }
                } else {
                    { progress(&props.name, job.now.answer.as_deref().and_then(Option::as_ref)) }
                }
            </div>
        </main>
    }
}

fn progress(name: &str, job: Option<&JobResource>) -> Html {
    let Some(job) = job else {
        return html! { <progress class="progress" max="1" aria-label={format!("Progress of {name}")} /> };
    };
    let share = job::share(job.progress.as_ref(), job.steps);
    let value = (job.state == JobState::Running && job.progress.is_some()).then(|| share.to_string());
    let value = if job.state.is_over() { Some("1".to_owned()) } else { value };
    html! {
        <>
            <progress class="progress" max="1" {value} aria-label={format!("Progress of {}", job.name)} />
            <p class="job-place">
                <a href={site_url(&Route::Job(job.id.clone()).path())}>{ &job.name }</a>
                <span class="numbers">{ job::state_word(job.state, job.outcome) }{ " · " }{ job::outcome(job) }</span>
            </p>
        </>
    }
}

/// Request to record the config.
#[derive(Clone)]
struct Order {
    path: String,
    token: TokenHandle,
    refused: UseStateSetter<Option<ApiError>>,
    /// Reads the job again.
    again: Callback<()>,
}

impl Order {
    fn send(self) {
        self.refused.set(None);
        spawn_local(async move {
            match ApiRequest::post(self.path.clone()).send::<JobResource>().await {
                Ok(_) => self.again.emit(()),
                Err(error) if needs_token(&error) => {
                    let token = self.token.clone();
                    self.refused.set(Some(error));
                    token.ask(Callback::from(move |()| self.clone().send()));
                }
                Err(error) => self.refused.set(Some(error)),
            }
        });
    }
}
