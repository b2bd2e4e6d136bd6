//! Choice of what counts as the user's own code, by which stacks are named.

use crate::ask::SetOwnCode;
use crate::components::{bound, select, text_of};
use crate::hooks::{FileHandle, use_file, use_shown};
use crate::state::Choice;
use crate::views::findings::finding_card::hear_findings;
use shared::base::OwnCode;
use std::rc::Rc;
use yew::prelude::*;

/// Tells the worker the chosen rule, and returns the one that it follows.
///
/// Findings are dispatched like a report of the worker; whatever else shows stacks asks again if the result changes.
#[hook]
pub fn use_own_code(file: &FileHandle, own: &Rc<str>) -> Rc<str> {
    let followed = use_state_eq(|| Rc::<str>::from(""));
    let asked = use_mut_ref(|| Rc::<str>::from(""));
    let (setter, file) = (followed.setter(), file.clone());
    use_effect_with((file.client.clone(), own.clone()), move |(_, own)| {
        let own = own.clone();
        let is_other = asked.replace(own.clone()) != own;
        let question = SetOwnCode { own: own.to_string() };
        hear_findings(&file, is_other.then_some(question), move || setter.set(own))
    });
    (*followed).clone()
}

/// Kinds of rules, in the order of [`OwnCode`].
const KINDS: [&str; 3] = ["automatic", "paths that contain", "everything outside"];

#[component]
pub(super) fn OwnCodeChoice() -> Html {
    let on_own = use_file().choosing(|rule: String| Choice::Own(rule.into()));
    let rule = OwnCode::of_text(&use_shown().ready.choices.own);
    let (kind, texts) = parts(&rule);
    // A kind without a text yet is no rule, so it is kept here.
    let chosen = use_state_eq(|| kind);
    use_effect_with(kind, {
        let chosen = chosen.setter();
        move |&kind| {
            if kind > 0 {
                chosen.set(kind)
            }
        }
    });
    let kind = *chosen;
    let choosing = (chosen.setter(), on_own.clone(), texts.clone());
    let on_choose = bound(choosing, |(chosen, on_own, texts), kind: usize| {
        chosen.set(kind);
        on_own.emit(rule_text(kind, texts));
    });
    let onchange = on_own.reform(move |event: Event| rule_text(kind, &text_of(&event)));
    html! {
        <div class="own-code" title="Stacks are named by their innermost frame of your own code">
            <span>{ "Own code" }</span>
            { select("Own code", &KINDS.map(AttrValue::from), kind, &on_choose) }
            if kind > 0 {
                <input type="text" aria-label="Paths of own code" placeholder="src/, mymodel" value={texts} {onchange}
                    autocomplete="off" spellcheck="false" />
            }
        </div>
    }
}

fn parts(rule: &OwnCode) -> (usize, String) {
    match rule {
        OwnCode::Automatic => (0, String::new()),
        OwnCode::Containing(texts) => (1, texts.join(", ")),
        OwnCode::Outside(texts) => (2, texts.join(", ")),
    }
}

fn rule_text(kind: usize, texts: &str) -> String {
    match kind {
        1 => OwnCode::of_text(texts.trim_start_matches('!')).to_string(),
        2 => OwnCode::of_text(&format!("!{texts}")).to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: usize, texts: &str, rule: &str) {
        assert_eq!(rule_text(kind, texts), rule);
    }

    #[test]
    fn kinds_and_texts_are_rules() {
        check(0, "src", "");
        check(1, "src, model", "src,model");
        check(1, " ", "");
        check(2, "transformers", "!transformers");
        check(2, "", "!");
        assert_eq!(parts(&OwnCode::of_text("!a,b")), (2, "a, b".to_owned()));
    }
}
