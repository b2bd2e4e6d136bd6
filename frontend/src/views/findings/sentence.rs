//! Shows a sentence with its code set apart.

use super::model::{Prose, prose, unbroken};
use yew::prelude::*;

pub(super) fn sentence(text: &str) -> Html {
    let part = |part| match part {
        Prose::Words(words) => html! { { unbroken(words) } },
        Prose::Code(code) => html! { <code>{ code }</code> },
    };
    html! { <>{ for prose(text).map(part) }</> }
}
