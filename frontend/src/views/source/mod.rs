//! Dock tab with the source files of the stacks, and the memory beside their lines.

pub mod model;

use self::model::{
    Located, MOST_FILES, Row, folder_text, head_text, line_expression, listed, located, margin, rows, split,
    unowned_text,
};
use super::selection::model::mistyped_text;
use super::selection::{ScopeBar, use_latest, use_selecting};
use crate::ask::{Ask, GetSource, GetSourceFiles, SelectionData};
use crate::components::{bound, empty, passing, setting};
use crate::hooks::{Seen, use_answer, use_asked, use_file, use_subject};
use crate::platform::{Folder, choose_folder, folder_of, has_folder_dialog};
use crate::state::DockTab;
use shared::base::format::{bytes, counted};
use shared::report::{FileLine, SourceFile, SourceReport};
use shared::source::SourceText;
use std::collections::BTreeSet;
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
    let choose_folder = use_folder_button(setting(folder).reform(Some));
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
            <ScopeBar {error} lead={choose_folder} />
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
        let onclick = bound((chosen.setter(), of.path.clone()), move |(chosen, path), _: MouseEvent| {
            chosen.set(Some(path.clone()))
        });
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

/// Returns the button; without a dialog for folders, it opens a file input that takes a folder.
#[hook]
fn use_folder_button(on_folder: Callback<Folder>) -> Html {
    let input = use_node_ref();
    let onclick = bound((input.clone(), on_folder.clone()), move |(input, on_folder), _: MouseEvent| {
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
    });
    let onchange = move |event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        folder_of(&input).into_iter().for_each(|folder| on_folder.emit(folder));
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

/// Sums by line with the selection that they are about, or an error message if the filter's text is invalid.
type Sums = (SelectionData, <GetSource as Ask>::Answer);

#[hook]
fn use_located(folder: Option<&Folder>) -> Option<Rc<Located>> {
    let (_, device) = use_subject();
    let stacks = use_asked(Some(GetSourceFiles { device }));
    let located = use_memo((stacks, folder.cloned()), |(stacks, folder)| {
        let stacks = stacks.as_ref()?;
        let found = folder.as_ref().map(|folder| located(stacks, folder.name(), folder.paths()));
        Some(Rc::new(found.unwrap_or_default()))
    });
    (*located).clone()
}

/// Returns the memory by line; `focus` has the files whose lines own it, if there is a folder.
///
/// The previous answer stays until the new one arrives.
#[hook]
fn use_sums(selection: SelectionData, focus: Option<Vec<String>>) -> Option<Rc<Sums>> {
    let (client, device) = use_subject();
    use_answer((client, device, selection, focus), |(client, device, selection, focus)| async move {
        let sums = client.ask(GetSource { device, selection: selection.clone(), focus }).await?;
        Ok((selection, sums))
    })
}

#[derive(Clone, PartialEq, Properties)]
struct CodeProps {
    file: SourceFile,
    folder: Option<Folder>,
    position: Option<usize>,
    /// Called with the regular expression that finds the allocations of a line.
    on_line: Callback<String>,
}

/// Shows the lines around those with memory; without the file, only the lines that are in the stacks.
#[component]
fn Code(props: &CodeProps) -> Html {
    let CodeProps { file, folder, position, on_line } = props;
    let open = use_state(|| Rc::new(BTreeSet::<u64>::new()));
    let read = use_text(folder.clone(), *position);
    let text = read.as_deref().and_then(|read| read.as_ref().ok());
    let note = match read.as_deref() {
        Some(Err(why)) => Some(format!("The file {why}.")),
        Some(Ok(text)) => text.doubt(&file.path, file.lines.iter().map(|line| (line.line, line.function.as_str()))),
        None if position.is_some() => Some("The file is being read…".to_owned()),
        None if folder.is_some() => Some("The file is not in the folder.".to_owned()),
        None => Some("Choose the folder with the source files to see the code.".to_owned()),
    };
    let on_open = bound(open.clone(), move |open, line: u64| {
        let mut next = (***open).clone();
        next.insert(line);
        open.set(Rc::new(next));
    });
    let heads = [
        ("Live", Some("Live bytes of the stacks whose innermost line in the files it is")),
        ("Through", Some("Live bytes of all stacks with the line")),
        ("Allocated", Some("Bytes that the line has allocated, whether they are live or not")),
        ("Count", Some("Number of these allocations")),
        ("Line", None),
        ("Code", None),
    ];
    let head = |(name, title)| html! { <th scope="col" {title}>{ name }</th> };
    html! {
        <section class="source-code" aria-label={file.path.clone()}>
            <p class="source-note">
                { format!("{} live from its lines, {} with what they call",
                    bytes(file.own.live_bytes), bytes(file.through.live_bytes)) }
                if let Some(note) = note {
                    <span class="source-doubt">{ note }</span>
                }
            </p>
            <table class="source-lines">
                <thead><tr>{ for heads.map(head) }</tr></thead>
                <tbody>{ for rows(file, text, &open).into_iter().map(|row| shown(row, &file.path, on_line, &on_open)) }</tbody>
            </table>
        </section>
    }
}

fn shown(row: Row<'_>, path: &str, on_line: &Callback<String>, on_open: &Callback<u64>) -> Html {
    match row {
        Row::Folded(lines) => {
            let first = lines.start;
            let onclick = passing(on_open, first);
            html! {
                <tr key={format!("fold-{first}")} class="source-fold">
                    <td colspan="6">
                        <button type="button" class="button quiet" {onclick}>
                            { format!("Show {}", counted(lines.end - lines.start, "line")) }
                        </button>
                    </td>
                </tr>
            }
        }
        Row::Line { number, code, line } => {
            let cells = line.map(margin).unwrap_or_default();
            html! {
                <tr key={number} data-line={number.to_string()} data-used={line.map(|_| "")}>
                    { for cells.map(|cell| html! { <td class="number">{ cell }</td> }) }
                    <td class="number">{ line_number(number, line, path, on_line) }</td>
                    { match code {
                        Ok(code) => html! { <td><code>{ code }</code></td> },
                        Err(function) => html! { <td class="source-function">{ format!("in {function}") }</td> },
                    } }
                </tr>
            }
        }
    }
}

/// Shows the number of a line; that of a line with memory selects its allocations.
fn line_number(number: u64, line: Option<&FileLine>, path: &str, on_line: &Callback<String>) -> Html {
    if line.is_none() {
        return html! { number };
    }
    let onclick = passing(on_line, line_expression(path, number));
    html! {
        <button type="button" class="source-number" title="Show the allocations of this line"
            aria-label={format!("Allocations of line {number}")} {onclick}>{ number }</button>
    }
}

#[hook]
fn use_text(folder: Option<Folder>, position: Option<usize>) -> Option<Rc<Result<SourceText, String>>> {
    let text = use_answer((folder, position), |of| async move {
        Ok(match of {
            (Some(folder), Some(position)) => Some((position, Rc::new(folder.read(position).await))),
            _ => None,
        })
    });
    let of_this = text.as_deref().and_then(Option::as_ref).filter(|(of, _)| Some(*of) == position);
    of_this.map(|(_, read)| read.clone())
}
