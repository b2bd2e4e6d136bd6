//! Page for the case that no server answers: a static host, or a server that is down.

use frontend::components::buttons::CopyButton;
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
                <h1 class="card-title"><Icon name={IconName::Warning} />{ "No server responds here" }</h1>
                <p class="error-message">
                    { "Jobs and the gallery's recordings are made by a Snapscope server, and no server responds at this \
                       address. The viewer needs no server: it decodes files in the browser." }
                </p>
                <div class="command">
                    <code>{ COMMAND }</code>
                    <CopyButton text={COMMAND} label="Copy" />
                </div>
                <p class="hint">{ "This command serves the page with jobs at http://127.0.0.1:8080. This page continues as soon as a server responds." }</p>
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
