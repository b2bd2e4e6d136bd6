//! Start page, shown while no file is open.

use super::recipe::RecipeBox;
use crate::components::icon::{Icon, IconName};
use crate::platform::{fragment, has_server, site_url};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct HeroProps {
    pub on_open: Callback<()>,
    /// Content below everything else.
    #[prop_or_default]
    pub children: Html,
}

/// Shows what Snapscope is, how to open a snapshot, and how to record one.
#[component]
pub fn Hero(props: &HeroProps) -> Html {
    let on_open = props.on_open.reform(|_: MouseEvent| ());
    html! {
        <main class="hero">
            <div class="hero-inner">
                { picture() }
                <h1>{ "See where the GPU memory went" }</h1>
                <p class="lead">
                    { "Snapscope opens a PyTorch CUDA memory snapshot and shows every allocation over time: \
                       what makes up the peak, which code allocated it, and when it was freed." }
                </p>
                <div class="hero-actions">
                    <button type="button" class="button primary large" onclick={on_open}>
                        <Icon name={IconName::Open} />{ "Open snapshot" }
                    </button>
                    <a class="button large" href={site_url("?sample&tour")}>{ "Try the sample" }</a>
                </div>
                <p class="hint">{ "or drop files anywhere on this page" }</p>
                <p class="hint">
                    { "Logs open, too: of trainings that ran out of memory, and of ps, top and similar tools. \
                       Errors can be pasted" }
                </p>
                if fragment().is_some() {
                    <p class="hint" data-addressed="">{ "This address contains a view of a file. Open that file to see it" }</p>
                }
                <RecipeBox />
                <p class="private">
                    <Icon name={IconName::Private} />
                    { "Files are decoded in this tab: nothing leaves this machine" }
                    if has_server() { { " unless you share it" } }
                </p>
                { props.children.clone() }
            </div>
        </main>
    }
}

/// Draws a small timeline of stacked allocations under a line of reserved bytes.
fn picture() -> Html {
    html! {
        <svg class="hero-picture" viewBox="0 0 360 112" aria-hidden="true">
            <path class="hero-reserved" d="M8 74H40V44H104V22H196V10H300V30H352" />
            <path class="hero-d" d="M128 64V40H164V26H208V16H236V40H268V64z" />
            <path class="hero-c" d="M56 82V58H128V64H268V46H300V82z" />
            <path class="hero-b" d="M30 94V82H300V66H336V94z" />
            <path class="hero-a" d="M8 108V94H352V108z" />
        </svg>
    }
}
