//! Bar at the top of the viewer (open files, Open, Export, Share, links and help), and the controls above the timeline.

use super::model::tab_texts;
use crate::ask::Axis;
use crate::components::controls::select;
use crate::components::icon::{IconName, icon};
use crate::components::site_header::{Place, scheme_switch, site_header};
use crate::hooks::{FilesHandle, SchemeHandle, use_file, use_shown};
use crate::platform::{bring_into_view_soon, has_server};
use crate::state::{FileAction, FileId, FileStatus, Files, OpenFile, TimelineCommand};
use yew::prelude::*;

/// Dialog of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    Keys,
    Export,
    Share,
    Links,
}

#[derive(Clone, PartialEq, Properties)]
pub struct HeaderProps {
    pub files: FilesHandle,
    pub scheme: SchemeHandle,
    pub on_open: Callback<()>,
    /// Called with the dialog to show.
    pub on_above: Callback<Above>,
}

/// Shows the bar at the top of the viewer.
#[component]
pub fn Header(props: &HeaderProps) -> Html {
    let HeaderProps { files, scheme, on_open, on_above } = props;
    let all = &files.files().all;
    use_effect_with((files.files().shown, all.len()), |_| bring_into_view_soon(".file-tab.shown"));
    let names: Vec<&str> = all.iter().map(|file| &*file.name).collect();
    let texts = tab_texts(&names);
    let tab = |(file, text): (&OpenFile, String)| file_tab(files, file, text);
    let is_ready = files.files().shown_file().is_some_and(|file| matches!(file.status, FileStatus::Ready(_)));
    let on_scheme = {
        let scheme = scheme.clone();
        Callback::from(move |choice| scheme.choose(choice))
    };
    let actions = html! {
        <>
            { open_button(on_open) }
            if is_ready {
                <button type="button" class="button" onclick={on_above.reform(|_: MouseEvent| Above::Export)}
                    aria-label="Export" title="Save a report, a picture or a table">
                    { icon(IconName::Drop) }<span class="wide-only">{ "Export" }</span>
                </button>
                if has_server() {
                    <button type="button" class="button" onclick={on_above.reform(|_: MouseEvent| Above::Share)}
                        aria-label="Share" title="Share a copy">
                        { icon(IconName::Share) }<span class="wide-only">{ "Share" }</span>
                    </button>
                }
            }
            { scheme_switch(scheme.choice(), &on_scheme) }
            { last_actions(&on_above.reform(|()| Above::Links), &on_above.reform(|()| Above::Keys)) }
        </>
    };
    let tabs = html! {
        <>
            <nav class="file-tabs" aria-label="Open files">
                <ul>{ for all.iter().zip(texts).map(tab) }</ul>
            </nav>
            if all.len() > LISTED_FROM { { file_list(files) } }
        </>
    };
    site_header(Place::Viewer, tabs, actions)
}

/// Returns the button that opens files.
pub fn open_button(on_open: &Callback<()>) -> Html {
    let on_open = on_open.reform(|_: MouseEvent| ());
    html! {
        <button type="button" class="button" onclick={on_open} aria-label="Open" title="Open snapshots (O)">
            { icon(IconName::Open) }<span class="wide-only">{ "Open" }</span>
        </button>
    }
}

/// Returns the buttons for the links, if there is a server, and for the keys.
pub fn last_actions(on_links: &Callback<()>, on_help: &Callback<()>) -> Html {
    let (on_links, on_help) = (on_links.reform(|_: MouseEvent| ()), on_help.reform(|_: MouseEvent| ()));
    html! {
        <>
            if has_server() {
                <button type="button" class="button quiet square" onclick={on_links} aria-label="My links"
                    title="My links">
                    { icon(IconName::Links) }
                </button>
            }
            <button type="button" class="button quiet square" onclick={on_help} aria-label="Keyboard shortcuts"
                title="Keyboard shortcuts (?)">
                { icon(IconName::Help) }
            </button>
        </>
    }
}

/// More tabs than this hardly fit, so that a list shows all files.
const LISTED_FROM: usize = 4;

/// Lists all open files, which the tabs have no room for.
fn file_list(files: &FilesHandle) -> Html {
    let Files { all, shown, .. } = files.files();
    let name = |file: &OpenFile| {
        let problem = if file.is_out_of_memory() { " · out of memory" } else { "" };
        AttrValue::from(format!("{}{problem}", file.name))
    };
    let options: Vec<AttrValue> = all.iter().map(name).collect();
    let chosen = all.iter().position(|file| *shown == Some(file.id)).unwrap_or(0);
    let ids: Vec<FileId> = all.iter().map(|file| file.id).collect();
    let on_choose = files.acting(move |position: usize| FileAction::Show(ids[position]));
    html! { <div class="file-list">{ select("All open files", &options, chosen, &on_choose) }</div> }
}

fn file_tab(files: &FilesHandle, file: &OpenFile, text: String) -> Html {
    let id = file.id;
    let is_shown = files.files().shown == Some(id);
    let on_show = files.acting(move |_: MouseEvent| FileAction::Show(id));
    let on_close = files.doing(move |files, _: MouseEvent| files.close(id));
    let is_out = file.is_out_of_memory();
    let (status, word) = match &file.status {
        FileStatus::Ready(_) | FileStatus::Log(_) if is_out => ("ready", "out of memory"),
        FileStatus::Loading(_) => ("loading", "loading"),
        FileStatus::Choosing(_) => ("loading", "waiting for your selection"),
        FileStatus::Failed(_) => ("failed", "could not be read"),
        FileStatus::Ready(_) | FileStatus::Log(_) if file.has_errors() => ("ready", "has an error"),
        FileStatus::Ready(_) | FileStatus::Log(_) => ("ready", ""),
    };
    let state = is_out.then_some("out").or(file.has_errors().then_some("erred"));
    html! {
        <li key={id} class={classes!("file-tab", status, state, is_shown.then_some("shown"))}
            data-status={status}>
            <button type="button" class="file-name" onclick={on_show} title={file.name.to_string()}
                aria-label={format!("{} {word}", file.name).trim_end().to_owned()}
                aria-current={is_shown.then_some("page")}>
                <span class="dot" aria-hidden="true" />
                <span class="file-text">{ text }</span>
            </button>
            <button type="button" class="file-close" onclick={on_close} aria-label={format!("Close {}", file.name)}>
                { icon(IconName::Close) }
            </button>
        </li>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct ToolbarProps {
    /// True if the history has an earlier view.
    pub can_go_back: bool,
    /// Bar of the selected kind, in place of the hint.
    #[prop_or_default]
    pub children: Html,
}

/// Shows the choice of axis, "Jump to peak", "Reset view" and "Back".
#[component]
pub fn Toolbar(props: &ToolbarProps) -> Html {
    let (file, shown) = (use_file(), use_shown());
    let has_times = shown.device.has_times;
    let axis = |axis: Axis, label: &'static str, title: &'static str, is_enabled: bool| {
        let onclick = file.acting(move |_: MouseEvent| FileAction::ChooseAxis(axis));
        let pressed = (shown.ready.axis == axis).to_string();
        html! {
            <button type="button" {onclick} {title} disabled={!is_enabled} aria-pressed={pressed}>{ label }</button>
        }
    };
    let time_title = match has_times {
        true => "Show wall-clock time on the x axis (T)",
        false => "This trace has no timestamps: only torch 2.2 and later record them",
    };
    let command = |command: TimelineCommand| file.commanding(move |_: MouseEvent| command);
    html! {
        <div class="toolbar" role="toolbar" aria-label="Timeline">
            <div class="segmented" role="group" aria-label="Axis">
                { axis(Axis::Events, "Events", "Show event numbers on the x axis (E)", true) }
                { axis(Axis::Time, "Time", time_title, has_times) }
            </div>
            <button type="button" class="button" title="Jump to peak (P)" onclick={command(TimelineCommand::JumpToPeak)}>
                { icon(IconName::Peak) }{ "Jump to peak" }
            </button>
            <button type="button" class="button" title="Reset view (0)" onclick={command(TimelineCommand::Reset)}>
                { icon(IconName::Fit) }{ "Reset view" }
            </button>
            <button type="button" class="button" title="Go back to the previous view (Backspace)" aria-label="Back"
                disabled={!props.can_go_back} onclick={command(TimelineCommand::Back)}>
                { icon(IconName::Back) }
            </button>
            <button type="button" class="button" title="Bookmark the middle of the view (B: the moment under the pointer)"
                aria-label="Bookmark" onclick={command(TimelineCommand::Bookmark)}>
                { icon(IconName::Bookmark) }
            </button>
            <button type="button" class="button" title="Measure the middle of the view (X: from the moment under the pointer)"
                aria-label="Measure" onclick={command(TimelineCommand::Measure)}>
                { icon(IconName::Measure) }
            </button>
            { props.children.clone() }
            <span class="toolbar-hint">{ "Scroll to zoom, drag to pan, " }<kbd>{ "?" }</kbd>{ " for more" }</span>
        </div>
    }
}
