//! One open file: its devices, figures, notices, timeline and panel.

use crate::ask::{DeviceFigures, GetKind, Hit, HitAllocation};
use crate::hooks::{FileHandle, OpenLog, Peer, Seen, ShownFile, use_asked, use_file, use_settled, use_shown};
use crate::platform::bring_into_view;
use crate::state::{DockTab, Issued, Origin, ReadyFile};
use crate::views::dock::Dock;
use crate::views::findings::use_card;
use crate::views::head::figures::{FiguresRow, Headline, NoticeList, origin_bar};
use crate::views::head::header::Toolbar;
use crate::views::head::model::device_name;
use crate::views::kind::KindBar;
use crate::views::open::part_card::part_bar;
use crate::views::overview::Overview;
use crate::views::panel::{Panel, use_own_code};
use crate::views::points::PointsBar;
use crate::views::points::model::flags;
use crate::views::timeline::Timeline;
use crate::views::tour::Tour;
use shared::base::{StackLabel, format};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct ViewerProps {
    pub(super) file: FileHandle,
    pub(super) ready: ReadyFile,
    pub(super) peers: Vec<Peer>,
    pub(super) logs: Vec<OpenLog>,
    pub(super) are_ranks: bool,
    pub(super) origin: Origin,
    pub(super) command: Option<Issued>,
    /// Control that shows and changes whether the file is stored for a reload.
    pub(super) keep: Html,
}

#[component]
pub(super) fn Viewer(props: &ViewerProps) -> Html {
    let ViewerProps { file, ready, peers, origin, .. } = props;
    let body = match ready.shown_figures() {
        Some(device) => html! { <DeviceView viewer={props.clone()} device={device.clone()} /> },
        None if ready.summary.devices.is_empty() => html! {
            <section class="state">
                <div class="card">
                    <h1 class="card-title">{ "This snapshot has no devices" }</h1>
                    <p class="hint">
                        { "It was taken before the process used CUDA. Take the snapshot after the first training step." }
                    </p>
                </div>
            </section>
        },
        None => html! { <p class="state" role="status">{ "Processing allocations…" }</p> },
    };
    // Styles divide the page by the height of the view below the timeline.
    let dock = ready.dock.map(|_| if ready.is_dock_maximized() { "full" } else { "open" });
    html! {
        <ContextProvider<FileHandle> context={file.clone()}>
            <main class="viewer" data-dock={dock}>
                <h1 class="visually-hidden">{ &file.name }</h1>
                { origin_bar(file, origin, ready.notice.as_deref()) }
                { part_bar(file, &ready.summary.devices) }
                <Overview peers={peers.clone()} />
                { body }
            </main>
        </ContextProvider<FileHandle>>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct DeviceViewProps {
    viewer: ViewerProps,
    device: Rc<DeviceFigures>,
}

/// Provides what is shown of a device, which the pointer does not change.
#[component]
fn DeviceView(props: &DeviceViewProps) -> Html {
    let ViewerProps { ready, peers, logs, are_ranks, command, keep, .. } = props.viewer.clone();
    let mut shown = ShownFile { ready, device: props.device.clone(), peers, logs, are_ranks, kind_facts: None };
    let (device, moment, kind) = (shown.device.device, shown.moment().0, shown.ready.kind.as_deref().cloned());
    shown.kind_facts = use_asked(kind.map(|kind| GetKind { device, kind, moment }));
    html! {
        <ContextProvider<Rc<ShownFile>> context={Rc::new(shown)}>
            <Workspace {command} {keep} />
        </ContextProvider<Rc<ShownFile>>>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct WorkspaceProps {
    command: Option<Issued>,
    keep: Html,
}

/// Shows the device; what is under the pointer renders only the panel anew, and the views that follow it.
#[component]
fn Workspace(props: &WorkspaceProps) -> Html {
    let WorkspaceProps { command, keep } = props;
    let (file, shown) = (use_file(), use_shown());
    let ShownFile { ready, device, .. } = &*shown;
    let hovered = use_state_eq(|| None::<Rc<Hit>>);
    let on_hover = use_callback(hovered.setter(), |hit: Option<Hit>, hovered| hovered.set(hit.map(Rc::new)));
    // The allocation under the pointer on one device means nothing on another.
    let unhover = hovered.setter();
    use_effect_with(device.device, move |_| unhover.set(None));
    use_card(&file, ready.card);
    let own = use_own_code(&file, &ready.choices.own);
    let flags = use_memo(flags(ready), Vec::clone);
    // The list of events follows the moment under the pointer, or else the pinned one.
    let pointed = hovered.as_deref().or(ready.pinned.as_deref());
    let cursor = pointed.filter(|_| ready.dock == Some(DockTab::Events)).map(|hit| hit.moment);
    let peak = format::bytes(device.summary.peak_live_bytes);
    let spoken = format!("{}, peak live {peak}", device_name(device.summary.device));
    let (seen, on_seen) = use_settled();
    let on_view = use_callback((file.clone(), on_seen), |view: Seen, (file, on_seen)| {
        file.see(view);
        on_seen.emit(view);
    });
    html! {
        <>
            <p class="visually-hidden" role="status">{ spoken }</p>
            <Headline />
            <FiguresRow />
            <NoticeList />
            <Toolbar can_go_back={seen.is_some_and(|seen| seen.can_go_back)}>
                if ready.kind.is_some() { <KindBar /> }
            </Toolbar>
            <PointsBar />
            { for ready.pinned_allocation().map(tapped) }
            <div class="workspace">
                <div class="stage">
                    <Timeline key={ready.arrivals} command={*command} {flags} {on_view} {on_hover} />
                    <Dock key={format!("dock {own}")} seen={*seen} {cursor} />
                </div>
                <Panel key={format!("panel {own}")} hovered={(*hovered).clone()} keep={keep.clone()} />
            </div>
            // Before the findings are there, the tour would point at things that still move.
            if ready.findings.is_some() { <Tour /> }
        </>
    }
}

/// Returns the line that says what was tapped, for phones, where the panel is a screen away.
fn tapped(pinned: &HitAllocation) -> Html {
    let name = pinned.label.as_ref().map_or_else(|| "no stack recorded".to_owned(), StackLabel::text);
    let onclick = |_: MouseEvent| bring_into_view(".panel");
    html! {
        <button type="button" class="tapped" data-tapped="" {onclick}>
            <strong class="numbers">{ format::bytes(pinned.size_bytes) }</strong>
            <span>{ name }</span>
        </button>
    }
}
