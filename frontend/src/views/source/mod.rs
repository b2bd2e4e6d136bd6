//! Dock tab with the source files of the stacks, and the memory beside their lines.

mod code;
mod hook;
pub mod model;

use self::code::Code;
use self::hook::{use_located, use_sums};
use self::model::{Located, MOST_FILES, folder_text, head_text, listed, split, unowned_text};
use super::selection::model::mistyped_text;
use super::selection::{ScopeBar, use_latest, use_selecting};
use crate::ask::SelectionData;
use crate::components::empty;
use crate::hooks::{Seen, use_file};
use crate::platform::{Folder, choose_folder, folder_of, has_folder_dialog};
use crate::state::DockTab;
use shared::base::format::{bytes, counted};
use shared::report::{SourceFile, SourceReport};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SourceViewProps {
    pub(super) seen: Option<Seen>,
    /// Folder with the source files, if the user has chosen one.
    pub(super) folder: UseStateHandle<Option<Folder>>,
}

/// Shows the files of the stacks, and the lines of the chosen one.
#[component]
pub(super) fn SourceView(props: &SourceViewProps) -> Html {
    let SourceViewProps { seen, folder } = props;
    let (file, handle) = (use_file(), use_selecting());
    let selection = SelectionData { weight: Default::default(), ..handle.data(*seen) };
    let located = use_located(folder.as_ref()).unwrap_or_default();
    let focus = (!located.files.is_empty()).then(|| located.files.keys().cloned().collect());
    let sums = use_sums(selection, focus);
    let shown = use_latest(sums.clone().filter(|answer| answer.1.is_ok()));
    let error = sums.as_deref().and_then(|(_, sums)| sums.as_ref().err());
    let error = error.map(|error| AttrValue::from(mistyped_text(error)));
    let on_folder = use_callback(folder.setter(), |next: Folder, folder| folder.set(Some(next)));
    let on_line = {
        let search = handle.choosing(|selecting, expression: String| {
            selecting.filter.text = expression;
            selecting.filter.is_expression = true;
        });
        Callback::from(move |expression: String| {
            search.emit(expression);
            file.choose_dock(Some(DockTab::Allocations));
        })
    };
    html! {
        <div class="dock-view source-view">
            <ScopeBar {error} lead={html! { <ChooseFolder {on_folder} /> }} />
            if let Some(folder) = folder.as_ref() {
                <p class="source-note" role="status">
                    { folder_text(folder.name(), located.files.len(), folder.is_cut()) }
                </p>
                { for located.notes.iter().map(|note| html! { <p class="source-note">{ note }</p> }) }
            }
            if let Some((selection, Ok(report))) = shown.as_deref() {
                <p class="source-note">{ head_text(report, selection.scope) }</p>
                <Files report={report.clone()} {located} folder={(**folder).clone()} {on_line} />
            } else {
                { empty("Computing totals…") }
            }
        </div>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct FilesProps {
    report: SourceReport,
    located: Rc<Located>,
    folder: Option<Folder>,
    /// Called with the regular expression that finds the allocations of a line.
    on_line: Callback<String>,
}

/// Shows the list of files, and the code of the one that is chosen; at first that is the one with the most memory.
#[component]
fn Files(props: &FilesProps) -> Html {
    let FilesProps { report, located, folder, on_line } = props;
    let chosen = use_state_eq(|| None::<String>);
    let files = listed(report, located);
    let is_chosen = |file: &&SourceFile| Some(&file.path) == chosen.as_ref();
    let Some(file) = files.iter().copied().find(is_chosen).or(files.first().copied()) else {
        return empty("No stack of these allocations names a source file of the program.");
    };
    let button = |of: &SourceFile| {
        let (name, above) = split(&of.path);
        let onclick = {
            let (chosen, path) = (chosen.setter(), of.path.clone());
            move |_: MouseEvent| chosen.set(Some(path.clone()))
        };
        let is_missing = folder.is_some() && !located.files.contains_key(&of.path);
        html! {
            <li key={of.path.clone()}>
                <button type="button" {onclick} aria-current={(of.path == file.path).then_some("true")}
                    data-missing={is_missing.then_some("")} title={of.path.clone()}>
                    <span class="source-bytes">{ bytes(of.own.live_bytes) }</span>
                    <span class="source-name">{ name }</span>
                    <span class="source-folder"><bdi>{ above }</bdi></span>
                </button>
            </li>
        }
    };
    html! {
        <div class="source-body">
            <nav class="source-files" aria-label="Source files">
                <ul>{ for files.iter().take(MOST_FILES).map(|file| button(file)) }</ul>
                if let Some(more) = files.len().checked_sub(MOST_FILES).filter(|&more| more > 0) {
                    <p class="source-note">{ format!("{} with less memory", counted(more as u64, "more file")) }</p>
                }
                if let Some(text) = unowned_text(report, !located.files.is_empty()) {
                    <p class="source-note">{ text }</p>
                }
            </nav>
            <Code key={file.path.clone()} file={file.clone()} folder={folder.clone()}
                position={located.files.get(&file.path).copied()} {on_line} />
        </div>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct ChooseFolderProps {
    on_folder: Callback<Folder>,
}

/// Shows the button; without a dialog for folders, it opens a file input that takes a folder.
#[component]
fn ChooseFolder(props: &ChooseFolderProps) -> Html {
    let input = use_node_ref();
    let onclick = {
        let (input, on_folder) = (input.clone(), props.on_folder.clone());
        move |_: MouseEvent| {
            if has_folder_dialog() {
                let on_folder = on_folder.clone();
                spawn_local(async move {
                    if let Some(folder) = choose_folder().await {
                        on_folder.emit(folder);
                    }
                });
            } else if let Some(input) = input.cast::<HtmlInputElement>() {
                input.click();
            }
        }
    };
    let onchange = {
        let on_folder = props.on_folder.clone();
        move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            if let Some(folder) = folder_of(&input) {
                on_folder.emit(folder);
            }
        }
    };
    html! {
        <>
            <button type="button" class="button" {onclick} title="The files are read in this tab and never sent">
                { "Choose folder…" }
            </button>
            <input ref={input} class="visually-hidden" type="file" multiple=true tabindex="-1" aria-hidden="true"
                webkitdirectory=true data-input="source-folder" {onchange} />
        </>
    }
}
