//! Bar at the top of all pages: name, links to the other pages, and the switch between the colours of the system, light
//! and dark.

use super::icon::{Icon, IconName};
use crate::platform::{has_server, site_url};
use crate::state::{Scheme, SchemeChoice};
use yew::prelude::*;

/// A page that the bar links to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Page that shows snapshots.
    Viewer,
    /// Page that records snapshots.
    Jobs,
}

#[derive(Clone, PartialEq, Properties)]
pub struct SiteHeaderProps {
    /// The page on which the bar is.
    pub place: Place,
    pub scheme: SchemeChoice,
    pub on_scheme: Callback<SchemeChoice>,
    /// Content in the middle of the bar.
    #[prop_or_default]
    pub children: Html,
    /// The page's own buttons, before the choice of colours.
    #[prop_or_default]
    pub actions: Html,
    /// The page's own buttons, after the choice of colours.
    #[prop_or_default]
    pub last_actions: Html,
}

#[component]
pub fn SiteHeader(props: &SiteHeaderProps) -> Html {
    let link = |place: Place, path: &str, name: &str| {
        let current = (props.place == place).then_some("page");
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
            { props.children.clone() }
            <div class="header-actions">
                { props.actions.clone() }
                <SchemeSwitch choice={props.scheme} on_choose={props.on_scheme.clone()} />
                { props.last_actions.clone() }
            </div>
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

#[derive(Clone, PartialEq, Properties)]
pub struct SchemeSwitchProps {
    pub choice: SchemeChoice,
    pub on_choose: Callback<SchemeChoice>,
}

/// Shows three buttons, one of them pressed.
#[component]
fn SchemeSwitch(props: &SchemeSwitchProps) -> Html {
    let button = |choice: SchemeChoice| {
        let (icon, label) = match choice {
            SchemeChoice::System => (IconName::System, "System colors"),
            SchemeChoice::Always(Scheme::Light) => (IconName::Light, "Light colors"),
            SchemeChoice::Always(Scheme::Dark) => (IconName::Dark, "Dark colors"),
        };
        let onclick = props.on_choose.reform(move |_: MouseEvent| choice);
        let pressed = (choice == props.choice).to_string();
        html! {
            <button type="button" {onclick} aria-pressed={pressed} aria-label={label} title={label}>
                <Icon name={icon} />
            </button>
        }
    };
    html! {
        <div class="segmented icons" role="group" aria-label="Colors">{ for SchemeChoice::ALL.map(button) }</div>
    }
}
