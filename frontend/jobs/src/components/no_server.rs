//! Page for the case that no server answers: a static host, or a server that is down.

use frontend::components::copy_button::CopyButton;
use frontend::components::icon::{Icon, IconName};
use frontend::platform::site_url;
use yew::prelude::*;

/// Command that starts a server.
const COMMAND: &str = "snapscope serve";

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct NoServerProps {
    /// Called when the server should be asked again.
    pub on_retry: Callback<()>,
}

/// Explains that jobs need a server, and how to start one.
#[component]
pub(crate) fn NoServer(props: &NoServerProps) -> Html {
    html! {
        <main class="state">
            <section class="card" role="alert">
                <h1 class="card-title"><Icon name={IconName::Warning} />{ "There is no server here" }</h1>
                <p class="error-message">
                    { "Jobs record a training on a virtual or real GPU, which takes a server, and none answers at this \
                       address. The viewer needs none: files are decoded in the browser." }
                </p>
                <div class="command">
                    <code>{ COMMAND }</code>
                    <CopyButton text={COMMAND} label="Copy" />
                </div>
                <p class="hint">{ "It serves this page with jobs at http://127.0.0.1:8080. This page goes on by itself once a server answers." }</p>
                <div class="card-foot">
                    <button type="button" class="button primary" onclick={props.on_retry.reform(|_: MouseEvent| ())}>
                        { "Try again" }
                    </button>
                    <a class="button" href={site_url("")}>{ "Open the viewer" }</a>
                </div>
            </section>
        </main>
    }
}
