//! Page with the list of jobs, which is kept up to date, and the gallery.

use std::rc::Rc;

use frontend::components::icon::{IconName, icon};
use frontend::platform::{set_title, site_url};
use shared::api::{JobList as Jobs, JobResource, JobState, JobTask, ServerLimits};
use yew::prelude::*;

use crate::common::browser::{clock_ms, local_time};
use crate::common::hooks::{Fetched, use_fetched};
use crate::common::model::route::{Route, Start};
use crate::common::model::{job, task};
use crate::common::parts::{refusal_note, state_badge};
use crate::gallery::Gallery;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ListPageProps {
    pub limits: Rc<ServerLimits>,
}

/// Shows the jobs above the gallery's configs.
#[component]
pub(crate) fn ListPage(props: &ListPageProps) -> Html {
    use_effect_with((), |()| set_title("Jobs – Snapscope"));
    html! {
        <main class="page">
            <header class="page-head">
                <div>
                    <h1 class="page-title">{ "Record a training run" }</h1>
                    <p class="hint">{ "Run a training config on a virtual or real GPU to get its memory snapshot." }</p>
                </div>
                <a class="button primary" href={site_url(&Route::new_job(Start::Example).path())}>
                    { icon(IconName::Add) }{ "New job" }
                </a>
            </header>
            if props.limits.is_recorder_being_built {
                <p class="note" role="status">
                    { icon(IconName::Info) }
                    { "The recorder is still being built on this machine, which takes some minutes. Jobs that you submit \
                       now start when it is ready." }
                </p>
            } else if props.limits.kinds.is_empty() {
                <p class="note warning" role="status">
                    { icon(IconName::Warning) }
                    { "No worker is available. Submitted jobs wait until a worker takes them." }
                </p>
            }
            { for props.limits.problems.iter().map(|(kind, problem)| html! {
                <p class="note warning" role="status">
                    { icon(IconName::Warning) }
                    <span class="note-text">
                        { format!("No job can run on {kind} at this time: {problem}. The worker tries again every minute.") }
                    </span>
                </p>
            }) }
            <JobList />
            <Gallery />
        </main>
    }
}

/// Number of jobs that are shown at first; "Show more" adds twice as many.
const PART: u32 = 10;

/// Largest number of jobs that the server returns at once.
const MOST: u32 = 200;

/// Times between two requests for the list, in milliseconds: while a job is unfinished, while none is, and after an
/// error.
const BUSY_MS: u32 = 1500;
const IDLE_MS: u32 = 8000;
const ERROR_MS: u32 = 4000;

fn wait_ms(jobs: &Fetched<Jobs>) -> Option<u32> {
    let is_busy = |jobs: &Jobs| jobs.jobs.iter().any(|job| !job.state.is_over());
    Some(match (&jobs.error, &jobs.answer) {
        (Some(_), _) => ERROR_MS,
        (None, Some(jobs)) if is_busy(jobs) => BUSY_MS,
        _ => IDLE_MS,
    })
}

#[component]
pub(crate) fn JobList() -> Html {
    let limit = use_state_eq(|| PART);
    let jobs = use_fetched::<Jobs>(Some(format!("jobs?limit={}", *limit)), wait_ms);
    let more = {
        let limit = limit.clone();
        move |_: MouseEvent| limit.set((*limit + 2 * PART).min(MOST))
    };
    html! {
        <section class="section" aria-labelledby="jobs-title">
            <h2 id="jobs-title" class="section-title">{ "Jobs" }</h2>
            if let Some(error) = &jobs.now.error {
                { refusal_note(error, Some(&jobs.again())) }
            }
            { match &jobs.now.answer {
                None if jobs.now.error.is_some() => Html::default(),
                None => html! { <p class="hint waiting" role="status">{ "Loading jobs…" }</p> },
                Some(jobs) if jobs.jobs.is_empty() => html! {
                    <p class="hint empty">{ "No jobs yet. Choose a config from the gallery, or write your own." }</p>
                },
                Some(jobs) => html! {
                    <>
                        <ul class="jobs" data-jobs={jobs.jobs.len().to_string()}>{ for jobs.jobs.iter().map(line) }</ul>
                        if jobs.next.is_some() && *limit < MOST {
                            <button type="button" class="button" onclick={more}>{ "Show more" }</button>
                        }
                    </>
                },
            } }
        </section>
    }
}

fn line(resource: &JobResource) -> Html {
    let href = site_url(&Route::Job(resource.id.clone()).path());
    let share = match resource.task.is_one() {
        true => Some(job::share(resource.progress.as_ref(), resource.steps)),
        false => task::share(resource.recorded.as_ref()),
    };
    let name = job::name(resource);
    html! {
        <li key={resource.id.clone()} class="job" data-job={resource.id.clone()}>
            <a class="job-link" {href}>
                { state_badge(resource.state, resource.outcome) }
                <span class="job-name">
                    { name }
                    if resource.task != JobTask::Record {
                        <span class="job-task">{ task::title(resource.task) }</span>
                    }
                </span>
                <span class="job-card">{ &resource.card }</span>
                <span class="job-outcome numbers">{ job::outcome(resource) }</span>
                <span class="job-took numbers">{ job::took(resource) }</span>
                <time class="job-when numbers" title={local_time(resource.created_ms)}>
                    { job::ago(clock_ms(), resource.created_ms) }
                </time>
                if resource.state == JobState::Running {
                    <progress class="job-bar" max="1" value={share.map(|share| share.to_string())}
                        aria-label={format!("Progress of {name}")} />
                }
            </a>
        </li>
    }
}
