//! Bar at the top of the viewer (open files, Open, Export, Share, links and help), and the controls above the timeline.

use super::model::tab_texts;
use crate::ask::Axis;
use crate::components::{
    Dialog, IconName, Place, choice, click, icon, passing, scheme_switch, segmented, select, site_header, square_button,
};
use crate::hooks::{FilesHandle, SchemeHandle, use_file, use_shown};
use crate::platform::{bring_into_view_soon, has_server};
use crate::state::{FileAction, FileId, FileStatus, Files, OpenFile, TimelineCommand};
use yew::prelude::*;

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
    pub on_above: Callback<Above>,
}

#[component]
pub fn Header(props: &HeaderProps) -> Html {
    let HeaderProps { files, scheme, on_open, on_above } = props;
    let all = &files.files().all;
    use_effect_with((files.files().shown, all.len()), |_| bring_into_view_soon(".file-tab.shown"));
    let names: Vec<&str> = all.iter().map(|file| &*file.name).collect();
    let texts = tab_texts(&names);
    let tab = |(file, text): (&OpenFile, String)| file_tab(files, file, text);
    let is_ready = files.files().shown_file().is_some_and(|file| matches!(file.status, FileStatus::Ready(_)));
    let dialog = |above: Above| passing(on_above, above);
    let actions = html! {
        <>
            { open_button(on_open) }
            if is_ready {
                { wide_button(IconName::Drop, "Export", "Save a report, a picture or a table", dialog(Above::Export)) }
                if has_server() {
                    { wide_button(IconName::Share, "Share", "Share a copy", dialog(Above::Share)) }
                }
            }
            { scheme_buttons(scheme) }
            { last_actions(dialog(Above::Links), dialog(Above::Keys)) }
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

pub fn open_button(on_open: &Callback<()>) -> Html {
    wide_button(IconName::Open, "Open", "Open snapshots (O)", click(on_open))
}

/// Shows a button whose text is left out where there is little room.
fn wide_button(name: IconName, label: &'static str, title: &'static str, onclick: Callback<MouseEvent>) -> Html {
    html! {
        <button type="button" class="button" {onclick} aria-label={label} {title}>
            { icon(name) }<span class="wide-only">{ label }</span>
        </button>
    }
}

pub fn scheme_buttons(scheme: &SchemeHandle) -> Html {
    let chosen = scheme.clone();
    scheme_switch(scheme.choice(), &Callback::from(move |choice| chosen.choose(choice)))
}

pub fn last_actions(on_links: Callback<MouseEvent>, on_help: Callback<MouseEvent>) -> Html {
    html! {
        <>
            if has_server() { { square_button(IconName::Links, "My links", "My links", Some(on_links)) } }
            { square_button(IconName::Help, "Keyboard shortcuts", "Keyboard shortcuts (?)", Some(on_help)) }
        </>
    }
}

/// More tabs than this hardly fit, so that a list shows all files.
const LISTED_FROM: usize = 4;

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
            <button type="button" class="file-close" onclick={on_close}
                aria-label={format!("Close {}", file.name)}>{ icon(IconName::Close) }</button>
        </li>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct ToolbarProps {
    pub can_go_back: bool,
    /// Bar of the selected kind, in place of the hint.
    #[prop_or_default]
    pub children: Html,
}

#[component]
pub fn Toolbar(props: &ToolbarProps) -> Html {
    let (file, shown) = (use_file(), use_shown());
    let has_times = shown.device.has_times;
    let axis = |axis: Axis, label: &'static str, title: &'static str, is_enabled: bool| {
        let onclick = file.clicked(FileAction::ChooseAxis(axis));
        choice(label, title, shown.ready.axis == axis, is_enabled.then_some(onclick))
    };
    let time_title = match has_times {
        true => "Show wall-clock time on the x axis (T)",
        false => "This trace has no timestamps: only torch 2.2 and later record them",
    };
    let axes = [
        axis(Axis::Events, "Events", "Show event numbers on the x axis (E)", true),
        axis(Axis::Time, "Time", time_title, has_times),
    ];
    let bookmark = "Bookmark the middle of the view (B: the moment under the pointer)";
    let measure = "Measure the middle of the view (X: from the moment under the pointer)";
    // The texts of those behind the second are left out.
    let tools = [
        (IconName::Peak, "Jump to peak", "Jump to peak (P)", TimelineCommand::JumpToPeak),
        (IconName::Fit, "Reset view", "Reset view (0)", TimelineCommand::Reset),
        (IconName::Back, "Back", "Go back to the previous view (Backspace)", TimelineCommand::Back),
        (IconName::Bookmark, "Bookmark", bookmark, TimelineCommand::Bookmark),
        (IconName::Measure, "Measure", measure, TimelineCommand::Measure),
    ];
    let tool = |(position, (name, label, title, command)): (usize, (IconName, &'static str, _, TimelineCommand))| {
        let (is_named, title): (bool, &'static str) = (position < 2, title);
        html! {
            <button type="button" class="button" {title} aria-label={(!is_named).then_some(label)}
                disabled={command == TimelineCommand::Back && !props.can_go_back}
                onclick={file.commanded(command)}>
                { icon(name) }if is_named { { label } }
            </button>
        }
    };
    html! {
        <div class="toolbar" role="toolbar" aria-label="Timeline">
            { segmented("Axis", axes) }
            { for tools.into_iter().enumerate().map(tool) }
            { props.children.clone() }
            <span class="toolbar-hint">{ "Scroll to zoom, drag to pan, " }<kbd>{ "?" }</kbd>{ " for more" }</span>
        </div>
    }
}

/// Topics with their lines: keys, any of which works, and their effect.
type Topic = (&'static str, &'static [(&'static [&'static str], &'static str)]);

const KEYS: [Topic; 6] = [
    (
        "Timeline",
        &[
            (&["←", "→", "A", "D"], "Pan horizontally"),
            (&["↑", "↓", "W", "S"], "Pan vertically"),
            (&["+", "-"], "Zoom horizontally; with Shift, vertically"),
            (&["P"], "Jump to the peak"),
            (&[",", "."], "Show the previous or next step"),
            (&["0", "Home"], "Show the whole trace"),
            (&["Backspace", "Ctrl Z"], "Go back to the previous view"),
            (&["B"], "Bookmark the moment under the pointer"),
            (&["X"], "Measure from the moment under the pointer, and to it"),
            (&["E"], "Use the event axis"),
            (&["T"], "Use the time axis"),
            (&["Esc"], "Clear the selection, or unpin the allocation"),
        ],
    ),
    (
        "Pinned allocation, with the focus in the timeline",
        &[
            (&["Enter"], "Pin the largest allocation in view"),
            (&["←", "→"], "Pin the one allocated before or after it"),
            (&["↑", "↓"], "Pin the one above or below it; with Shift, the next larger or smaller one"),
            (&["K"], "Select all allocations of its stack"),
            (&["N"], "Pin the next one of the selection or of its stack; with Shift, the previous one"),
        ],
    ),
    (
        "Allocations",
        &[
            (&["/"], "Search allocations"),
            (&["Enter"], "Go to the next match; with Shift, to the previous match"),
            (&["↑", "↓"], "Select a row of the table"),
        ],
    ),
    (
        "Views below",
        &[
            (&["G"], "Flame graph"),
            (&["L"], "Allocations"),
            (&["V"], "Events"),
            (&["C"], "Source"),
            (&["M"], "Segments"),
            (&["I"], "What if"),
            (&["R"], "Compare"),
            (&["J"], "Logs"),
            (&["F"], "Maximize the view, or return to the timeline"),
        ],
    ),
    (
        "Pointer",
        &[
            (&["Wheel"], "Zoom the trace around the pointer"),
            (&["Ctrl", "Wheel"], "Zoom vertically"),
            (&["Shift", "Wheel"], "Pan"),
            (&["Drag"], "Pan in both directions"),
            (&["Click"], "Pin an allocation, or zoom in on a step"),
            (&["Double-click"], "Zoom in on an allocation"),
        ],
    ),
    (
        "Files",
        &[
            (&["O"], "Open snapshots"),
            (&["1", "9"], "Show an open file by its number"),
            (&["[", "]"], "Show the previous or next device"),
            (&["?"], "Show or hide this list"),
        ],
    ),
];

pub fn help_dialog(on_close: &Callback<()>) -> Html {
    let line = |(keys, text): &(&[&'static str], &'static str)| {
        html! {
            <div class="key-line">
                <dt>{ for keys.iter().map(|key| html! { <kbd>{ *key }</kbd> }) }</dt>
                <dd>{ *text }</dd>
            </div>
        }
    };
    let topic = |(title, lines): &Topic| {
        html! { <section><h3>{ *title }</h3><dl>{ for lines.iter().map(line) }</dl></section> }
    };
    html! {
        <Dialog id="keys-title" title="Keyboard shortcuts" {on_close}>
            <div class="key-groups">{ for KEYS.iter().map(topic) }</div>
        </Dialog>
    }
}

#[cfg(test)]
mod tests {
    use super::KEYS;
    use crate::state::{DockTab, dock_key};

    #[test]
    fn each_view_below_is_listed_with_its_key() {
        let views = KEYS.iter().find(|group| group.0 == "Views below").unwrap();
        let keys: Vec<_> = views.1.iter().map(|(keys, _)| keys[0].to_lowercase()).collect();
        assert!(DockTab::ALL.into_iter().all(|tab| keys.iter().any(|key| key == dock_key(tab))), "{keys:?}");
    }
}
