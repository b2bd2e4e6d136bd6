//! Choices of what a shared copy leaves out.

use super::hook::SharingHandle;
use super::model::{CutRow, cut_rows, typed_names};
use crate::ask::{CopyOptions, PackageRow};
use crate::state::SharingAction;
use shared::base::format;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct CutsProps {
    /// State of the dialog.
    pub(super) sharing: SharingHandle,
    /// Number of annotations in the file.
    pub(super) annotations: u64,
}

/// Shows the choices, each with examples from this file.
#[component]
pub(super) fn Cuts(props: &CutsProps) -> Html {
    let state = props.sharing.state();
    let (options, preview) = (&state.options, state.preview.as_deref());
    let choose = {
        let sharing = props.sharing.clone();
        Callback::from(move |options: CopyOptions| sharing.dispatch(SharingAction::Choose(options)))
    };
    let on_names = {
        let options = options.clone();
        choose.reform(move |event: Event| {
            let typed: HtmlInputElement = event.target_unchecked_into();
            CopyOptions { names: typed_names(&typed.value()), ..options.clone() }
        })
    };
    let rows = cut_rows(options, preview, props.annotations);
    html! {
        <fieldset class="cuts">
            <legend>{ "Removed from the copy" }</legend>
            { for rows.iter().map(|row| cut(row, options, &choose)) }
            <label class="share-field">
                <span>{ "Also remove" }</span>
                <input type="text" onchange={on_names} placeholder="customer, host-17" autocomplete="off"
                    spellcheck="false" data-names="" />
            </label>
            if let Some(preview) = preview.filter(|preview| preview.packages.len() > 1) {
                <details class="cut-packages">
                    <summary>{ "Frames by package" }</summary>
                    <ul>{ for preview.packages.iter().map(|row| package(row, options, &choose)) }</ul>
                </details>
            }
            if preview.is_some_and(|preview| preview.unknown_keys > 0) {
                <p class="hint">{ "Fields that are unknown to Snapscope are always removed." }</p>
            }
        </fieldset>
    }
}

fn cut(row: &CutRow, options: &CopyOptions, choose: &Callback<CopyOptions>) -> Html {
    let (cut, options) = (row.cut, options.clone());
    let onchange = choose.reform(move |_: Event| cut.toggled(&options));
    html! {
        <div class="cut" key={row.label}>
            <label class="check">
                <input type="checkbox" checked={row.is_on} {onchange} />
                <span class="check-label">{ row.label }</span>
                <span class="check-note">{ &row.note }</span>
            </label>
            if !row.examples.is_empty() {
                <ul class="examples" aria-label={format!("Examples: {}", row.label)}>{ for row.examples.iter().map(example) }</ul>
            }
        </div>
    }
}

fn example((before, after): &(String, String)) -> Html {
    let after = if after.is_empty() {
        html! { <em>{ "nothing" }</em> }
    } else {
        html! { <code>{ after }</code> }
    };
    html! {
        <li>
            <del><code>{ before }</code></del>
            <span aria-label="becomes">{ "→" }</span>
            <ins>{ after }</ins>
        </li>
    }
}

fn package(row: &PackageRow, options: &CopyOptions, choose: &Callback<CopyOptions>) -> Html {
    let is_kept = !options.dropped_packages.contains(&row.name);
    let (name, options) = (row.name.clone(), options.clone());
    let onchange = choose.reform(move |_: Event| {
        let mut options = options.clone();
        match options.dropped_packages.iter().position(|dropped| *dropped == name) {
            Some(position) => drop(options.dropped_packages.remove(position)),
            None => options.dropped_packages.push(name.clone()),
        }
        options
    });
    html! {
        <li key={row.name.clone()}>
            <label class="check">
                <input type="checkbox" checked={is_kept} {onchange} />
                <span class="check-label">{ &row.name }</span>
                <span class="check-note numbers">{ format::counted(row.frames, "frame") }</span>
            </label>
        </li>
    }
}
