//! One open file: its devices, figures, notices, timeline and panel.

use crate::ask::{ColorBy, DeviceFigures, GroupBy, Hit, Kind, WhatIfSetup};
use crate::draw::camera::View;
use crate::hooks::{OpenLog, Peer, Seen, use_settled};
use crate::platform::{WorkerClient, bring_into_view, bring_into_view_soon};
use crate::state::{
    Choice, DockTab, FileAction, FileId, Issued, Origin, ReadyFile, RowsChoice, Scheme, Selecting, TimelineCommand,
};
use crate::views::dock::{Dock, OPEN_DOCK_SELECTOR};
use crate::views::findings::card::use_card;
use crate::views::findings::evidence::Shown;
use crate::views::findings::trying::use_try;
use crate::views::head::figures_model::device_name;
use crate::views::head::figures_row::FiguresRow;
use crate::views::head::headline::Headline;
use crate::views::head::notice_list::NoticeList;
use crate::views::head::origin_bar::OriginBar;
use crate::views::head::toolbar::Toolbar;
use crate::views::kind::KindBar;
use crate::views::kind::hook::use_kind;
use crate::views::open::part_bar::PartBar;
use crate::views::overview::Overview;
use crate::views::panel::Panel;
use crate::views::panel::own_code::use_own_code;
use crate::views::points::PointsBar;
use crate::views::points::model::flags;
use crate::views::timeline::Timeline;
use crate::views::tour::Tour;
use shared::base::format;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct ViewerProps {
    pub(super) id: FileId,
    pub(super) name: AttrValue,
    /// Worker of the file.
    pub(super) client: WorkerClient,
    pub(super) file: ReadyFile,
    /// All open files, including this one.
    pub(super) peers: Vec<Peer>,
    /// All open logs.
    pub(super) logs: Vec<OpenLog>,
    pub(super) origin: Origin,
    /// True if ranks are compared rather than moments.
    pub(super) are_ranks: bool,
    pub(super) scheme: Scheme,
    /// Last command to the timeline.
    pub(super) command: Option<Issued>,
    pub(super) on_action: Callback<FileAction>,
    /// Called with a command to the timeline.
    pub(super) on_command: Callback<TimelineCommand>,
    /// Called when the user wants to choose other events of the file.
    pub(super) on_part: Callback<()>,
    /// Called when the user wants to open the whole file.
    pub(super) on_all: Callback<()>,
    /// Called with the choice to compare ranks rather than moments.
    pub(super) on_ranks: Callback<bool>,
    /// Called when another part of the timeline is in view.
    pub(super) on_view: Callback<Seen>,
    /// Called with files to open.
    pub(super) on_files: Callback<Vec<web_sys::File>>,
    /// Initial part of the timeline; `None` for all of it.
    pub(super) range: Option<View>,
    /// Control that shows and changes whether the file is stored for a reload.
    pub(super) keep: Html,
}

#[component]
pub(super) fn Viewer(props: &ViewerProps) -> Html {
    let file = &props.file;
    let body = match file.shown_figures() {
        Some(device) => html! { <DeviceView viewer={props.clone()} device={device.clone()} /> },
        None if file.summary.devices.is_empty() => empty_file(),
        None => html! { <p class="state" role="status">{ "Processing allocations…" }</p> },
    };
    html! {
        <main class="viewer" data-dock={dock_state(file)}>
            <h1 class="visually-hidden">{ &props.name }</h1>
            <OriginBar origin={props.origin.clone()} notice={file.notice.clone()}
                on_dismiss={props.on_action.reform(|()| FileAction::DismissNotice)} />
            <PartBar devices={file.summary.devices.clone()} on_choose={props.on_part.clone()}
                on_all={props.on_all.clone()} />
            <Overview id={props.id} peers={props.peers.clone()} scheme={props.scheme} on_action={props.on_action.clone()} />
            { body }
        </main>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct DeviceViewProps {
    viewer: ViewerProps,
    device: Rc<DeviceFigures>,
}

#[component]
fn DeviceView(props: &DeviceViewProps) -> Html {
    let DeviceViewProps {
        viewer:
            ViewerProps {
                id,
                client,
                file,
                peers,
                logs,
                are_ranks,
                on_ranks,
                scheme,
                command,
                on_action,
                on_command,
                on_view,
                on_files,
                on_part,
                range,
                keep,
                ..
            },
        device,
    } = props;
    let hovered = use_state_eq(|| None::<Rc<Hit>>);
    let on_hover = {
        let hovered = hovered.setter();
        use_callback((), move |hit: Option<Hit>, ()| hovered.set(hit.map(Rc::new)))
    };
    // The allocation under the pointer on one device means nothing on another.
    use_effect_with(device.device, {
        let hovered = hovered.setter();
        move |_| hovered.set(None)
    });
    use_card(client, *id, file.card, on_action);
    let own = use_own_code(client, *id, &file.choices.own, on_action);
    let on_own = use_callback(on_action.clone(), |own, on_action| on_action.emit(FileAction::Choose(Choice::Own(own))));
    let capacity_bytes = file.card.map(|card| card.capacity_bytes);
    let on_card = use_callback(on_action.clone(), |card, on_action| on_action.emit(FileAction::ChooseCard(card)));
    let on_choose = use_callback(on_action.clone(), |choice, on_action| on_action.emit(FileAction::Choose(choice)));
    let on_what_if = on_choose.reform(|setup: WhatIfSetup| Choice::WhatIf(setup));
    let what_if = &file.choices.what_if;
    // Moving the pointer over the plot must render only the panel, so the callbacks keep their identity.
    let on_pin = use_callback(on_action.clone(), |hit, on_action| on_action.emit(FileAction::Pin(hit)));
    let on_unpin = use_callback(on_action.clone(), |(), on_action| on_action.emit(FileAction::Pin(None)));
    let on_axis = use_callback(on_action.clone(), |axis, on_action| on_action.emit(FileAction::ChooseAxis(axis)));
    let on_tab = on_action.reform(FileAction::ChooseTab);
    let on_dock = use_callback(on_action.clone(), |tab: Option<DockTab>, on_action| {
        on_action.emit(FileAction::ChooseDock(tab));
        if tab.is_some() {
            // On a phone the view is a screen away from its tab.
            bring_into_view_soon(OPEN_DOCK_SELECTOR);
        }
    });
    let on_device =
        use_callback(on_action.clone(), |device, on_action| on_action.emit(FileAction::ChooseDevice(device)));
    let on_color = use_callback(on_action.clone(), |color, on_action| on_action.emit(FileAction::ChooseColor(color)));
    let on_show = use_callback((on_action.clone(), on_command.clone()), |shown: Shown, (on_action, on_command)| {
        let Shown { device, hit, between: (first, last), kind } = shown;
        on_action.emit(FileAction::PinFound { device, hit });
        if let Some(Kind::Category(category)) = &kind {
            on_action.emit(FileAction::ChooseColor(ColorBy::Category));
            on_action.emit(FileAction::Choose(Choice::Selecting(Selecting::of_category(*category))));
            on_action.emit(FileAction::Choose(Choice::Rows(RowsChoice {
                by: Some(GroupBy::Stack),
                ..RowsChoice::default()
            })));
            on_action.emit(FileAction::ChooseDock(Some(DockTab::Allocations)));
        }
        on_action.emit(FileAction::SelectKind(kind));
        on_command.emit(TimelineCommand::Between { first, last });
        // On a phone the timeline is a screen away from the panel.
        bring_into_view("[data-timeline]");
    });
    let on_try = use_try(client, device.device, what_if.as_ref(), on_action);
    let on_point = use_callback(on_action.clone(), |point, on_action| on_action.emit(FileAction::Point(point)));
    let flags = use_memo(flags(file), Vec::clone);
    let (seen, on_seen) = use_settled();
    let on_view = use_callback((on_view.clone(), on_seen), |view: Seen, (on_view, on_seen)| {
        on_view.emit(view);
        on_seen.emit(view);
    });
    let pinned = file.pinned.as_ref().and_then(|hit| hit.allocation.as_ref());
    let pinned = pinned.map(|found| (found.allocation, found.size_bytes));
    let pinned_kind = use_memo(file.pinned.clone(), |_| file.pinned_kind().map(Rc::new));
    let moment = legend_moment(file, device);
    let facts = use_kind(client, device.device, file.kind.clone(), moment.0);
    let on_kind = use_callback(on_action.clone(), |kind, on_action| on_action.emit(FileAction::SelectKind(kind)));
    let name =
        peers.iter().find(|peer| peer.id == *id).map(|peer| AttrValue::from(peer.name.clone())).unwrap_or_default();
    html! {
        <>
            <p class="visually-hidden" role="status">{ spoken(device) }</p>
            <Headline file={file.clone()} />
            <FiguresRow device={device.clone()} />
            <NoticeList summary={file.summary.clone()} device={device.summary.device} are_known={file.are_notices_known} />
            <Toolbar axis={file.axis} has_times={device.has_times} can_go_back={seen.is_some_and(|seen| seen.can_go_back)}
                {on_axis} on_command={on_command.clone()}>
                if file.kind.is_some() {
                    <KindBar facts={facts.clone()} is_at_pin={moment.1} selecting={file.choices.selecting.clone()}
                        on_action={on_action.clone()} on_command={on_command.clone()} />
                }
            </Toolbar>
            <PointsBar client={client.clone()} device={device.device} index={file.device_index()}
                points={file.points.clone()} on_point={on_point.clone()} on_command={on_command.clone()} />
            <div class="workspace">
                <div class="stage">
                    <Timeline key={file.arrivals} client={client.clone()} device={device.clone()} axis={file.axis} scheme={*scheme}
                        color={file.color} parts={file.shown_parts().cloned()} legend_moment={moment}
                        {on_color} command={*command} {pinned} {flags} {on_point} kind={file.kind.clone()} pinned_kind={(*pinned_kind).clone()}
                        kind_facts={facts.clone()} on_kind={on_kind.clone()} {capacity_bytes} start={*range} {on_view} {on_hover}
                        on_pin={on_pin.clone()} />
                    <Dock key={format!("dock {own}")} id={*id} client={client.clone()} file={file.clone()} device={device.clone()}
                        peers={peers.clone()} logs={logs.clone()} are_ranks={*are_ranks} scheme={*scheme} seen={*seen}
                        kind_facts={facts.clone()} cursor={cursor(file, hovered.as_deref())} what_if={what_if.clone()} {on_dock} {on_pin} {on_choose} {on_what_if} on_ranks={on_ranks.clone()}
                        on_action={on_action.clone()} on_command={on_command.clone()} on_files={on_files.clone()} />
                </div>
                <Panel key={format!("panel {own}")} client={client.clone()} file={file.clone()} {name} device={device.clone()}
                    hovered={(*hovered).clone()} facts={facts.clone()} {on_kind} on_command={on_command.clone()} {on_unpin} {on_tab}
                    {on_show} {on_try} {on_device} {on_card} {on_own}
                    on_part={on_part.clone()} keep={keep.clone()} />
            </div>
            // Before the findings are there, the tour would point at things that still move.
            if file.findings.is_some() { <Tour /> }
        </>
    }
}

/// Returns the height of the view below the timeline, by which styles divide the page; `None` if none is open.
fn dock_state(file: &ReadyFile) -> Option<&'static str> {
    file.dock.map(|_| if file.is_dock_maximized() { "full" } else { "open" })
}

/// Returns the moment that the list of events follows: that under the pointer, or else the pinned one.
fn cursor(file: &ReadyFile, hovered: Option<&Hit>) -> Option<u32> {
    let is_followed = file.dock == Some(DockTab::Events);
    hovered.or(file.pinned.as_deref()).filter(|_| is_followed).map(|hit| hit.moment)
}

/// Returns the moment that the legend's bytes refer to, and whether it is the pin's rather than the peak's.
fn legend_moment(file: &ReadyFile, device: &DeviceFigures) -> (u32, bool) {
    file.pinned.as_ref().map_or((device.peak_moment, false), |hit| (hit.moment, true))
}

/// Describes a device for screen readers when it comes into view.
fn spoken(device: &DeviceFigures) -> String {
    format!("{}, peak live {}", device_name(device.summary.device), format::bytes(device.summary.peak_live_bytes))
}

fn empty_file() -> Html {
    html! {
        <section class="state">
            <div class="card">
                <h1 class="card-title">{ "This snapshot has no devices" }</h1>
                <p class="hint">
                    { "It was taken before the process used CUDA. Take the snapshot after the first training step." }
                </p>
            </div>
        </section>
    }
}
