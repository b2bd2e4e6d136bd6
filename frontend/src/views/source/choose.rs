//! Button that chooses the folder with the source files.

use crate::platform::{Folder, choose_folder, folder_of, has_folder_dialog};
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct ChooseFolderProps {
    /// Called with the chosen folder.
    pub(super) on_folder: Callback<Folder>,
}

/// Shows the button; without a dialog for folders, it opens a file input that takes a folder.
#[component]
pub(super) fn ChooseFolder(props: &ChooseFolderProps) -> Html {
    let input = use_node_ref();
    let onclick = {
        let (input, on_folder) = (input.clone(), props.on_folder.clone());
        move |_: MouseEvent| {
            if has_folder_dialog() {
                let on_folder = on_folder.clone();
                spawn_local(async move {
                    if let Some(folder) = choose_folder().await {
                        on_folder.emit(folder);
                    }
                });
            } else if let Some(input) = input.cast::<HtmlInputElement>() {
                input.click();
            }
        }
    };
    let onchange = {
        let on_folder = props.on_folder.clone();
        move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            if let Some(folder) = folder_of(&input) {
                on_folder.emit(folder);
            }
        }
    };
    html! {
        <>
            <button type="button" class="button" {onclick} title="The files are read in this tab and never sent">
                { "Choose folder…" }
            </button>
            <input ref={input} class="visually-hidden" type="file" multiple=true tabindex="-1" aria-hidden="true"
                webkitdirectory=true data-input="source-folder" {onchange} />
        </>
    }
}
