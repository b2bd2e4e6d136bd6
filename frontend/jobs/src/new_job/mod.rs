//! Page with the form of a new job next to the text of its config.

mod cards;
mod editor;
mod form;
mod hooks;
mod model;
mod script;

use self::editor::{editor, problem_list, task_choice};
use self::form::ConfigForm;
use self::hooks::{DraftHandle, SubmitHandle, use_draft, use_submit};
use self::model::draft::{Draft, DraftAction, Script};
use self::model::edit::TextFile;
use self::model::numbers;
use self::script::{no_scripts, script_form};
use crate::common::browser::read_text;
use crate::common::hooks::TokenHandle;
use crate::common::model::route::{Change, Start};
use crate::common::model::{refusal, task};
use crate::common::parts::{Note, figure_list, key_notes, refusal_note, way_back};
use frontend::components::icon::{IconName, icon};
use frontend::components::pieces::drop_overlay;
use frontend::hooks::use_drop;
use frontend::platform::{chosen_files, set_title};
use shared::api::{JobTask, SCRIPTS, ServerLimits};
use shared::job::{Format, ImportNote};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::{File, HtmlInputElement};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct NewJobPageProps {
    /// Source of the initial config.
    pub start: Start,
    /// What differs from it.
    pub change: Change,
    pub limits: Rc<ServerLimits>,
    pub token: TokenHandle,
}

/// Shows a form and an editor of the same text.
#[component]
pub(crate) fn NewJobPage(props: &NewJobPageProps) -> Html {
    use_effect_with((), |()| set_title("New job – Snapscope"));
    let DraftHandle { draft, dispatch, error } = use_draft(&props.start, &props.change);
    let submit = use_submit(Rc::clone(&draft), &props.token, props.limits.needs_token);
    let unread = use_state_eq(|| None);
    let on_files = {
        let (dispatch, unread) = (dispatch.clone(), unread.setter());
        use_callback((), move |files: Vec<File>, ()| bring(files, dispatch.clone(), unread.clone()))
    };
    let is_over = use_drop(on_files.clone());
    html! {
        <main class="page new-job">
            { way_back() }
            <header class="page-head">
                <div>
                    <h1 class="page-title">{ "New job" }</h1>
                    <p class="hint">{ "Write a config, or drop files: a Snapscope config, a Hugging Face config.json with its training arguments, or a Python script." }</p>
                </div>
                { file_button(on_files) }
            </header>
            if let Some(error) = error {
                { refusal_note(&error, None) }
            }
            if let Some(message) = (*unread).clone() {
                { refused_file(&message) }
            }
            { for draft.refused.iter().map(|problem| refused_file(&problem.to_string())) }
            { task_choice(draft.task, &dispatch.reform(DraftAction::Task)) }
            if draft.task == JobTask::Script {
                { of_script(&draft, &dispatch, &submit, &props.limits) }
            } else {
                { of_config(&draft, &dispatch, &submit, &props.limits) }
            }
            if is_over {
                { drop_overlay() }
            }
        </main>
    }
}

/// Shows the form of a config next to its text.
fn of_config(
    draft: &Rc<Draft>,
    dispatch: &Callback<DraftAction>,
    submit: &SubmitHandle,
    limits: &ServerLimits,
) -> Html {
    html! {
        <div class="columns">
            <ConfigForm draft={(**draft).clone()} kinds={limits.kinds.clone()}
                on_change={dispatch.reform(|(path, value)| DraftAction::Set(path, value))} />
            <div class="column">
                { editor("Config", &draft.text, &draft.check.problems, &dispatch.reform(DraftAction::Type)) }
                { other_language(draft, dispatch) }
                { problem_list(&draft.check.problems, "Valid") }
                { key_notes(&notes(&draft.understood), &notes(&draft.ignored)) }
                { meaning(draft) }
                { submission(submit, draft, draft.check.job.is_some()) }
            </div>
        </div>
    }
}

/// Shows a script next to the choice of its GPU, or why this server takes none.
fn of_script(
    draft: &Rc<Draft>,
    dispatch: &Callback<DraftAction>,
    submit: &SubmitHandle,
    limits: &ServerLimits,
) -> Html {
    let script = draft.script.clone();
    let on_text = dispatch.reform(move |text| DraftAction::Script(Script { text, ..script.clone() }));
    let runs_scripts = limits.kinds.iter().any(|kind| kind == SCRIPTS);
    html! {
        <div class="columns">
            { script_form(&draft.script, &dispatch.reform(DraftAction::Script)) }
            <div class="column">
                { editor("Script", &draft.script.text, &[], &on_text) }
                if runs_scripts {
                    { submission(submit, draft, !draft.script.text.trim().is_empty()) }
                } else {
                    { no_scripts() }
                }
            </div>
        </div>
    }
}

/// Shows the figures that the config implies.
fn meaning(draft: &Draft) -> Html {
    let Some(job) = &draft.check.job else { return Html::default() };
    html! {
        <>
            { figure_list(&numbers::numbers(job)) }
            if let Some(warning) = numbers::warning(job) {
                <p class="note warning" role="status">{ icon(IconName::Warning) }{ warning }</p>
            }
        </>
    }
}

/// Offers to convert JSON or YAML to TOML, because the form edits only TOML.
fn other_language(draft: &Draft, dispatch: &Callback<DraftAction>) -> Html {
    if draft.check.format == Format::Toml || draft.check.raw.is_none() {
        return Html::default();
    }
    let name = if draft.check.format == Format::Json { "JSON" } else { "YAML" };
    let onclick = dispatch.reform(|_: MouseEvent| DraftAction::Convert);
    html! {
        <p class="note plain">
            { icon(IconName::Info) }
            <span class="note-text">{ format!("This config is {name} and can be recorded as it is. The form edits only TOML.") }</span>
            <button type="button" class="button" {onclick}>{ "Convert to TOML" }</button>
        </p>
    }
}

fn submission(submit: &SubmitHandle, draft: &Draft, is_valid: bool) -> Html {
    let SubmitHandle { is_sending, error, send } = submit;
    let (onclick, is_sending) = (send.reform(|_: MouseEvent| ()), *is_sending);
    html! {
        <div class="submission">
            if let Some(error) = error {
                { refusal_note(error, None) }
                if !refusal::problems(error).is_empty() {
                    { problem_list(&refusal::problems(error), "") }
                }
            }
            <button type="button" class="button primary large" {onclick}
                disabled={!is_valid || is_sending}>
                { if is_sending { "Submitting…".to_owned() } else { task::submit(draft.task, draft.check.combinations) } }
            </button>
        </div>
    }
}

fn notes(notes: &[ImportNote]) -> Vec<Note> {
    notes.iter().map(|note| (note.key.clone(), note.note.clone())).collect()
}

fn refused_file(message: &str) -> Html {
    html! {
        <div class="note error" role="alert">{ icon(IconName::Error) }<p class="note-text">{ message }</p></div>
    }
}

/// Shows a button that opens the browser's file dialog.
fn file_button(on_files: Callback<Vec<File>>) -> Html {
    let onchange = move |event: Event| {
        if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
            on_files.emit(chosen_files(&input));
        }
    };
    html! {
        <label class="button file-button">
            { icon(IconName::Open) }{ "Open file" }
            <input type="file" class="visually-hidden" multiple=true accept=".json,.toml,.yaml,.yml,.py" {onchange} />
        </label>
    }
}

/// Reads files and passes them to the draft.
fn bring(files: Vec<File>, dispatch: Callback<DraftAction>, unread: UseStateSetter<Option<String>>) {
    spawn_local(async move {
        let mut read = Vec::new();
        for file in &files {
            match read_text(file).await {
                Ok(text) => read.push(TextFile { name: file.name(), text }),
                Err(message) => return unread.set(Some(message)),
            }
        }
        unread.set(None);
        dispatch.emit(DraftAction::Bring(read));
    });
}
