//! Controls above the timeline.

use crate::ask::Axis;
use crate::components::icon::{Icon, IconName};
use crate::hooks::{use_file, use_shown};
use crate::state::{FileAction, TimelineCommand};
use yew::prelude::*;

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
                <Icon name={IconName::Peak} />{ "Jump to peak" }
            </button>
            <button type="button" class="button" title="Reset view (0)" onclick={command(TimelineCommand::Reset)}>
                <Icon name={IconName::Fit} />{ "Reset view" }
            </button>
            <button type="button" class="button" title="Go back to the previous view (Backspace)" aria-label="Back"
                disabled={!props.can_go_back} onclick={command(TimelineCommand::Back)}>
                <Icon name={IconName::Back} />
            </button>
            <button type="button" class="button" title="Bookmark the middle of the view (B: the moment under the pointer)"
                aria-label="Bookmark" onclick={command(TimelineCommand::Bookmark)}>
                <Icon name={IconName::Bookmark} />
            </button>
            <button type="button" class="button" title="Measure the middle of the view (X: from the moment under the pointer)"
                aria-label="Measure" onclick={command(TimelineCommand::Measure)}>
                <Icon name={IconName::Measure} />
            </button>
            { props.children.clone() }
            <span class="toolbar-hint">{ "Scroll to zoom, drag to pan, " }<kbd>{ "?" }</kbd>{ " for more" }</span>
        </div>
    }
}
