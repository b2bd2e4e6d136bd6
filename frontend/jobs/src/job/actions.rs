//! What can be done with a job: buttons, forms that change it, and the choice of another job to compare it with.

use frontend::components::dialog::Dialog;
use frontend::components::icon::{IconName, icon};
use frontend::platform::{api_url, site_url};
use shared::api::{JobChange, JobList, JobResource, JobState, JobTask};
use shared::base::format;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use super::use_orders::Order;
use crate::common::browser::{clock_ms, go_to};
use crate::common::hooks::{Fetched, use_fetched};
use crate::common::model::job;
use crate::common::model::job::recording;
use crate::common::model::route::{Change, Route, Start};

/// Offers what the job's state allows: open, compare, download, run again, rename, cancel, delete.
///
/// `state` may be ahead of the job's own; `is_ending` is true once the job was asked to end.
pub(crate) fn job_actions(job: &JobResource, state: JobState, is_ending: bool, on_order: &Callback<Order>) -> Html {
    let JobResource { id, name, snapshot_bytes, task, .. } = job;
    let other = |task| site_url(&Route::New(Start::Job(id.clone()), Change::to_task(task)).path());
    let again = site_url(&Route::new_job(Start::Job(id.clone())).path());
    let on_cancel = on_order.reform(|()| Order::Cancel);
    html! {
        <div class="actions">
            if let Some(size_bytes) = snapshot_bytes {
                <a class="button primary" href={site_url(&format!("?job={id}"))}>
                    { icon(IconName::Peak) }{ "Open in viewer" }
                </a>
                <Compare id={id.clone()} />
                <a class="button" href={api_url(&format!("jobs/{id}/snapshot"))} download="">
                    { icon(IconName::Drop) }{ format!("Download ({})", format::bytes(*size_bytes)) }
                </a>
            }
            <a class="button" href={again}>{ icon(IconName::Again) }{ "Run again with…" }</a>
            if *task == JobTask::Record {
                <a class="button" href={other(JobTask::Fit)}>{ "Find the largest batch" }</a>
                <a class="button" href={other(JobTask::Fix)}>{ "Try remedies" }</a>
                <a class="button" href={other(JobTask::Sweep)}>{ "Sweep…" }</a>
            }
            <Rename name={name.clone()} on_rename={on_order.reform(Order::Rename)} />
            if state.is_over() {
                <Delete has_snapshot={snapshot_bytes.is_some()} on_delete={on_order.reform(|()| Order::Delete)} />
            } else {
                <Cancel is_running={state == JobState::Running} {is_ending} {on_cancel} />
            }
        </div>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct CancelProps {
    /// True if the job is running, so that cancelling it loses what it has recorded.
    is_running: bool,
    /// True once the job was asked to end.
    is_ending: bool,
    on_cancel: Callback<()>,
}

/// Shows the cancel button; a running job is cancelled only after a confirmation.
#[component]
fn Cancel(props: &CancelProps) -> Html {
    let is_asked = use_state_eq(|| false);
    let set = |asked: bool| {
        let is_asked = is_asked.clone();
        Callback::from(move |()| is_asked.set(asked))
    };
    let onclick = if props.is_running { set(true) } else { props.on_cancel.clone() };
    let confirm = {
        let (close, on_cancel) = (set(false), props.on_cancel.clone());
        move |_: MouseEvent| {
            close.emit(());
            on_cancel.emit(());
        }
    };
    html! {
        <>
            <button type="button" class="button" disabled={props.is_ending}
                onclick={onclick.reform(|_: MouseEvent| ())}>
                { icon(IconName::Stop) }{ if props.is_ending { "Cancelling…" } else { "Cancel" } }
            </button>
            if *is_asked {
                <Dialog id="cancel-title" class="small" title="Cancel this job?" on_close={set(false)}>
                    <p class="hint">{ "The job is running. What it has recorded so far will be lost." }</p>
                    <div class="card-foot">
                        <button type="button" class="button primary" onclick={confirm}>{ "Cancel the job" }</button>
                        <button type="button" class="button" onclick={set(false).reform(|_: MouseEvent| ())}>{ "Let it run" }</button>
                    </div>
                </Dialog>
            }
        </>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct RenameProps {
    /// Current name.
    pub name: AttrValue,
    pub on_rename: Callback<String>,
}

/// Shows a button that opens a dialog for another name.
#[component]
pub(super) fn Rename(props: &RenameProps) -> Html {
    // The typed text is state because an unfinished job redraws this component, which would reset the field to the old
    // name.
    let typed = use_state_eq(|| None::<String>);
    let set = {
        let typed = typed.setter();
        Callback::from(move |text| typed.set(text))
    };
    let open = set.reform({
        let name = props.name.clone();
        move |_: MouseEvent| Some(name.to_string())
    });
    let close = set.reform(|()| None);
    let oninput = set.reform(|event: InputEvent| Some(event.target_unchecked_into::<HtmlInputElement>().value()));
    let onsubmit = {
        let (typed, close, props) = (typed.clone(), close.clone(), props.clone());
        move |event: SubmitEvent| {
            event.prevent_default();
            let name = typed.as_deref().unwrap_or_default().trim();
            if !name.is_empty() && *name != *props.name {
                props.on_rename.emit(name.to_owned());
            }
            close.emit(());
        }
    };
    html! {
        <>
            <button type="button" class="button" onclick={open}>
                { icon(IconName::Edit) }{ "Rename" }
            </button>
            if let Some(name) = (*typed).clone() {
                <Dialog id="rename-title" class="small" title="Rename this job" on_close={close.clone()} is_light={false}>
                    <form class="token-form" {onsubmit}>
                        <label class="field">
                            <span class="field-label">{ "Name" }</span>
                            <input type="text" value={name} {oninput} data-focus="" required=true
                                maxlength={JobChange::MOST_NAME.to_string()} autocomplete="off" />
                        </label>
                        <div class="card-foot">
                            <button type="submit" class="button primary">{ "Save" }</button>
                            <button type="button" class="button" onclick={close.reform(|_: MouseEvent| ())}>{ "Cancel" }</button>
                        </div>
                    </form>
                </Dialog>
            }
        </>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct DeleteProps {
    /// True if the job's snapshot is deleted with it.
    pub has_snapshot: bool,
    pub on_delete: Callback<()>,
}

/// Shows a button that deletes a job after a confirmation, because a deletion can't be undone.
#[component]
pub(super) fn Delete(props: &DeleteProps) -> Html {
    let is_asked = use_state_eq(|| false);
    let (open, close) = (set(&is_asked, true), set(&is_asked, false));
    let confirm = {
        let (close, on_delete) = (close.clone(), props.on_delete.clone());
        move |_: MouseEvent| {
            close.emit(());
            on_delete.emit(());
        }
    };
    let text = if props.has_snapshot {
        "This deletes its config, figures, log and snapshot for everyone, and can’t be undone. Links to copies of its \
         snapshot keep working."
    } else {
        "This deletes its config and log for everyone, and can’t be undone."
    };
    html! {
        <>
            <button type="button" class="button" onclick={open.reform(|_: MouseEvent| ())}>
                { icon(IconName::Delete) }{ "Delete" }
            </button>
            if *is_asked {
                <Dialog id="delete-title" class="small" title="Delete this job?" on_close={close.clone()}>
                    <p class="hint">{ text }</p>
                    <div class="card-foot">
                        <button type="button" class="button danger" onclick={confirm}>{ "Delete the job" }</button>
                        <button type="button" class="button" onclick={close.reform(|_: MouseEvent| ())}>{ "Keep it" }</button>
                    </div>
                </Dialog>
            }
        </>
    }
}

/// Returns a callback that opens or closes the confirmation.
fn set(is_asked: &UseStateHandle<bool>, asked: bool) -> Callback<()> {
    let is_asked = is_asked.setter();
    Callback::from(move |()| is_asked.set(asked))
}

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct CompareProps {
    pub id: AttrValue,
}

fn wait_ms(_: &Fetched<JobList>) -> Option<u32> {
    None
}

/// Lists other finished jobs with a snapshot; choosing one opens both in the viewer.
#[component]
pub(crate) fn Compare(props: &CompareProps) -> Html {
    let jobs = use_fetched::<JobList>(Some("jobs?state=finished&limit=100".to_owned()), wait_ms);
    let others = jobs.now.answer.as_ref().map(|list| list.jobs.clone()).unwrap_or_default();
    let others: Vec<JobResource> =
        others.into_iter().filter(|job| *job.id != *props.id && job.snapshot_bytes.is_some()).collect();
    if others.is_empty() {
        return Html::default();
    }
    let id = props.id.clone();
    let onchange = move |event: Event| {
        let other = event.target_dyn_into::<HtmlSelectElement>().map(|select| select.value()).unwrap_or_default();
        if !other.is_empty() {
            go_to(&format!("?job={id}&job={other}"));
        }
    };
    let option = |job: &JobResource| {
        let text = format!("{} · {}", recording(job), job::ago(clock_ms(), job.created_ms));
        html! { <option value={job.id.clone()}>{ text }</option> }
    };
    html! {
        <select class="select compare" aria-label="Compare with another recording" {onchange}>
            <option value="" selected=true>{ "Compare with…" }</option>
            { for others.iter().map(option) }
        </select>
    }
}
