//! System, light or dark.

use super::icon::{Icon, IconName};
use crate::state::{Scheme, SchemeChoice};
use yew::prelude::*;

/// What the [`SchemeSwitch`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub struct SchemeSwitchProps {
    /// The chosen colours.
    pub choice: SchemeChoice,
    /// Others were chosen.
    pub on_choose: Callback<SchemeChoice>,
}

/// Three buttons of which one is pressed.
#[component]
pub fn SchemeSwitch(props: &SchemeSwitchProps) -> Html {
    let button = |choice: SchemeChoice| {
        let (icon, label) = match choice {
            SchemeChoice::System => (IconName::System, "Colours of the system"),
            SchemeChoice::Always(Scheme::Light) => (IconName::Light, "Light colours"),
            SchemeChoice::Always(Scheme::Dark) => (IconName::Dark, "Dark colours"),
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
        <div class="segmented icons" role="group" aria-label="Colours">{ for SchemeChoice::ALL.map(button) }</div>
    }
}
