//! Bar at the top of all pages: name, links to the other pages, and the switch between the colours of the system, light
//! and dark.

use super::controls::passing;
use super::icon::{IconName, icon};
use crate::platform::{has_server, site_url};
use crate::state::{Scheme, SchemeChoice};
use yew::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Viewer,
    Jobs,
}

/// Shows the bar of the page `here`, with the page's own content in its middle.
///
/// The [`scheme_switch`] is among `actions`, the buttons at the bar's end.
pub fn site_header(here: Place, content: Html, actions: Html) -> Html {
    let link = |place: Place, path: &str, name: &str| {
        let current = (here == place).then_some("page");
        html! { <a class="site-link" href={site_url(path)} aria-current={current}>{ name }</a> }
    };
    html! {
        <header class="header">
            <a class="brand" href={site_url("")} aria-label="Snapscope, start page">
                { mark() }<span class="brand-name">{ "Snapscope" }</span>
            </a>
            if has_server() {
                <nav class="site-links" aria-label="Pages">
                    { link(Place::Viewer, "", "Viewer") }
                    { link(Place::Jobs, "jobs", "Jobs") }
                </nav>
            }
            { content }
            <div class="header-actions">{ actions }</div>
        </header>
    }
}

/// Draws the logo: stacked allocations.
fn mark() -> Html {
    html! {
        <svg class="brand-mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
            <rect class="brand-a" x="3" y="21" width="26" height="7" rx="1.5" />
            <rect class="brand-c" x="7" y="12.5" width="17" height="7" rx="1.5" />
            <rect class="brand-b" x="13" y="4" width="8" height="7" rx="1.5" />
        </svg>
    }
}

pub fn scheme_switch(chosen: SchemeChoice, on_choose: &Callback<SchemeChoice>) -> Html {
    let button = |choice: SchemeChoice| {
        let (name, label) = match choice {
            SchemeChoice::System => (IconName::System, "System colors"),
            SchemeChoice::Always(Scheme::Light) => (IconName::Light, "Light colors"),
            SchemeChoice::Always(Scheme::Dark) => (IconName::Dark, "Dark colors"),
        };
        let onclick = passing(on_choose, choice);
        let pressed = (choice == chosen).to_string();
        html! {
            <button type="button" {onclick} aria-pressed={pressed} aria-label={label} title={label}>{ icon(name) }</button>
        }
    };
    html! {
        <div class="segmented icons" role="group" aria-label="Colors">{ for SchemeChoice::ALL.map(button) }</div>
    }
}
