//! Hooks for source files: which there are, the memory of their lines, and their text.

use super::model::{Located, located};
use crate::ask::{Ask, GetSource, GetSourceFiles, SelectionData};
use crate::hooks::{use_answer, use_asked, use_subject};
use crate::platform::Folder;
use shared::source::SourceText;
use std::rc::Rc;
use yew::prelude::*;

/// Sums by line with the selection that they are about, or an error message if the filter's text is invalid.
pub(super) type Sums = (SelectionData, <GetSource as Ask>::Answer);

/// Text of a file, or the reason for which it is not shown.
pub(super) type Read = Result<SourceText, String>;

/// Returns the files of the stacks that are in the folder; `None` until the files of the stacks are known.
#[hook]
pub(super) fn use_located(folder: Option<&Folder>) -> Option<Rc<Located>> {
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
pub(super) fn use_sums(selection: SelectionData, focus: Option<Vec<String>>) -> Option<Rc<Sums>> {
    let (client, device) = use_subject();
    use_answer((client, device, selection, focus), |(client, device, selection, focus)| async move {
        let sums = client.ask(GetSource { device, selection: selection.clone(), focus }).await?;
        Ok((selection, sums))
    })
}

/// Returns the text of a file of the folder; `None` while it is read, and without a file.
#[hook]
pub(super) fn use_text(folder: Option<Folder>, position: Option<usize>) -> Option<Rc<Read>> {
    let text = use_answer((folder, position), |of| async move {
        Ok(match of {
            (Some(folder), Some(position)) => Some((position, Rc::new(folder.read(position).await))),
            _ => None,
        })
    });
    let of_this = text.as_deref().and_then(Option::as_ref).filter(|(of, _)| Some(*of) == position);
    of_this.map(|(_, read)| read.clone())
}
