//! Form of a config: its groups of fields, and the control of a field.

use shared::api::JobTask;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::cards::{SWEEP_CARDS, card_boxes};
use super::model::draft::Draft;
use super::model::edit::FieldValue;
use super::model::fields::{Choice, Control, Field, Group, Values, cards, form, ranges};
use crate::common::parts::value_of;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ConfigFormProps {
    pub draft: Draft,
    /// Devices that the server can record on: `virtual`, and its real GPUs.
    pub kinds: Vec<String>,
    pub on_change: Callback<Change>,
}

/// Shows the fields in groups; changing one field changes one key of the config's text.
#[component]
pub(crate) fn ConfigForm(props: &ConfigFormProps) -> Html {
    let groups = use_memo((), |()| form());
    let check = &props.draft.readable;
    let values = Values::of(check.raw.as_deref(), check.job.as_deref());
    html! {
        <fieldset class="form" disabled={!props.draft.takes_fields()}>
            <legend class="visually-hidden">{ "Config" }</legend>
            if let Some(reason) = props.draft.why_no_fields() {
                <p class="hint" role="status">{ reason }</p>
            }
            if props.draft.task == JobTask::Sweep {
                { group(props, &ranges(), &values) }
                { sweep_cards(props, &values) }
            } else {
                { device(props, &values) }
            }
            { for groups.iter().map(|shown| group(props, shown, &values)) }
        </fieldset>
    }
}

fn group(props: &ConfigFormProps, group: &Group, values: &Values) -> Html {
    let field = |field: &Field| {
        let is_wrong = props.draft.check.problems.iter().any(|problem| problem.path == field.path);
        let range = field.path.starts_with("sweep.").then(|| AttrValue::from(props.draft.range(field.path)));
        let names_assumed = props.draft.is_imported() && !group.is_folded;
        form_field(&FormField { field, values, range, names_assumed, is_wrong, on_change: &props.on_change })
    };
    let fields = html! { <div class="fields">{ for group.fields.iter().map(field) }</div> };
    if group.is_folded {
        html! { <details class="fold"><summary>{ group.title }</summary>{ fields }</details> }
    } else {
        html! { <section><h2 class="form-title">{ group.title }</h2>{ fields }</section> }
    }
}

/// Shows the choice of a sweep's cards, of which the config's own is the only one at first.
fn sweep_cards(props: &ConfigFormProps, values: &Values) -> Html {
    let ranges = props.draft.range(SWEEP_CARDS);
    let has_own = ranges.is_empty() && values.written("device").is_empty();
    let written = if has_own { values.default("card") } else { ranges };
    let is_card = |path: &str| path == SWEEP_CARDS || path.starts_with("card with ");
    let is_wrong = props.draft.check.problems.iter().any(|problem| is_card(&problem.path));
    card_boxes(&written, is_wrong, &props.on_change.reform(|value| (SWEEP_CARDS, value)))
}

/// Shows the choice of device: a virtual card, or a GPU of the server.
fn device(props: &ConfigFormProps, values: &Values) -> Html {
    let (card, device) = (values.written("card"), values.written("device"));
    let written = if device.is_empty() { card } else { device };
    let real = props.kinds.iter().filter(|kind| kind.starts_with("cuda"));
    let real = real.map(|kind| Choice { word: kind.clone(), label: format!("{kind} · a GPU of this server") });
    let choices: Vec<Choice> = cards().into_iter().chain(real).collect();
    let on_choose = props.on_change.reform(|word: String| {
        let path = if word.starts_with("cuda") { "device" } else { "card" };
        (path, Some(word).filter(|word| !word.is_empty()).map(FieldValue::Text))
    });
    html! {
        <section>
            <h2 class="form-title">{ "Runs on" }</h2>
            <div class="fields">
                <label class="field wide">
                    <span class="field-label">{ "GPU" }{ key("GPU", "card") }</span>
                    { select("card", &written, Some(values.unset("card")), &choices, None, &on_choose) }
                    { assumed(values.assumed("card").filter(|_| props.draft.is_imported()), "card") }
                </label>
            </div>
        </section>
    }
}

/// Config key and its new value; `None` removes the key.
pub(crate) type Change = (&'static str, Option<FieldValue>);

/// Field, with what its control shows.
struct FormField<'a> {
    field: &'a Field,
    values: &'a Values,
    /// Value as it is written, for a field of several values.
    range: Option<AttrValue>,
    /// True if a value that the config leaves out is named below the field.
    names_assumed: bool,
    /// True if a problem was found with the field's key.
    is_wrong: bool,
    on_change: &'a Callback<Change>,
}

/// Shows the field with its label.
fn form_field(props: &FormField<'_>) -> Html {
    let Field { path, label, control, .. } = props.field;
    match control {
        Control::Flag => flag(props, path, label),
        Control::Words(choices) => labelled(props, label, words(props, path, choices)),
        Control::Whole(bounds) => {
            let attributes = ("number", Some(bounds.start().to_string()), Some(bounds.end().to_string()));
            labelled(props, label, input(props, path, attributes))
        }
        Control::Line => labelled(props, label, input(props, path, ("text", None, None))),
    }
}

fn labelled(props: &FormField<'_>, label: &str, control: Html) -> Html {
    html! {
        <label key={props.field.path} class={classes!("field", props.is_wrong.then_some("wrong"))}>
            <span class="field-label">{ label }{ key(label, props.field.path) }</span>
            { control }
            { assumed(props.values.assumed(props.field.path).filter(|_| props.names_assumed), props.field.path) }
        </label>
    }
}

/// Shows the key of the config beside a label that does not say it already.
fn key(label: &str, path: &str) -> Html {
    if label.to_lowercase() == path {
        return Html::default();
    }
    html! { <code class="field-key" aria-hidden="true">{ path.to_owned() }</code> }
}

/// Names a value that an imported config leaves out.
fn assumed(value: Option<String>, path: &'static str) -> Html {
    let Some(value) = value else { return Html::default() };
    html! { <span class="field-note" data-assumed={path}>{ format!("{value} assumed: not in the file") }</span> }
}

fn words(props: &FormField<'_>, path: &'static str, choices: &[Choice]) -> Html {
    let written = props.values.written(path);
    let on_choose = props
        .on_change
        .reform(move |word: String| (path, Some(word).filter(|word| !word.is_empty()).map(FieldValue::Text)));
    select(path, &written, Some(props.values.unset(path)), choices, Some(props.is_wrong), &on_choose)
}

/// Shows a select box for one of several words; a word that is none of them is a choice, too.
///
/// `unset` is the text of the choice of no word, if that is allowed.
pub(super) fn select(
    path: &'static str,
    written: &str,
    unset: Option<String>,
    choices: &[Choice],
    is_wrong: Option<bool>,
    on_choose: &Callback<String>,
) -> Html {
    let onchange = on_choose.reform(|event: Event| value_of(&event));
    let is_known = unset.is_some() && written.is_empty() || choices.iter().any(|choice| choice.word == written);
    let option = |choice: &Choice| {
        html! { <option value={choice.word.clone()} selected={choice.word == written}>{ &choice.label }</option> }
    };
    html! {
        <select class="select" data-key={path} {onchange} aria-invalid={is_wrong.map(|is_wrong| is_wrong.to_string())}>
            if let Some(unset) = unset {
                <option value="" selected={written.is_empty()}>{ unset }</option>
            }
            if !is_known {
                <option value={written.to_owned()} selected=true>{ written }</option>
            }
            { for choices.iter().map(option) }
        </select>
    }
}

type Attributes = (&'static str, Option<String>, Option<String>);

fn input(props: &FormField<'_>, path: &'static str, (kind, min, max): Attributes) -> Html {
    let is_number = kind == "number";
    let oninput = props.on_change.reform(move |event: InputEvent| {
        let text = value_of(&event);
        let value = match text.trim() {
            "" => None,
            number if is_number => number.parse().ok().map(FieldValue::Whole),
            _ => Some(FieldValue::Text(text)),
        };
        (path, value)
    });
    let value = props.range.clone().unwrap_or_else(|| props.values.written(path).into());
    let example = props.field.example;
    let placeholder = if example.is_empty() { props.values.default(path) } else { format!("such as {example}") };
    html! {
        <input type={kind} {min} {max} data-key={path} {value} {oninput} {placeholder}
            aria-invalid={props.is_wrong.to_string()} />
    }
}

fn flag(props: &FormField<'_>, path: &'static str, label: &str) -> Html {
    let onchange = props.on_change.reform(move |event: Event| {
        let is_on = event.target_dyn_into::<HtmlInputElement>().is_some_and(|input| input.checked());
        (path, is_on.then_some(FieldValue::Flag(true)))
    });
    html! {
        <label key={path} class="check">
            <input type="checkbox" data-key={path} checked={props.values.is_on(path)} {onchange} />{ label }
        </label>
    }
}
