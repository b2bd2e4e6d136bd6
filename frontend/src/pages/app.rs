//! The viewer: header, the shown file, and what lies above everything.

use super::viewer::Viewer;
use crate::components::drop_overlay::DropOverlay;
use crate::components::error_card::ErrorCard;
use crate::components::header::Header;
use crate::components::help_dialog::HelpDialog;
use crate::components::hero::Hero;
use crate::components::loading_card::LoadingCard;
use crate::hooks::{Commands, FilesHandle, use_commands, use_drop, use_files, use_keys, use_scheme};
use crate::platform::{chosen_files, search_param, set_title, site_url};
use crate::state::{FileAction, FileStatus, KeyAction, OpenFile, Scheme};
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// The snapshot that `?sample` opens.
const SAMPLE: &str = "sample.pickle.gz";

/// The viewer.
#[component]
pub fn App() -> Html {
    let files = use_files();
    let commands = use_commands();
    let scheme = use_scheme();
    let is_help_open = use_state_eq(|| false);
    let input = use_node_ref();

    let on_files = {
        let files = files.clone();
        use_callback((), move |chosen: Vec<web_sys::File>, ()| files.open(chosen))
    };
    let is_over = use_drop(on_files.clone());
    let on_open = {
        let input = input.clone();
        use_callback((), move |(), ()| {
            if let Some(input) = input.cast::<HtmlInputElement>() {
                input.click();
            }
        })
    };
    use_keys(on_key(&files, &commands, &is_help_open, &on_open));
    use_sample(&files);
    use_title(&files);

    let on_change = on_files.reform(|event: Event| chosen_files(&event.target_unchecked_into()));
    let on_help = is_help_open.setter();
    let on_help_closed = is_help_open.setter();
    html! {
        <>
            <Header files={files.files().clone()} scheme={scheme.choice()} on_open={on_open.clone()}
                on_show={callback(&files, |files, id| files.dispatch(FileAction::Show(id)))}
                on_close={callback(&files, |files, id| files.close(id))}
                on_scheme={let scheme = scheme.clone(); move |choice| scheme.choose(choice)}
                on_help={move |()| on_help.set(true)} />
            <input ref={input} class="visually-hidden" type="file" multiple=true tabindex="-1"
                aria-label="Snapshots to open" onchange={on_change} />
            { shown(&files, &commands, scheme.scheme(), &on_open) }
            if is_over { <DropOverlay /> }
            if *is_help_open { <HelpDialog on_close={move |()| on_help_closed.set(false)} /> }
        </>
    }
}

/// The file whose tab is chosen, in whatever state it is, or the page without files.
fn shown(files: &FilesHandle, commands: &Commands, scheme: Scheme, on_open: &Callback<()>) -> Html {
    let Some(OpenFile { id, name, status }) = files.files().shown_file() else {
        return html! { <Hero on_open={on_open.clone()} /> };
    };
    let id = *id;
    let name = AttrValue::from(name.clone());
    let on_close = callback(files, move |files, ()| files.close(id));
    match (status, files.client(id)) {
        (FileStatus::Loading(loading), _) => html! { <LoadingCard {name} loading={*loading} on_cancel={on_close} /> },
        (FileStatus::Failed(failure), _) => {
            html! { <ErrorCard {name} failure={failure.clone()} {on_close} on_open={on_open.clone()} /> }
        }
        (FileStatus::Ready(file), Some(client)) => {
            let commands = commands.clone();
            html! {
                <Viewer key={id} {client} file={file.clone()} {scheme} command={commands.last()}
                    on_action={callback(files, |files, action| files.dispatch(action))}
                    on_command={move |command| commands.issue(command)} />
            }
        }
        // The worker of a ready file is there until its tab is closed.
        (FileStatus::Ready(_), None) => Html::default(),
    }
}

fn on_key(
    files: &FilesHandle,
    commands: &Commands,
    is_help_open: &UseStateHandle<bool>,
    on_open: &Callback<()>,
) -> Callback<KeyAction> {
    let (files, commands, on_open) = (files.clone(), commands.clone(), on_open.clone());
    let is_help_open = is_help_open.clone();
    Callback::from(move |action| match action {
        KeyAction::Help => is_help_open.set(!*is_help_open),
        // What lies under a modal dialog is not to be moved.
        _ if *is_help_open => (),
        KeyAction::Open => on_open.emit(()),
        KeyAction::Unpin => files.dispatch(FileAction::Pin(None)),
        KeyAction::Axis(axis) => files.dispatch(FileAction::ChooseAxis(axis)),
        KeyAction::StepDevice(step) => files.dispatch(FileAction::StepDevice(step)),
        KeyAction::ShowFile(position) => files.dispatch(FileAction::ShowNth(position)),
        KeyAction::Timeline(command) => commands.issue(command),
    })
}

/// Opens the sample once where the address asks for it.
#[hook]
fn use_sample(files: &FilesHandle) {
    let files = files.clone();
    use_effect_with((), move |()| {
        if search_param("sample").is_some() {
            files.open_url(SAMPLE, site_url(SAMPLE));
        }
    });
}

#[hook]
fn use_title(files: &FilesHandle) {
    let name = files.files().shown_file().map(|file| file.name.clone());
    use_effect_with(name, |name| match name {
        Some(name) => set_title(&format!("{name} – Snapscope")),
        None => set_title("Snapscope"),
    });
}

fn callback<T: 'static>(files: &FilesHandle, act: impl Fn(&FilesHandle, T) + 'static) -> Callback<T> {
    let files = files.clone();
    Callback::from(move |value| act(&files, value))
}
