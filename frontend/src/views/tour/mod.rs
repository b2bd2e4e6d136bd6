//! Short tour through the sample: four steps that can be skipped and are shown once.

pub mod model;

use self::model::{STEPS, Step, bubble_place, place};
use crate::components::{bound, passing};
use crate::platform::{place_beside, press, search_param, store, stored};
use web_sys::HtmlElement;
use yew::prelude::*;

/// Storage key that says that the tour was shown.
const SHOWN: &str = "snapscope-tour";

fn is_due() -> bool {
    search_param("sample").is_some() && search_param("tour").is_some() && stored(SHOWN).is_none()
}

#[component]
pub fn Tour() -> Html {
    let step = use_state_eq(|| is_due().then_some(0_usize));
    let go = bound(step.setter(), move |step, next: Option<usize>| {
        let next = next.filter(|&next| next < STEPS.len());
        if next.is_none() {
            // Where storage is disabled, the tour ends for this page alone.
            store(SHOWN, "shown");
        }
        step.set(next);
    });
    match *step {
        Some(number) => html! { <Bubble key={number} {number} step={STEPS[number]} on_go={go} /> },
        None => Html::default(),
    }
}

#[derive(Clone, PartialEq, Properties)]
struct BubbleProps {
    number: usize,
    step: Step,
    /// Called with the step to go to; `None` ends the tour.
    on_go: Callback<Option<usize>>,
}

/// Shows one step beside the element that it is about, and takes the focus.
#[component]
fn Bubble(props: &BubbleProps) -> Html {
    let BubbleProps { number, step, on_go } = props.clone();
    let node = use_node_ref();
    use_effect_with(node.clone(), move |node| {
        step.presses.into_iter().for_each(press);
        let bubble = node.cast::<HtmlElement>();
        let mark = bubble.and_then(|bubble| place_beside(&bubble, step.at, bubble_place));
        move || drop(mark)
    });
    let onkeydown = on_go.clone();
    let onkeydown = move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            event.prevent_default();
            event.stop_propagation();
            onkeydown.emit(None);
        }
    };
    let is_last = number + 1 == STEPS.len();
    let to = |next: Option<usize>| passing(&on_go, next);
    html! {
        <div ref={node} class="tour" role="dialog" aria-label="Tour" aria-describedby="tour-text" tabindex="-1"
            data-tour={number.to_string()} {onkeydown}>
            <h2 class="tour-title">{ step.title }</h2>
            <p id="tour-text">{ step.text }</p>
            <div class="tour-foot">
                <span class="tour-place numbers">{ place(number) }</span>
                if !is_last {
                    <button type="button" class="button quiet" onclick={to(None)}>{ "Skip" }</button>
                }
                <button type="button" class="button primary" onclick={to(Some(number + 1))}>
                    { if is_last { "Done" } else { "Next" } }
                </button>
            </div>
        </div>
    }
}
