//! The lines of a source file, with the memory beside them.

use super::model::{Row, line_expression, margin, rows};
use crate::hooks::use_answer;
use crate::platform::Folder;
use shared::base::format::{bytes, counted};
use shared::report::{FileLine, SourceFile};
use shared::source::SourceText;
use std::collections::BTreeSet;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct CodeProps {
    pub(super) file: SourceFile,
    pub(super) folder: Option<Folder>,
    pub(super) position: Option<usize>,
    /// Called with the regular expression that finds the allocations of a line.
    pub(super) on_line: Callback<String>,
}

/// Shows the lines around those with memory; without the file, only the lines that are in the stacks.
#[component]
pub(super) fn Code(props: &CodeProps) -> Html {
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
    let on_open = {
        let open = open.clone();
        Callback::from(move |line: u64| {
            let mut next = (**open).clone();
            next.insert(line);
            open.set(Rc::new(next));
        })
    };
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
            let onclick = on_open.reform(move |_: MouseEvent| first);
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
    let expression = line_expression(path, number);
    let onclick = on_line.reform(move |_: MouseEvent| expression.clone());
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
