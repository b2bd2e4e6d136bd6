//! Panel next to the timeline, with tabs for findings, stacks at a moment, one allocation, and the file.

pub mod model;

use self::model::{Fact, TopStack, exact_bytes, facts, kind_text, near_texts, rest, rows};
use super::findings::model::problem_count;
use super::findings::{FindingList, hear_findings};
use crate::ask::stack::stack_mark;
use crate::ask::{
    Around, Details, FileSummary, GetAround, GetDetails, GetStacks, Hit, Kind, NameMark, NearEvent, SetOwnCode,
    SettingText,
};
use crate::components::{
    IconName, RowFigures, StackRow, StackView, bound, empty, fact, icon, select, tab_keys, text_of,
};
use crate::hooks::{FileHandle, ShownFile, use_asked, use_file, use_shown};
use crate::state::{Choice, FileAction, PanelTab, ReadyFile, TimelineCommand};
use shared::base::{Moment, OwnCode, format};
use shared::report::LiveGroup;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PanelProps {
    pub hovered: Option<Rc<Hit>>,
    /// Control for keeping the file in the browser across reloads.
    pub keep: Html,
}

fn id(tab: PanelTab) -> &'static str {
    match tab {
        PanelTab::Findings => "tab-findings",
        PanelTab::Stacks => "tab-stacks",
        PanelTab::Allocation => "tab-allocation",
        PanelTab::File => "tab-file",
    }
}

#[component]
pub fn Panel(props: &PanelProps) -> Html {
    let (file, shown) = (use_file(), use_shown());
    let ready = &shown.ready;
    let tab = ready.tab;
    let hovered = props.hovered.as_ref().filter(|_| ready.pinned.is_none());
    let allocation = ready.pinned_allocation().or(hovered.and_then(|hit| hit.allocation.as_ref()));
    let on_choose = file.acting(|next: u32| FileAction::ChooseTab(PanelTab::ALL[next as usize]));
    let on_key = tab_keys(tab as u32, PanelTab::ALL.len() as u32, false, on_choose);
    let head = |this: PanelTab| {
        let is_shown = tab == this;
        let label = match this {
            PanelTab::Findings => findings_label(ready),
            // The stacks are those of the pinned moment, or of the peak if nothing is pinned.
            PanelTab::Stacks => html! { { if ready.pinned.is_some() { "At pin" } else { "At peak" } } },
            PanelTab::Allocation => html! { { "Allocation" } },
            PanelTab::File => html! { { "File" } },
        };
        let onclick = file.clicked(FileAction::ChooseTab(this));
        html! {
            <button type="button" role="tab" id={id(this)} data-tab={(this as u32).to_string()}
                aria-selected={is_shown.to_string()} tabindex={if is_shown { "0" } else { "-1" }}
                aria-controls="panel-body" {onclick}>{ label }</button>
        }
    };
    html! {
        <aside class="panel" aria-label="Details">
            <div class="panel-tabs" role="tablist" aria-label="Details" onkeydown={on_key}>
                { for PanelTab::ALL.map(head) }
            </div>
            <div class="panel-body" id="panel-body" role="tabpanel" tabindex="0" aria-labelledby={id(tab)}>
                { match tab {
                    PanelTab::Findings => html! { <FindingList /> },
                    PanelTab::Allocation => html! {
                        <Allocation allocation={allocation.map(|found| found.allocation)} />
                    },
                    PanelTab::Stacks => html! { <TopStacks /> },
                    PanelTab::File => about(&file, &shown, props.keep.clone()),
                } }
            </div>
        </aside>
    }
}

/// Returns the label of the findings tab; room for the count is reserved before it is known.
fn findings_label(file: &ReadyFile) -> Html {
    let count = file.findings.as_deref().map(problem_count).filter(|&count| count > 0);
    html! {
        <>{ "Findings " }<span class="panel-count numbers">{ for count }</span></>
    }
}

fn about(file: &FileHandle, shown: &ShownFile, keep: Html) -> Html {
    let (file, device, summary) = (file.clone(), &shown.device, &shown.ready.summary);
    let FileSummary { format, unique_frames, unique_stacks, annotations, settings, .. } = &**summary;
    let facts = [
        ("Format", format.clone()),
        ("Distinct stacks", format::count(*unique_stacks)),
        ("Distinct frames", format::count(*unique_frames)),
        ("Annotations", format::count(*annotations)),
        ("Reserved at the end", format::bytes(device.summary.reserved_bytes)),
        ("Active at the end", format::bytes(device.summary.active_bytes)),
        ("Allocated at the end", format::bytes(device.summary.allocated_bytes)),
    ];
    let actions = device.summary.actions.iter().map(|(action, count)| fact(action.name(), &format::count(*count), ""));
    html! {
        <section class="about">
            { keep }
            <dl class="facts">{ for facts.iter().map(|(name, value)| fact(name, value, "")) }</dl>
            if !device.summary.actions.is_empty() {
                <h2>{ "Events" }</h2>
                <dl class="facts code">{ for actions }</dl>
            }
            if device.summary.events > 0 && !summary.is_part() {
                <p class="about-part">
                    <button type="button" class="button" onclick={move |_: MouseEvent| file.choose_part()}>
                        { "Open part…" }
                    </button>
                </p>
            }
            <h2>{ "Allocator settings" }</h2>
            if settings.is_empty() {
                { empty("Not in this file: only torch 2.3 and later write them") }
            } else {
                <dl class="facts code">{ for settings.iter().map(|SettingText { name, value }| {
                    fact(name, if value.is_empty() { "not set" } else { value }, "")
                }) }</dl>
            }
        </section>
    }
}

const ROWS: u32 = 50;

#[component]
fn TopStacks() -> Html {
    let (file, shown) = (use_file(), use_shown());
    let (device, moment) = (shown.device.device, shown.moment().0);
    let Some(stacks) = use_asked(Some(GetStacks { device, moment, limit: ROWS })) else {
        return empty("Computing totals…");
    };
    if stacks.groups.is_empty() {
        return empty("No memory is live at this moment");
    }
    let selected = shown.kind_facts().and_then(|facts| facts.stack);
    let moment = Moment::of_event_number(stacks.event);
    let lines = rows(&stacks).into_iter().zip(&stacks.groups).enumerate();
    let line = |(rank, (row, data))| stack_line(&file, selected, &format!("{}/{rank}", moment.0), row, data);
    html! {
        <section class="top-stacks">
            <p class="panel-lead numbers">
                <strong>{ format::bytes(stacks.live_bytes) }</strong>{ format!(" live {moment}, by stack") }
            </p>
            <OwnCodeChoice />
            <ol>{ for lines.map(line) }</ol>
            if let Some(rest) = rest(&stacks) { <p class="panel-empty numbers">{ rest }</p> }
        </section>
    }
}

fn stack_line(file: &FileHandle, selected: Option<NameMark>, key: &str, row: TopStack, data: &LiveGroup) -> Html {
    let TopStack { label, size, note, bar } = row;
    let figures = RowFigures { size, note, bar };
    let mark = stack_mark(&data.frames);
    // Allocations without a stack have nothing in common.
    let on_open = (!data.frames.is_empty())
        .then(|| file.acting(move |is_open: bool| FileAction::SelectKind(is_open.then_some(Kind::Stack(mark)))));
    let is_selected = selected == Some(mark) && !data.frames.is_empty();
    html! { <StackRow {key} {label} {figures} frames={Rc::new(data.frames.clone())} {is_selected} {on_open} /> }
}

#[derive(Clone, PartialEq, Properties)]
struct AllocationProps {
    /// Position of the pinned allocation, or else of the one under the pointer.
    allocation: Option<u32>,
}

#[component]
fn Allocation(props: &AllocationProps) -> Html {
    let (file, shown) = (use_file(), use_shown());
    let (ready, device, moment) = (&shown.ready, shown.device.device, shown.moment().0);
    let is_pinned = ready.pinned.is_some();
    let details = use_asked(props.allocation.map(|allocation| GetDetails { device, allocation }));
    // Moving the pointer over the plot must not ask for more than the details.
    let pinned = props.allocation.filter(|_| is_pinned);
    let around = use_asked(pinned.map(|allocation| GetAround { device, allocation, moment }));
    let around = around.filter(|around| Some(around.allocation) == pinned);
    let Some(details) = details else {
        return empty("Point at an allocation in the timeline to see its details, or click to pin it");
    };
    let on_unpin = file.clicked(FileAction::Pin(None));
    let around = around.as_deref();
    let facts = facts(&details, shown.device.summary.events, around, ready.shown_parts().map(Rc::as_ref));
    html! {
        <article class={classes!("allocation", is_pinned.then_some("pinned"))}
            aria-label={if is_pinned { "Pinned allocation" } else { "Allocation" }}
            data-allocation={details.allocation.to_string()}>
            <header class="allocation-head numbers">
                <h2 class="allocation-size">{ format::bytes(details.size_bytes) }</h2>
                <span class="fact-note">{ exact_bytes(details.size_bytes) }</span>
                if is_pinned {
                    <button type="button" class="button quiet unpin" onclick={on_unpin} title="Unpin (Esc)">
                        { icon(IconName::Pin) }{ "Pinned" }
                    </button>
                }
            </header>
            { kind_button(&file, &shown, around) }
            <dl class="facts">
                { for facts.iter().map(|Fact { label, value, note }| fact(label, value, note)) }
            </dl>
            { stack(&details) }
            if !details.forward_frames.is_empty() {
                <details class="forward">
                    <summary>{ "Stack of the forward pass" }</summary>
                    <pre>{ details.forward_frames.join("\n") }</pre>
                </details>
            }
            if let Some(around) = around {
                if !around.free_frames.is_empty() {
                    <details class="forward">
                        <summary>{ "Stack where it was freed" }</summary>
                        <StackView title="Freed by" frames={Rc::new(around.free_frames.clone())} />
                    </details>
                }
                { near(&file, "Around its allocation", &around.near_alloc) }
                { near(&file, "Around its free", &around.near_free) }
            }
        </article>
    }
}

/// Shows a button that selects all allocations of the pinned one's kind, with their number and their bytes.
fn kind_button(file: &FileHandle, shown: &ShownFile, around: Option<&Around>) -> Html {
    let (Some(kind), Some(around)) = (shown.ready.pinned_kind(), around) else {
        // The room is kept, so that nothing moves when the numbers arrive.
        return html! { if shown.ready.pinned.is_some() { <p class="allocation-kind"></p> } };
    };
    let is_selected = shown.ready.kind.as_deref() == Some(&kind);
    let onclick = file.clicked(FileAction::SelectKind((!is_selected).then_some(kind)));
    let title = if is_selected { "Clear the selection (K)" } else { "Select them in all views (K)" };
    html! {
        <p class="allocation-kind">
            <button type="button" class="button numbers" aria-pressed={is_selected.to_string()} {title} {onclick}>
                { kind_text(around, shown.moment().1) }
            </button>
        </p>
    }
}

/// Lists events; each pins the allocation that it is about.
fn near(file: &FileHandle, title: &'static str, events: &[NearEvent]) -> Html {
    let line = |near: &NearEvent| {
        let [number, size, place] = near_texts(near);
        let moment = near.event + u32::from(near.is_alloc);
        let onclick = near.key.map(|key| file.commanded(TimelineCommand::Pin { key, moment }));
        html! {
            <li aria-current={near.is_own.then_some("true")}>
                <button type="button" class="near numbers" title={format!("event {number}, {place}")} {onclick}>
                    <span>{ number }</span><strong>{ size }</strong><span>{ place }</span>
                </button>
            </li>
        }
    };
    html! {
        if !events.is_empty() {
            <details class="forward near-events">
                <summary>{ title }</summary>
                <ol>{ for events.iter().map(line) }</ol>
            </details>
        }
    }
}

fn stack(details: &Details) -> Html {
    let title = if details.is_free_stack { "Stack where it was freed" } else { "Stack" };
    match (details.frames.is_empty(), details.is_initial) {
        (true, true) => empty("No stack was recorded, because this was allocated before recording"),
        (true, false) => empty("No stack was recorded, which is common for the autograd engine and some libraries"),
        (false, _) => html! { <StackView {title} frames={Rc::new(details.frames.clone())} /> },
    }
}

/// Tells the worker the chosen rule, and returns the one that it follows.
///
/// Findings are dispatched like a report of the worker; whatever else shows stacks asks again if the result changes.
#[hook]
pub fn use_own_code(file: &FileHandle, own: &Rc<str>) -> Rc<str> {
    let followed = use_state_eq(|| Rc::<str>::from(""));
    let asked = use_mut_ref(|| Rc::<str>::from(""));
    let (setter, file) = (followed.setter(), file.clone());
    use_effect_with((file.client.clone(), own.clone()), move |(_, own)| {
        let own = own.clone();
        let is_other = asked.replace(own.clone()) != own;
        let question = SetOwnCode { own: own.to_string() };
        hear_findings(&file, is_other.then_some(question), move || setter.set(own))
    });
    (*followed).clone()
}

/// Kinds of rules, in the order of [`OwnCode`].
const KINDS: [&str; 3] = ["automatic", "paths that contain", "everything outside"];

#[component]
fn OwnCodeChoice() -> Html {
    let on_own = use_file().choosing(|rule: String| Choice::Own(rule.into()));
    let rule = OwnCode::of_text(&use_shown().ready.choices.own);
    let (kind, texts) = parts(&rule);
    // A kind without a text yet is no rule, so it is kept here.
    let chosen = use_state_eq(|| kind);
    let setter = chosen.setter();
    use_effect_with(kind, move |&kind| {
        if kind > 0 {
            setter.set(kind)
        }
    });
    let kind = *chosen;
    let choosing = (chosen.setter(), on_own.clone(), texts.clone());
    let on_choose = bound(choosing, |(chosen, on_own, texts), kind: usize| {
        chosen.set(kind);
        on_own.emit(rule_text(kind, texts));
    });
    let onchange = on_own.reform(move |event: Event| rule_text(kind, &text_of(&event)));
    html! {
        <div class="own-code" title="Stacks are named by their innermost frame of your own code">
            <span>{ "Own code" }</span>
            { select("Own code", &KINDS.map(AttrValue::from), kind, &on_choose) }
            if kind > 0 {
                <input type="text" aria-label="Paths of own code" placeholder="src/, mymodel" value={texts} {onchange}
                    autocomplete="off" spellcheck="false" />
            }
        </div>
    }
}

fn parts(rule: &OwnCode) -> (usize, String) {
    match rule {
        OwnCode::Automatic => (0, String::new()),
        OwnCode::Containing(texts) => (1, texts.join(", ")),
        OwnCode::Outside(texts) => (2, texts.join(", ")),
    }
}

fn rule_text(kind: usize, texts: &str) -> String {
    match kind {
        1 => OwnCode::of_text(texts.trim_start_matches('!')).to_string(),
        2 => OwnCode::of_text(&format!("!{texts}")).to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: usize, texts: &str, rule: &str) {
        assert_eq!(rule_text(kind, texts), rule);
    }

    #[test]
    fn kinds_and_texts_are_rules() {
        check(0, "src", "");
        check(1, "src, model", "src,model");
        check(1, " ", "");
        check(2, "transformers", "!transformers");
        check(2, "", "!");
        assert_eq!(parts(&OwnCode::of_text("!a,b")), (2, "a, b".to_owned()));
    }
}
