//! Summary of a comparison: both curves, and the difference in words.

use super::hook::Comparison;
use super::model::{curve, place_of, sketch};
use crate::ask::CurveData;
use crate::ask::differences::{equal_text, total_text};
use crate::components::stack_view::StackView;
use crate::state::Scheme;
use crate::views::export::picture::use_easel;
use shared::base::format;
use shared::report::Frame;
use std::rc::Rc;
use yew::prelude::*;

/// A stack shown in the summary.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    /// Frames, innermost first.
    pub(super) frames: Rc<Vec<Frame>>,
}

/// Properties of [`Sum`]; pairs hold this side first, then the other one.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct SumProps {
    pub(super) names: [String; 2],
    /// Curves of the sides; `None` until they have arrived.
    pub(super) curves: [Option<Rc<CurveData>>; 2],
    /// The difference; `None` until it has arrived.
    pub(super) comparison: Option<Rc<Comparison>>,
    /// Stack of a picked row that only the other side has.
    pub(super) stack: Option<Shown>,
    pub(super) scheme: Scheme,
}

/// Shows the curves over each other, a legend, and the difference in a sentence.
#[component]
pub(super) fn Sum(props: &SumProps) -> Html {
    use_sketch(props);
    let [this, other] = &props.names;
    let diff = props.comparison.as_ref().map(|comparison| &comparison.diff);
    let size = |bytes: Option<u64>| bytes.map_or_else(|| "…".to_owned(), format::bytes);
    html! {
        <section class="compare-sum" aria-label="Both sides" tabindex="0">
            if let Some(Shown { frames }) = &props.stack {
                if frames.is_empty() {
                    <p class="hint">{ "The other side has no stack for this memory" }</p>
                } else {
                    <StackView title="Stack on the other side" frames={frames.clone()} />
                }
            }
            { curves(props) }
            <ul class="compare-legend numbers">
                <li>{ key("this") }<span>{ this }</span><strong>{ size(diff.map(|diff| diff.found.total.after_bytes)) }</strong></li>
                <li>{ key("other") }<span>{ other }</span><strong>{ size(diff.map(|diff| diff.found.total.before_bytes)) }</strong></li>
            </ul>
            <p class="compare-total numbers" role="status">{ diff.map_or_else(|| "Comparing…".to_owned(), total_text) }</p>
            if let Some(text) = diff.and_then(equal_text) { <p class="hint numbers">{ text }</p> }
        </section>
    }
}

/// Registers the curves as the picture that the dock can save.
#[hook]
fn use_sketch(props: &SumProps) {
    let SumProps { names, curves, comparison, scheme, .. } = props.clone();
    let easel = use_easel();
    use_effect_with((easel, names, curves, comparison, scheme), |(easel, names, curves, comparison, scheme)| {
        let moments = comparison.as_ref().map(|found| [found.diff.moment, found.diff.other_moment]);
        if let ([Some(this), Some(other)], Some(moments)) = (curves, moments) {
            easel.put(0, sketch(names, [this, other], moments, scheme.theme()));
        }
        let easel = easel.clone();
        move || easel.clear(0)
    });
}

fn key(side: &'static str) -> Html {
    html! {
        <svg class={classes!("compare-key", side)} viewBox="0 0 18 10" aria-hidden="true">
            <path d="M0 5H18" />
        </svg>
    }
}

/// Draws both curves over each other, each as wide as its trace or step, with a line at the compared moment.
fn curves(props: &SumProps) -> Html {
    let [this, other] = &props.curves;
    let highest = |data: &Rc<CurveData>| data.bytes.iter().copied().max().unwrap_or(0);
    let top_bytes = this.iter().chain(other).map(highest).max().unwrap_or(0);
    let moments = props.comparison.as_ref().map(|found| [found.diff.moment, found.diff.other_moment]);
    let draw = |side: &'static str, data: &Option<Rc<CurveData>>, moment: Option<u32>| {
        let Some(data) = data else { return Html::default() };
        let path = curve(data, top_bytes);
        let mark = moment.and_then(|moment| place_of(data, moment));
        html! {
            <g class={side}>
                <path class="compare-area" d={path.area} />
                <path class="compare-line" d={path.line} />
                if let Some(x) = mark { <path class="compare-mark" d={format!("M{x:.1} 0V100")} /> }
            </g>
        }
    };
    html! {
        <svg class="compare-curves" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img"
            aria-label="Live bytes of both sides, from the start to the end of each">
            { draw("other", other, moments.map(|of| of[1])) }
            { draw("this", this, moments.map(|of| of[0])) }
        </svg>
    }
}
