//! Form of a new job: fields for the config keys that most trainings set.

use super::field::{Change, FormField, assumed, key};
use super::model::draft::Draft;
use super::model::edit::FieldValue;
use super::model::fields::{Choice, Field, Group, Values, cards, form, ranges};
use shared::api::JobTask;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

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
            }
            { device(props, &values) }
            { for groups.iter().map(|shown| group(props, shown, &values)) }
        </fieldset>
    }
}

fn group(props: &ConfigFormProps, group: &Group, values: &Values) -> Html {
    let field = |field: &Field| {
        let is_wrong = props.draft.check.problems.iter().any(|problem| problem.path == field.path);
        let range = field.path.starts_with("sweep.").then(|| AttrValue::from(props.draft.range(field.path)));
        html! {
            <FormField key={field.path} field={field.clone()} values={values.clone()} {is_wrong} {range}
                names_assumed={props.draft.is_imported() && !group.is_folded} on_change={props.on_change.clone()} />
        }
    };
    let fields = html! { <div class="fields">{ for group.fields.iter().map(field) }</div> };
    if group.is_folded {
        html! { <details class="fold"><summary>{ group.title }</summary>{ fields }</details> }
    } else {
        html! { <section><h2 class="form-title">{ group.title }</h2>{ fields }</section> }
    }
}

/// Shows the choice of device: a virtual card, or a GPU of the server.
fn device(props: &ConfigFormProps, values: &Values) -> Html {
    let (card, device) = (values.written("card"), values.written("device"));
    let written = if device.is_empty() { card } else { device };
    let real = props.kinds.iter().filter(|kind| *kind != "virtual");
    let real = real.map(|kind| Choice { word: kind.clone(), label: format!("{kind} · a GPU of this server") });
    let choices: Vec<Choice> = cards().into_iter().chain(real).collect();
    let is_known = written.is_empty() || choices.iter().any(|choice| choice.word == written);
    let onchange = props.on_change.reform(|event: Event| {
        let word = event.target_dyn_into::<HtmlSelectElement>().map(|select| select.value()).unwrap_or_default();
        let path = if word.starts_with("cuda") { "device" } else { "card" };
        (path, Some(word).filter(|word| !word.is_empty()).map(FieldValue::Text))
    });
    let option = |choice: &Choice| {
        html! { <option value={choice.word.clone()} selected={choice.word == written}>{ &choice.label }</option> }
    };
    html! {
        <section>
            <h2 class="form-title">{ "Runs on" }</h2>
            <div class="fields">
                <label class="field wide">
                    <span class="field-label">{ "GPU" }{ key("GPU", "card") }</span>
                    <select class="select" data-key="card" {onchange}>
                        <option value="" selected={written.is_empty()}>{ values.unset("card") }</option>
                        if !is_known {
                            <option value={written.clone()} selected=true>{ &written }</option>
                        }
                        { for choices.iter().map(option) }
                    </select>
                    { assumed(values.assumed("card").filter(|_| props.draft.is_imported()), "card") }
                </label>
            </div>
        </section>
    }
}
