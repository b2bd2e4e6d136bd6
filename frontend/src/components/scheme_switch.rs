//! Switch between the colours of the system, light and dark.

use super::icon::{Icon, IconName};
use crate::state::{Scheme, SchemeChoice};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct SchemeSwitchProps {
    pub choice: SchemeChoice,
    pub on_choose: Callback<SchemeChoice>,
}

/// Shows three buttons, one of them pressed.
#[component]
pub fn SchemeSwitch(props: &SchemeSwitchProps) -> Html {
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
