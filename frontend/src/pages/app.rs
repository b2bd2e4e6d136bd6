//! Root component of the viewer: header, shown file, and dialogs.

use super::viewer::Viewer;
use crate::components::{drop_overlay, setting};
use crate::hooks::{
    Arrival, Commands, FileHandle, FilesHandle, OPEN_DOCK_SELECTOR, SessionHandle, ViewLink, use_arrival, use_commands,
    use_drop, use_files, use_keys, use_scheme, use_session, use_view_link,
};
use crate::platform::{bring_into_view_soon, chosen_files, focus_element, on_launch, on_next_frame, set_title};
use crate::state::{DockTab, FileAction, FileStatus, KeyAction, LINKS_DIALOG, OpenFile, Origin, Remedy, Scheme};
use crate::views::export::ExportDialog;
use crate::views::head::header::{Above, Header, help_dialog};
use crate::views::log::LogView;
use crate::views::open::cards::{arrival_card, awaited_bar, error_card, keep_box, loading_card, preview_view};
use crate::views::open::hero::hero;
use crate::views::open::part_card::PartCard;
use crate::views::selection::SEARCH_ID;
use crate::views::share::{LinksDialog, ShareDialog};
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct AppProps {
    #[prop_or_default]
    pub files: Vec<web_sys::File>,
    #[prop_or_default]
    pub dialog: Option<AttrValue>,
}

#[component]
pub fn App(props: &AppProps) -> Html {
    let files = use_files();
    let commands = use_commands();
    let scheme = use_scheme();
    let above = use_state_eq(|| (props.dialog.as_deref() == Some(LINKS_DIALOG)).then_some(Above::Links));
    let view_link = use_view_link(&files);
    let arrival = use_arrival(&files);
    let session = use_session(&files, &view_link);
    let input = use_node_ref();

    let on_files = {
        let files = files.clone();
        use_callback((), move |chosen: Vec<web_sys::File>, ()| files.open(chosen))
    };
    let is_over = use_drop(on_files.clone());
    use_effect_with((), {
        let (on_files, first) = (on_files.clone(), props.files.clone());
        move |()| {
            on_files.emit(first);
            on_launch(move |files| on_files.emit(files));
        }
    });
    let on_open = use_callback(input.clone(), |(), input| {
        if let Some(input) = input.cast::<HtmlInputElement>() {
            input.click();
        }
    });
    use_keys(on_key(&files, &commands, &above, &on_open));
    use_title(&files);

    let on_change = on_files.reform(|event: Event| chosen_files(&event.target_unchecked_into()));
    let on_dialog = setting(&above);
    let on_closed = on_dialog.reform(|()| None);
    html! {
        <>
            <Header files={files.clone()} scheme={scheme.clone()} on_open={on_open.clone()} on_above={on_dialog.reform(Some)} />
            <input ref={input} class="visually-hidden" type="file" multiple=true tabindex="-1"
                aria-hidden="true" onchange={on_change} />
            { awaited_bar(&files.files().awaited, &on_open, &session.on_forget) }
            { shown(&files, (&arrival, &session), (&commands, &view_link), scheme.scheme(), &on_open) }
            if is_over { { drop_overlay() } }
            { match *above {
                None => Html::default(),
                Some(Above::Keys) => help_dialog(&on_closed),
                Some(Above::Links) => html! { <LinksDialog on_close={on_closed} /> },
                Some(of_file) => file_dialog(of_file, &files, &view_link, scheme.scheme(), on_closed).unwrap_or_default(),
            } }
        </>
    }
}

/// Shows the file whose tab is chosen, whatever its state, or the page without files.
fn shown(
    files: &FilesHandle,
    (arrival, session): (&Arrival, &SessionHandle),
    (commands, view_link): (&Commands, &ViewLink),
    scheme: Scheme,
    on_open: &Callback<()>,
) -> Html {
    let keep_box = |keeping| keep_box(session.is_keeping, keeping, &session.on_keep);
    let Some(OpenFile { id, name, origin, status, keeping, .. }) = files.files().shown_file() else {
        return match arrival {
            Arrival::Done if !session.is_restoring => {
                let has_local = files.files().all.iter().any(OpenFile::is_local);
                let keep = if has_local { keep_box(None) } else { Html::default() };
                hero(on_open, None, keep)
            }
            Arrival::Asking | Arrival::Done => html! { <p class="state" role="status">{ "Opening…" }</p> },
            Arrival::Failed(failure) => arrival_card(failure),
        };
    };
    let id = *id;
    let name = AttrValue::from(name.clone());
    let keep = || if *origin == Origin::Local { keep_box(Some(*keeping)) } else { Html::default() };
    let on_close = files.doing(move |files, ()| files.close(id));
    let on_part = files.doing(move |files, ()| files.choose_part(id));
    match (status, files.client(id)) {
        (FileStatus::Loading(loading), _) => match &loading.preview {
            Some(preview) if !preview.devices.is_empty() => preview_view(&name, loading, scheme, &on_close, &on_part),
            _ => loading_card(&name, loading, &on_close, &on_part),
        },
        (FileStatus::Choosing(overview), _) => {
            let on_open = files.doing(move |files, part| files.open_part(id, part));
            html! { <PartCard key={id} {name} {scheme} overview={overview.clone()} on_cancel={on_close} {on_open} /> }
        }
        (FileStatus::Failed(failure), _) => {
            let on_open = on_open.clone();
            let on_remedy = files.doing(move |files, remedy| match remedy {
                Remedy::Jobs => files.take_to_jobs(id),
                Remedy::OtherFile => on_open.emit(()),
                Remedy::Retry => files.retry(id),
                Remedy::Part => files.choose_part(id),
            });
            error_card(&name, failure, &on_close, &on_remedy)
        }
        (FileStatus::Ready(ready), Some(client)) => {
            let file = FileHandle::new((id, name, client), scheme, (files, commands, view_link));
            html! {
                <Viewer key={id} {file} ready={ready.clone()} peers={files.peers()} logs={files.logs()}
                    are_ranks={files.files().are_ranks} origin={origin.clone()} command={commands.last()} keep={keep()} />
            }
        }
        (FileStatus::Log(file), _) => {
            let logs: Vec<_> = files.logs().into_iter().filter(|other| other.id != id).collect();
            html! {
                <LogView key={id} {id} {name} file={file.clone()} {scheme} {logs} peers={files.peers()} keep={keep()} />
            }
        }
        // A ready file has its worker until its tab is closed.
        (FileStatus::Ready(_), None) => Html::default(),
    }
}

fn on_key(
    files: &FilesHandle,
    commands: &Commands,
    above: &UseStateHandle<Option<Above>>,
    on_open: &Callback<()>,
) -> Callback<KeyAction> {
    let (files, commands, on_open) = (files.clone(), commands.clone(), on_open.clone());
    let above = above.clone();
    Callback::from(move |action| match action {
        KeyAction::Help if *above == Some(Above::Keys) => above.set(None),
        // Keys have no effect on what lies under a modal dialog.
        _ if above.is_some() => (),
        KeyAction::Help => above.set(Some(Above::Keys)),
        KeyAction::Open => on_open.emit(()),
        KeyAction::Unpin => files.dispatch(FileAction::Leave),
        KeyAction::SelectKind => files.dispatch(FileAction::SelectPinnedKind),
        KeyAction::Search => search(&files),
        KeyAction::Axis(axis) => files.dispatch(FileAction::ChooseAxis(axis)),
        KeyAction::StepDevice(step) => files.dispatch(FileAction::StepDevice(step)),
        KeyAction::ShowFile(position) => files.dispatch(FileAction::ShowNth(position)),
        KeyAction::Dock(tab) => open_dock(&files, tab),
        KeyAction::Maximize => files.dispatch(FileAction::MaximizeDock),
        KeyAction::Timeline(command) => commands.issue(command),
    })
}

/// Opens a view below the timeline, or closes it if it is open.
fn open_dock(files: &FilesHandle, tab: DockTab) {
    let is_open = files.files().shown_file().is_some_and(|file| match &file.status {
        FileStatus::Ready(ready) => ready.dock == Some(tab),
        _ => false,
    });
    files.dispatch(FileAction::ChooseDock((!is_open).then_some(tab)));
    if !is_open {
        bring_into_view_soon(OPEN_DOCK_SELECTOR);
    }
}

/// Focuses the search field of the open view below the timeline, or opens the view that has one.
fn search(files: &FilesHandle) {
    if !focus_element(SEARCH_ID) {
        files.dispatch(FileAction::ChooseDock(Some(DockTab::Allocations)));
        on_next_frame(|_| {
            focus_element(SEARCH_ID);
        });
    }
}

/// Shows the sharing or the export dialog for the shown file, with the view that was on the screen when it opened.
fn file_dialog(
    dialog: Above,
    files: &FilesHandle,
    view_link: &ViewLink,
    scheme: Scheme,
    on_close: Callback<()>,
) -> Option<Html> {
    let OpenFile { id, name, status: FileStatus::Ready(file), .. } = files.files().shown_file()? else { return None };
    let (client, view) = (files.client(*id)?, view_link.view()?);
    Some(match dialog {
        Above::Share => html! { <ShareDialog key={*id} {client} summary={file.summary.clone()} {view} {on_close} /> },
        _ => {
            let (file, name) = (file.clone(), AttrValue::from(name.clone()));
            html! { <ExportDialog key={*id} {client} {file} {name} {view} {scheme} {on_close} /> }
        }
    })
}

#[hook]
fn use_title(files: &FilesHandle) {
    let name = files.files().shown_file().map(|file| file.name.clone());
    use_effect_with(name, |name| match name {
        Some(name) => set_title(&format!("{name} – Snapscope")),
        None => set_title("Snapscope"),
    });
}
