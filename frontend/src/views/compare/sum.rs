//! Summary of a comparison: both curves, and the difference in words.

use super::hook::Comparison;
use super::model::sides;
use crate::ask::CurveData;
use crate::ask::differences::{equal_text, total_text};
use crate::components::{Picture, StackView};
use crate::draw::curves::Curves;
use crate::hooks::use_file;
use crate::state::Scheme;
use crate::views::export::picture::use_easel;
use shared::base::format;
use shared::report::Frame;
use std::rc::Rc;
use yew::prelude::*;

/// Properties of [`Sum`]; pairs hold this side first, then the other one.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct SumProps {
    pub(super) names: [String; 2],
    /// Curves of the sides; `None` until they have arrived.
    pub(super) curves: [Option<Rc<CurveData>>; 2],
    pub(super) comparison: Option<Rc<Comparison>>,
    /// Stack of a picked row that only the other side has: its frames, innermost first.
    pub(super) stack: Option<Rc<Vec<Frame>>>,
}

/// Shows the curves over each other, a legend, and the difference in a sentence.
#[component]
pub(super) fn Sum(props: &SumProps) -> Html {
    let scheme = use_file().scheme;
    let curves = use_curves(props, scheme);
    let draw = use_callback((curves.clone(), scheme), |size, (curves, scheme)| curves.sketch(size, scheme.theme()));
    let diff = props.comparison.as_ref().map(|comparison| &comparison.diff);
    let [this, other] = &props.names;
    let line = |side: &'static str, name: &str, bytes: Option<u64>| {
        let size = bytes.map_or_else(|| "…".to_owned(), format::bytes);
        html! {
            <li>
                <svg class={classes!("compare-key", side)} viewBox="0 0 18 10" aria-hidden="true"><path d="M0 5H18" /></svg>
                <span>{ name }</span><strong>{ size }</strong>
            </li>
        }
    };
    html! {
        <section class="compare-sum" aria-label="Both sides" tabindex="0">
            if let Some(frames) = &props.stack {
                if frames.is_empty() {
                    <p class="hint">{ "The other side has no stack for this memory" }</p>
                } else {
                    <StackView title="Stack on the other side" frames={frames.clone()} />
                }
            }
            <div class="compare-curves" data-curves={curves.chart.curves.len().to_string()}>
                <Picture {draw} label="Live bytes of both sides, from the start to the end of each" />
            </div>
            <ul class="compare-legend numbers">
                { line("this", this, diff.map(|diff| diff.found.total.after_bytes)) }
                { line("other", other, diff.map(|diff| diff.found.total.before_bytes)) }
            </ul>
            <p class="compare-total numbers" role="status">{ diff.map_or_else(|| "Comparing…".to_owned(), total_text) }</p>
            if let Some(text) = diff.and_then(equal_text) { <p class="hint numbers">{ text }</p> }
        </section>
    }
}

/// Returns the chart of both sides, which the dock can save once both have arrived.
#[hook]
fn use_curves(props: &SumProps, scheme: Scheme) -> Rc<Curves> {
    let SumProps { names, curves, comparison, .. } = props.clone();
    let moments = comparison.map(|found| [found.diff.moment, found.diff.other_moment]);
    let is_whole = moments.is_some() && curves.iter().all(Option::is_some);
    let chart = use_memo((names, curves, moments, scheme), |(names, [this, other], moments, scheme)| {
        sides(names, [this.as_deref(), other.as_deref()], *moments, scheme.theme())
    });
    let easel = use_easel();
    use_effect_with((easel, chart.clone(), is_whole, scheme), |(easel, chart, is_whole, scheme)| {
        if *is_whole {
            easel.put(0, chart.saved(scheme.theme()));
        }
        let easel = easel.clone();
        move || easel.clear(0)
    });
    chart
}
