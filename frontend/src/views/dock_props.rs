//! Properties of the dock, which each of its tabs receives.

use super::export::sheet_buttons::SheetButtons;
use crate::ask::{DeviceFigures, Hit, Kind, KindFacts, Readable, SheetOf, WhatIfSetup};
use crate::hooks::{OpenLog, Peer, Seen};
use crate::platform::WorkerClient;
use crate::state::{Choice, DockTab, FileAction, FileId, ReadyFile, Scheme, TimelineCommand};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct DockProps {
    pub id: FileId,
    /// All open files, including this one.
    pub peers: Vec<Peer>,
    /// All open logs.
    pub logs: Vec<OpenLog>,
    /// Connection to the file's Web Worker.
    pub client: WorkerClient,
    pub file: ReadyFile,
    /// Figures of the shown device.
    pub device: Rc<DeviceFigures>,
    /// True if ranks are compared instead of moments.
    pub are_ranks: bool,
    pub scheme: Scheme,
    /// Totals of the selected kind, once they are known.
    pub kind_facts: Option<Rc<Readable<KindFacts>>>,
    /// Part of the timeline in view when it last rested; `None` before the first drawing.
    pub seen: Option<Seen>,
    /// Moment under the pointer, or pinned; only for the views that follow it, so that the others rest.
    pub cursor: Option<u32>,
    /// Called with the tab to open, or with `None` to close the dock.
    pub on_dock: Callback<Option<DockTab>>,
    /// Called with the allocation to pin, or with `None` to unpin.
    pub on_pin: Callback<Option<Hit>>,
    /// Called with a command that moves the timeline.
    pub on_command: Callback<TimelineCommand>,
    /// Called with each choice made in one of the views.
    pub on_choose: Callback<Choice>,
    /// Called to show another file or device.
    pub on_action: Callback<FileAction>,
    /// Called with true to compare ranks, with false to compare moments.
    pub on_ranks: Callback<bool>,
    /// Settings under which requests are replayed; `None` until the What if tab was opened.
    pub what_if: Option<Rc<WhatIfSetup>>,
    /// Called with other settings for the replay.
    pub on_what_if: Callback<WhatIfSetup>,
    /// Called with files to open.
    pub on_files: Callback<Vec<web_sys::File>>,
}

impl DockProps {
    /// Returns the totals of the selected kind, if there is one.
    pub fn kind_facts(&self) -> Option<&KindFacts> {
        self.kind_facts.as_deref()?.as_ref().ok()
    }

    /// Returns the selected kind; that of one allocation's stack is given as the stack.
    pub fn selected_kind(&self) -> Option<Kind> {
        let stack = self.kind_facts().and_then(|facts| facts.stack).map(Kind::Stack);
        stack.or_else(|| self.file.kind.as_deref().cloned())
    }

    /// Returns the name of the shown file.
    pub fn file_name(&self) -> AttrValue {
        self.peers.iter().find(|peer| peer.id == self.id).map(|peer| peer.name.clone().into()).unwrap_or_default()
    }

    /// Returns buttons that save a table of the file.
    pub fn sheet_buttons(&self, table: impl Into<AttrValue>, of: impl Fn() -> SheetOf + 'static) -> Html {
        let of = Callback::from(move |()| of());
        let (client, device, file, table) = (self.client.clone(), self.device.device, self.file_name(), table.into());
        html! { <SheetButtons {client} {device} {file} {table} {of} /> }
    }
}
