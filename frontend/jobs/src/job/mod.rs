//! Page of one job: live while it runs, its result afterwards.

mod actions;
mod model;
mod progress;
mod several;
mod use_orders;
mod use_watch;

use self::actions::job_actions;
use self::model::chart::Course;
use self::model::watch::Watch;
use self::progress::{MemoryChart, job_outcome, job_progress, out_of_memory};
use self::several::{recorded_list, several};
use self::use_orders::{Order, use_orders};
use self::use_watch::use_watch;
use crate::common::browser::{clock_ms, local_time, replace_by};
use crate::common::hooks::{Fetched, TokenHandle, use_fetched};
use crate::common::model::route::Route;
use crate::common::model::{job, task};
use crate::common::parts::{figure_list, key_notes, refusal_note, source_section, state_badge, way_back};
use frontend::platform::set_title;
use frontend::state::Scheme;
use shared::api::{ErrorCode, JobDetails, JobResource, JobState, JobTask};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct JobPageProps {
    pub id: AttrValue,
    pub scheme: Scheme,
    pub token: TokenHandle,
}

/// Returns the time until the job is requested again, in milliseconds; its events arrive separately.
fn wait_ms(details: &Fetched<JobDetails>) -> Option<u32> {
    match (&details.answer, &details.error) {
        (Some(details), _) if details.job.state.is_over() => None,
        (_, Some(error)) if error.is(ErrorCode::NotFound) => None,
        (None, _) => Some(3000),
        _ => Some(2000),
    }
}

#[component]
pub(crate) fn JobPage(props: &JobPageProps) -> Html {
    let details = use_fetched::<JobDetails>(Some(format!("jobs/{}", props.id)), wait_ms);
    let watch = use_watch(&props.id);
    let is_ending = use_state_eq(|| false);
    use_effect_with(watch.state.is_some_and(JobState::is_over), {
        let again = details.again();
        move |is_over| {
            if *is_over {
                again.emit(());
            }
        }
    });
    let name = details.now.answer.as_ref().map(|details| details.job.name.clone());
    use_effect_with(name, |name| set_title(&format!("{} – Snapscope", name.as_deref().unwrap_or("Job"))));
    let on_done = {
        let (is_ending, again) = (is_ending.setter(), details.again());
        Callback::from(move |order| match order {
            Order::Delete => replace_by(&Route::List.path()),
            Order::Rename(_) => again.emit(()),
            Order::Cancel => {
                // The recorder may take some seconds to end.
                is_ending.set(true);
                again.emit(());
            }
        })
    };
    let (on_order, refused) = use_orders(&props.id, &props.token, on_done);
    let course = use_course(details.now.answer.as_deref(), &watch);
    let Some(known) = details.now.answer.clone() else {
        return html! {
            <main class="page">
                { way_back() }
                { match &details.now.error {
                    Some(error) => refusal_note(error, Some(&details.again())),
                    None => html! { <p class="hint waiting" role="status">{ "Loading the job…" }</p> },
                } }
            </main>
        };
    };
    // Events are ahead of the job except for its end, because figures and error arrive with the job itself.
    let told = watch.state.filter(|state| !state.is_over() && !known.job.state.is_over());
    let state = told.unwrap_or(known.job.state);
    let is_one = known.job.task.is_one();
    let has_chart = is_one && (!course.parts.is_empty() || state == JobState::Running);
    html! {
        <main class="page" data-state={state.word()} data-outcome={job::state_class(state, known.job.outcome)}>
            { way_back() }
            { head(&known.job, state, *is_ending, &on_order) }
            if let Some(error) = refused {
                { refusal_note(&error, None) }
            }
            if !known.job.state.is_over() {
                { job_progress(&known.job, &watch) }
                if let Some(oom) = &watch.oom {
                    { out_of_memory(oom) }
                }
                { figure_list(&watch.figures()) }
                { recorded_list(&watch.recorded) }
            }
            { job_outcome(&known.job) }
            { several(&known, props.scheme) }
            if has_chart {
                <MemoryChart {course} memory_bytes={known.capacity_bytes.or(watch.memory_bytes)}
                    is_over={known.job.state.is_over()} scheme={props.scheme} />
            }
            { log(&known, &watch) }
            { config(&known) }
        </main>
    }
}

/// Returns the curves of the stored snapshot, or the samples taken so far.
#[hook]
fn use_course(details: Option<&JobDetails>, watch: &Rc<Watch>) -> Rc<Course> {
    let curve = details.and_then(|details| details.curve.clone()).filter(|curve| !curve.live_curve.is_empty());
    let course = use_memo((curve, Rc::clone(watch)), |(curve, watch)| match curve {
        Some(curve) => Rc::new(Course::of_curve(curve)),
        None => Rc::new(Course::of_samples(&watch.samples)),
    });
    Rc::clone(&course)
}

fn head(resource: &JobResource, state: JobState, is_ending: bool, on_order: &Callback<Order>) -> Html {
    html! {
        <header class="page-head">
            <div>
                <h1 class="page-title">{ job::name(resource) }{ state_badge(state, resource.outcome) }</h1>
                <p class="hint facts">
                    if resource.task != JobTask::Record {
                        <span>{ task::title(resource.task) }</span>
                    }
                    <span>{ &resource.card }</span>
                    <span title={local_time(resource.created_ms)}>{ job::ago(clock_ms(), resource.created_ms) }</span>
                    if resource.attempts > 1 {
                        <span>{ format!("attempt {}", resource.attempts) }</span>
                    }
                </p>
            </div>
            // The available actions follow the state that is shown.
            { job_actions(resource, state, is_ending, on_order) }
        </header>
    }
}

/// Shows the recorder's messages while it runs, and its last lines if it failed.
fn log(details: &JobDetails, watch: &Watch) -> Html {
    let lines: Vec<String> = watch.messages.iter().chain(&details.log).cloned().collect();
    if lines.is_empty() {
        return Html::default();
    }
    html! {
        <section class="section" aria-labelledby="log-title">
            <h2 id="log-title" class="section-title">{ "Log" }</h2>
            <pre class="log" tabindex="0">{ lines.join("\n") }</pre>
        </section>
    }
}

fn config(details: &JobDetails) -> Html {
    let notes = |understood: bool| {
        let notes = details.notes.iter().filter(|note| note.understood == understood);
        notes.map(|note| (note.key.clone(), note.note.clone())).collect::<Vec<_>>()
    };
    let title = if details.job.task == JobTask::Script { "Script" } else { "Config" };
    source_section("config-title", title, &details.source, None, key_notes(&notes(true), &notes(false)))
}
