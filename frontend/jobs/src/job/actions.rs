//! What can be done with a job: buttons, forms that change it, and the choice of another job to compare it with.

use frontend::components::dialog::Dialog;
use frontend::components::icon::{IconName, icon};
use frontend::platform::{api_url, site_url};
use shared::api::{JobChange, JobList, JobResource, JobState, JobTask};
use shared::base::format;
use yew::prelude::*;

use super::use_orders::Order;
use crate::common::browser::{clock_ms, go_to};
use crate::common::hooks::{once, use_fetched};
use crate::common::model::job;
use crate::common::model::route::{Change, Route, Start};
use crate::common::parts::value_of;

/// Offers what the job's state allows: open, compare, download, run again, rename, cancel, delete.
///
/// `state` may be ahead of the job's own; `is_ending` is true once the job was asked to end.
pub(crate) fn job_actions(job: &JobResource, state: JobState, is_ending: bool, on_order: &Callback<Order>) -> Html {
    let JobResource { id, name, snapshot_bytes, task, .. } = job;
    let other = |task| site_url(&Route::New(Start::Job(id.clone()), Change::to_task(task)).path());
    let again = site_url(&Route::new_job(Start::Job(id.clone())).path());
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
                <Confirmed icon={IconName::Delete} label="Delete" id="delete-title" title="Delete this job?"
                    text={if snapshot_bytes.is_some() { DELETES_SNAPSHOT } else { DELETES_CONFIG }}
                    yes={("button danger", "Delete the job")} no="Keep it"
                    on_confirm={on_order.reform(|()| Order::Delete)} />
            } else {
                <Confirmed icon={IconName::Stop} label={if is_ending { "Cancelling…" } else { "Cancel" }}
                    is_disabled={is_ending} is_asked={state == JobState::Running} id="cancel-title"
                    title="Cancel this job?" text="The job is running. What it has recorded so far will be lost."
                    yes={("button primary", "Cancel the job")} no="Let it run"
                    on_confirm={on_order.reform(|()| Order::Cancel)} />
            }
        </div>
    }
}

/// What a deletion takes away of a job with a snapshot, and of one without.
const DELETES_SNAPSHOT: &str = "This deletes its config, figures, log and snapshot for everyone, and can’t be undone. \
    Links to copies of its snapshot keep working.";
const DELETES_CONFIG: &str = "This deletes its config and log for everyone, and can’t be undone.";

#[derive(Clone, PartialEq, Properties)]
struct ConfirmedProps {
    icon: IconName,
    /// Text of the button.
    label: &'static str,
    #[prop_or_default]
    is_disabled: bool,
    /// False if there is nothing to lose, so that the button needs no confirmation.
    #[prop_or(true)]
    is_asked: bool,
    /// Id, title and text of the question.
    id: &'static str,
    title: &'static str,
    text: &'static str,
    /// Class and text of the button that confirms.
    yes: (&'static str, &'static str),
    /// Text of the button that leaves everything as it is.
    no: &'static str,
    on_confirm: Callback<()>,
}

/// Shows a button for what can't be undone, with a confirmation.
#[component]
fn Confirmed(props: &ConfirmedProps) -> Html {
    let is_open = use_state_eq(|| false);
    let set = |open: bool| {
        let is_open = is_open.setter();
        Callback::from(move |()| is_open.set(open))
    };
    let (close, on_confirm) = (set(false), props.on_confirm.clone());
    let onclick = if props.is_asked { set(true) } else { on_confirm.clone() };
    let confirm = {
        let close = close.clone();
        move |_: MouseEvent| {
            close.emit(());
            on_confirm.emit(());
        }
    };
    let (class, yes) = props.yes;
    html! {
        <>
            <button type="button" class="button" disabled={props.is_disabled}
                onclick={onclick.reform(|_: MouseEvent| ())}>
                { icon(props.icon) }{ props.label }
            </button>
            if *is_open {
                <Dialog id={props.id} class="small" title={props.title} on_close={close.clone()}>
                    <p class="hint">{ props.text }</p>
                    <div class="card-foot">
                        <button type="button" {class} onclick={confirm}>{ yes }</button>
                        <button type="button" class="button" onclick={close.reform(|_: MouseEvent| ())}>
                            { props.no }
                        </button>
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
    let oninput = set.reform(|event: InputEvent| Some(value_of(&event)));
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
pub(crate) struct CompareProps {
    pub id: AttrValue,
}

/// Lists other finished jobs with a snapshot; choosing one opens both in the viewer.
#[component]
pub(crate) fn Compare(props: &CompareProps) -> Html {
    let jobs = use_fetched::<JobList>(Some("jobs?state=finished&limit=100".to_owned()), once);
    let all = jobs.now.answer.iter().flat_map(|list| &list.jobs);
    let others: Vec<_> = all.filter(|job| *job.id != *props.id && job.snapshot_bytes.is_some()).collect();
    if others.is_empty() {
        return Html::default();
    }
    let id = props.id.clone();
    let onchange = move |event: Event| {
        let other = value_of(&event);
        if !other.is_empty() {
            go_to(&format!("?job={id}&job={other}"));
        }
    };
    let option = |job: &JobResource| {
        let text = format!("{} · {}", job::recording(job), job::ago(clock_ms(), job.created_ms));
        html! { <option value={job.id.clone()}>{ text }</option> }
    };
    html! {
        <select class="select compare" aria-label="Compare with another recording" {onchange}>
            <option value="" selected=true>{ "Compare with…" }</option>
            { for others.into_iter().map(option) }
        </select>
    }
}
