//! Buttons that rename or delete a job.

use frontend::components::dialog::Dialog;
use frontend::components::icon::{Icon, IconName};
use shared::api::JobChange;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct RenameProps {
    /// Current name.
    pub name: AttrValue,
    pub on_rename: Callback<String>,
}

/// Shows a button that opens a dialog for another name.
#[component]
pub(super) fn Rename(props: &RenameProps) -> Html {
    // The typed text is state because an unfinished job redraws this component, which would reset the field to the old
    // name.
    let typed = use_state_eq(|| None::<String>);
    let set = {
        let typed = typed.setter();
        Callback::from(move |text| typed.set(text))
    };
    let open = set.reform({
        let name = props.name.clone();
        move |_: MouseEvent| Some(name.to_string())
    });
    let close = set.reform(|()| None);
    let oninput = set.reform(|event: InputEvent| Some(event.target_unchecked_into::<HtmlInputElement>().value()));
    let onsubmit = {
        let (typed, close, props) = (typed.clone(), close.clone(), props.clone());
        move |event: SubmitEvent| {
            event.prevent_default();
            let name = typed.as_deref().unwrap_or_default().trim();
            if !name.is_empty() && *name != *props.name {
                props.on_rename.emit(name.to_owned());
            }
            close.emit(());
        }
    };
    html! {
        <>
            <button type="button" class="button" onclick={open}>
                <Icon name={IconName::Edit} />{ "Rename" }
            </button>
            if let Some(name) = (*typed).clone() {
                <Dialog id="rename-title" class="small" title="Rename this job" on_close={close.clone()} is_light={false}>
                    <form class="token-form" {onsubmit}>
                        <label class="field">
                            <span class="field-label">{ "Name" }</span>
                            <input type="text" value={name} {oninput} data-focus="" required=true
                                maxlength={JobChange::MOST_NAME.to_string()} autocomplete="off" />
                        </label>
                        <div class="card-foot">
                            <button type="submit" class="button primary">{ "Save" }</button>
                            <button type="button" class="button" onclick={close.reform(|_: MouseEvent| ())}>{ "Cancel" }</button>
                        </div>
                    </form>
                </Dialog>
            }
        </>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct DeleteProps {
    /// True if the job's snapshot is deleted with it.
    pub has_snapshot: bool,
    pub on_delete: Callback<()>,
}

/// Shows a button that deletes a job after a confirmation, because a deletion can't be undone.
#[component]
pub(super) fn Delete(props: &DeleteProps) -> Html {
    let is_asked = use_state_eq(|| false);
    let (open, close) = (set(&is_asked, true), set(&is_asked, false));
    let confirm = {
        let (close, on_delete) = (close.clone(), props.on_delete.clone());
        move |_: MouseEvent| {
            close.emit(());
            on_delete.emit(());
        }
    };
    let text = if props.has_snapshot {
        "This deletes its config, figures, log and snapshot for everyone, and can’t be undone. Links to copies of its \
         snapshot keep working."
    } else {
        "This deletes its config and log for everyone, and can’t be undone."
    };
    html! {
        <>
            <button type="button" class="button" onclick={open.reform(|_: MouseEvent| ())}>
                <Icon name={IconName::Delete} />{ "Delete" }
            </button>
            if *is_asked {
                <Dialog id="delete-title" class="small" title="Delete this job?" on_close={close.clone()}>
                    <p class="hint">{ text }</p>
                    <div class="card-foot">
                        <button type="button" class="button danger" onclick={confirm}>{ "Delete the job" }</button>
                        <button type="button" class="button" onclick={close.reform(|_: MouseEvent| ())}>{ "Keep it" }</button>
                    </div>
                </Dialog>
            }
        </>
    }
}

/// Returns a callback that opens or closes the confirmation.
fn set(is_asked: &UseStateHandle<bool>, asked: bool) -> Callback<()> {
    let is_asked = is_asked.setter();
    Callback::from(move |()| is_asked.set(asked))
}
