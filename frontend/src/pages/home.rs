//! Page without a file: explains what Snapscope is, and loads the viewer on demand.

use crate::components::{IconName, Place, bound, click, drop_overlay, icon, setting, site_header};
use crate::hooks::{use_drop, use_keys, use_scheme};
use crate::platform::{HandOver, chosen_files, on_launch, query};
use crate::state::{KeyAction, LINKS_DIALOG};
use crate::views::head::header::{help_dialog, last_actions, open_button, scheme_buttons};
use crate::views::open::hero::{first_look, hero, title_of};
use wasm_bindgen_futures::spawn_local;
use web_sys::{File, HtmlInputElement};
use yew::prelude::*;

#[derive(Clone, PartialEq)]
enum Step {
    Waiting,
    Loading {
        /// Name of the first file, or title of a snapshot.
        name: AttrValue,
        /// Path of a snapshot below the site's top; empty for files.
        path: AttrValue,
    },
    Failed,
}

#[derive(Clone, PartialEq, Properties)]
pub struct HomeProps {
    pub hand_over: HandOver,
}

#[component]
pub fn Home(props: &HomeProps) -> Html {
    let scheme = use_scheme();
    let step = use_state_eq(|| {
        let path = query();
        title_of(&path).map_or(Step::Waiting, |title| Step::Loading { name: title.into(), path: path.into() })
    });
    let is_help = use_state_eq(|| false);
    let input = use_node_ref();

    let go = {
        let (hand_over, step) = (props.hand_over.clone(), step.setter());
        use_callback((), move |dialog: Option<&'static str>, ()| {
            let (hand_over, step) = (hand_over.clone(), step.clone());
            spawn_local(async move {
                // Once the viewer is loaded, this page no longer exists.
                if !hand_over.go(dialog).await {
                    step.set(Step::Failed);
                }
            });
        })
    };
    let on_files = {
        let (hand_over, step, go) = (props.hand_over.clone(), step.setter(), go.clone());
        use_callback((), move |files: Vec<File>, ()| {
            if let Some(first) = files.first() {
                step.set(Step::Loading { name: first.name().into(), path: "".into() });
                hand_over.add(&files);
                go.emit(None);
            }
        })
    };
    let on_follow = {
        let (hand_over, step, go) = (props.hand_over.clone(), step.setter(), go.clone());
        use_callback((), move |(path, title): (String, &'static str), ()| {
            hand_over.open(&path);
            step.set(Step::Loading { name: title.into(), path: path.into() });
            go.emit(None);
        })
    };
    let (first_go, is_addressed) = (go.clone(), *step != Step::Waiting);
    use_effect_with((), move |()| {
        if is_addressed {
            first_go.emit(None);
        }
    });
    let is_over = use_drop(on_files.clone());
    let launched = on_files.clone();
    use_effect_with((), move |()| on_launch(move |files| launched.emit(files)));
    let on_open = use_callback(input.clone(), |(), input| {
        if let Some(input) = input.cast::<HtmlInputElement>() {
            input.click();
        }
    });
    let on_help = bound(is_help.clone(), move |is_help, ()| is_help.set(!**is_help));
    let keys = (on_open.clone(), on_help.clone(), *is_help);
    use_keys(bound(keys, |(on_open, on_help, is_help), action| match action {
        KeyAction::Help => on_help.emit(()),
        KeyAction::Open if !is_help => on_open.emit(()),
        // The other keys need an open file.
        _ => (),
    }));
    let on_links = go.reform(|()| Some(LINKS_DIALOG));
    let on_retry = go.reform({
        let step = step.setter();
        move |_: MouseEvent| {
            step.set(Step::Loading { name: "".into(), path: "".into() });
            None
        }
    });
    let on_close = setting(&step).reform({
        let hand_over = props.hand_over.clone();
        move |_: MouseEvent| {
            hand_over.clear();
            Step::Waiting
        }
    });
    let no_tabs = html! { <nav class="file-tabs" aria-label="Open files"><ul /></nav> };
    let actions = html! {
        <>
            { open_button(&on_open) }
            { scheme_buttons(&scheme) }
            { last_actions(click(&on_links), click(&on_help)) }
        </>
    };
    html! {
        <>
            { site_header(Place::Viewer, no_tabs, actions) }
            <input ref={input} class="visually-hidden" type="file" multiple=true tabindex="-1"
                aria-label="Snapshots to open"
                onchange={on_files.reform(|event: Event| chosen_files(&event.target_unchecked_into()))} />
            { match &*step {
                Step::Waiting => hero(&on_open, Some(&on_follow), Html::default()),
                Step::Loading { name, path } => loading(name, path),
                Step::Failed => failed(on_retry, on_close),
            } }
            if is_over { { drop_overlay() } }
            if *is_help { { help_dialog(&on_help) } }
        </>
    }
}

fn loading(name: &AttrValue, path: &str) -> Html {
    html! {
        <main class="state">
            <section class="card" aria-busy="true">
                <h1 class="card-title">
                    { "Opening " }
                    <span class={classes!(path.is_empty().then_some("file-text"))}>{ name }</span>
                </h1>
                { first_look(path) }
                <progress class="progress" aria-label="Progress" />
                <p class="hint" role="status">{ "Loading the viewer" }</p>
            </section>
        </main>
    }
}

fn failed(on_retry: Callback<MouseEvent>, on_close: Callback<MouseEvent>) -> Html {
    html! {
        <main class="state">
            <section class="card error" role="alert">
                <h1 class="card-title">{ icon(IconName::Error) }{ "The viewer could not be loaded" }</h1>
                <p class="error-message">{ "The part of Snapscope that shows files could not be downloaded." }</p>
                <p class="hint">
                    { "Check the connection and try again. If Snapscope was updated in the meantime, reload the page." }
                </p>
                <div class="card-foot">
                    <button type="button" class="button primary" onclick={on_retry}>{ "Try again" }</button>
                    <button type="button" class="button" onclick={on_close}>{ "Close" }</button>
                </div>
            </section>
        </main>
    }
}
