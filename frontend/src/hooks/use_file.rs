//! The shown file, which its views take from contexts instead of from their parents, and the commands to its timeline.
//!
//! What never changes while the file is shown is a context of its own, so that a view which only asks and acts renders
//! no more often for using it. What the pointer or a gesture changes is in neither: it is passed to those who show it.

use super::use_files::{FilesHandle, OpenLog, Peer};
use super::view_link::{Seen, ViewLink};
use crate::ask::{DeviceFigures, Kind, KindFacts, Readable};
use crate::draw::camera::View;
use crate::platform::{WorkerClient, bring_into_view_soon};
use crate::state::{Choice, DockTab, FileAction, FileId, Issued, ReadyFile, Scheme, TimelineCommand};
use std::cell::Cell;
use std::rc::Rc;
use yew::prelude::*;

/// Selector of the dock in the page while a view is open.
pub const OPEN_DOCK_SELECTOR: &str = "[data-dock-views][data-open]";

/// Shown file as its views use it: whom they ask, and where their actions go.
#[derive(Clone)]
pub struct FileHandle {
    pub id: FileId,
    pub name: AttrValue,
    pub client: WorkerClient,
    pub scheme: Scheme,
    files: FilesHandle,
    commands: Commands,
    link: ViewLink,
}

impl PartialEq for FileHandle {
    fn eq(&self, other: &Self) -> bool {
        (self.id, &self.client, self.scheme) == (other.id, &other.client, other.scheme)
    }
}

impl FileHandle {
    /// Creates the handle of a file whose worker is known.
    pub fn new(
        (id, name, client): (FileId, AttrValue, WorkerClient),
        scheme: Scheme,
        (files, commands, link): (&FilesHandle, &Commands, &ViewLink),
    ) -> Self {
        Self { id, name, client, scheme, files: files.clone(), commands: commands.clone(), link: link.clone() }
    }

    pub fn act(&self, action: FileAction) {
        self.files.dispatch(action);
    }

    pub fn choose(&self, choice: Choice) {
        self.act(FileAction::Choose(choice));
    }

    pub fn command(&self, command: TimelineCommand) {
        self.commands.issue(command);
    }

    /// Returns a callback that acts on the file.
    pub fn acting<T: 'static>(&self, action: impl Fn(T) -> FileAction + 'static) -> Callback<T> {
        self.files.acting(action)
    }

    pub fn choosing<T: 'static>(&self, choice: impl Fn(T) -> Choice + 'static) -> Callback<T> {
        self.acting(move |value| FileAction::Choose(choice(value)))
    }

    pub fn commanding<T: 'static>(&self, command: impl Fn(T) -> TimelineCommand + 'static) -> Callback<T> {
        let file = self.clone();
        Callback::from(move |value| file.command(command(value)))
    }

    /// Returns a handler of clicks that always act in the same way, so that a button costs no code of its own.
    pub fn clicked(&self, action: FileAction) -> Callback<MouseEvent> {
        self.acting(move |_| action.clone())
    }

    /// Returns a handler of clicks that always send the same command to the timeline.
    pub fn commanded(&self, command: TimelineCommand) -> Callback<MouseEvent> {
        self.commanding(move |_| command)
    }

    /// Opens a view below the timeline, or closes it.
    pub fn choose_dock(&self, tab: Option<DockTab>) {
        self.act(FileAction::ChooseDock(tab));
        if tab.is_some() {
            // On a phone the view is a screen away from its tab.
            bring_into_view_soon(OPEN_DOCK_SELECTOR);
        }
    }

    pub fn open(&self, files: Vec<web_sys::File>) {
        self.files.open(files);
    }

    /// Lets the user choose which of the file's events to open.
    pub fn choose_part(&self) {
        self.files.choose_part(self.id);
    }

    pub fn open_all(&self) {
        self.files.open_part(self.id, None);
    }

    /// Notes that another part of the timeline is in view; moving it counts as the user's choice of the file.
    pub fn see(&self, seen: Seen) {
        self.link.see(self.id, seen);
        // A handle keeps each state alive that it has read, and this one lives long.
        if seen.can_go_back && self.files.clone().files().is_unattended {
            self.act(FileAction::Stay);
        }
    }

    /// Returns the part of the timeline that was in view last, or that the file starts with; `None` for all of it.
    pub fn range(&self, ready: &ReadyFile) -> Option<View> {
        self.link.range(self.id, ready)
    }
}

/// What the page shows of a file and of the files beside it; it changes with the actions of the user.
#[derive(Clone, PartialEq)]
pub struct ShownFile {
    pub ready: ReadyFile,
    pub device: Rc<DeviceFigures>,
    /// All open files, including this one.
    pub peers: Vec<Peer>,
    pub logs: Vec<OpenLog>,
    pub are_ranks: bool,
    /// Totals of the selected kind, once they are known.
    pub kind_facts: Option<Rc<Readable<KindFacts>>>,
}

impl ShownFile {
    pub fn kind_facts(&self) -> Option<&KindFacts> {
        self.kind_facts.as_deref()?.as_ref().ok()
    }

    /// Returns the selected kind; that of one allocation's stack is given as the stack.
    pub fn selected_kind(&self) -> Option<Kind> {
        let stack = self.kind_facts().and_then(|facts| facts.stack).map(Kind::Stack);
        stack.or_else(|| self.ready.kind.as_deref().cloned())
    }

    /// Returns the moment that figures refer to: that of the pin, with true, or else that of the peak.
    pub fn moment(&self) -> (u32, bool) {
        self.ready.pinned.as_ref().map_or((self.device.peak_moment, false), |hit| (hit.moment, true))
    }

    /// Returns the pinned allocation and its size in bytes.
    pub fn pinned(&self) -> Option<(u32, u64)> {
        self.ready.pinned_allocation().map(|found| (found.allocation, found.size_bytes))
    }

    pub fn capacity_bytes(&self) -> Option<u64> {
        self.ready.card.map(|card| card.capacity_bytes)
    }

    /// Returns the number of the device's events, which is its last moment.
    pub fn events(&self) -> u32 {
        u32::try_from(self.device.summary.events).unwrap_or(u32::MAX)
    }
}

/// Returns the shown file.
///
/// # Panics
/// Panics outside of the viewer, which provides it.
#[hook]
pub fn use_file() -> FileHandle {
    use_context().expect("the viewer provides the shown file")
}

/// Returns what the page shows of the file.
///
/// # Panics
/// Panics outside of the view of a device, which provides it.
#[hook]
pub fn use_shown() -> Rc<ShownFile> {
    use_context().expect("the view of a device provides what is shown")
}

/// Returns the worker to ask, and the position of the shown device.
#[hook]
pub fn use_subject() -> (WorkerClient, u32) {
    let (file, shown) = (use_file(), use_shown());
    (file.client, shown.device.device)
}

/// Issues commands, each with its own number.
#[derive(Clone, PartialEq)]
pub struct Commands {
    last: UseStateHandle<Option<Issued>>,
    count: Rc<Cell<u32>>,
}

impl Commands {
    pub fn last(&self) -> Option<Issued> {
        *self.last
    }

    pub fn issue(&self, command: TimelineCommand) {
        let number = self.count.get().wrapping_add(1);
        self.count.set(number);
        self.last.set(Some(Issued { number, command }));
    }
}

/// Returns the channel for commands to the timeline.
#[hook]
pub fn use_commands() -> Commands {
    let last = use_state_eq(|| None);
    let count = use_memo((), |()| Cell::new(0));
    Commands { last, count }
}
