//! Curve of live bytes of a file that is being read, or of which a part is chosen.

use super::preview_model::{HEIGHT, WIDTH, dragged, preview_plot};
use crate::ask::PreviewDevice;
use crate::platform::share_across;
use std::ops::Range;
use web_sys::Element;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PreviewCurveProps {
    pub device: PreviewDevice,
    /// Share of the device's events that has been read, from 0 to 1.
    pub share: f64,
    /// Accessible name.
    pub label: AttrValue,
    #[prop_or_default]
    pub chosen: Option<Range<u64>>,
    /// Called with the events chosen by dragging; `None` makes the curve read-only.
    #[prop_or_default]
    pub on_choose: Option<Callback<Range<u64>>>,
}

/// Shows the live bytes along the events, with the chosen events marked.
#[component]
pub fn PreviewCurve(props: &PreviewCurveProps) -> Html {
    let plot = use_memo((props.device.clone(), props.share), |(device, share)| preview_plot(device, *share));
    let began = use_mut_ref(|| None::<f64>);
    let svg = use_node_ref();
    let percent = |height: f64| format!("{:.2}%", height / HEIGHT * 100.0);
    let tick = |(height, label): &(f64, String)| {
        html! {
            <>
                <line class="preview-grid" x1="0" x2="100%" y1={percent(*height)} y2={percent(*height)} />
                <text x="6" y={percent(*height)} dy="-3">{ label.clone() }</text>
            </>
        }
    };
    let place = |event: u64| event as f64 / props.device.events.max(1) as f64 * WIDTH;
    let choose = |is_start: bool| {
        let (svg, began, device, on_choose) =
            (svg.clone(), began.clone(), props.device.clone(), props.on_choose.clone());
        Callback::from(move |event: PointerEvent| {
            let Some((on_choose, at)) = on_choose.as_ref().zip(svg.cast::<Element>()) else { return };
            let at = share_across(&at, &event);
            if is_start {
                *began.borrow_mut() = Some(at);
            }
            if let Some(from) = *began.borrow() {
                on_choose.emit(dragged(&device, from, at));
            }
        })
    };
    let end = {
        let began = began.clone();
        Callback::from(move |_: PointerEvent| *began.borrow_mut() = None)
    };
    html! {
        <svg ref={svg.clone()} class={classes!("preview-curve", props.on_choose.as_ref().map(|_| "choosable"))} role="img"
            aria-label={props.label.clone()} data-preview="" onpointerdown={choose(true)} onpointermove={choose(false)}
            onpointerup={end.clone()} onpointercancel={end.clone()} onpointerleave={end}>
            <svg viewBox={format!("0 0 {WIDTH} {HEIGHT}")} preserveAspectRatio="none">
                <path class="preview-area" d={plot.area.clone()} />
                if let Some(chosen) = &props.chosen {
                    <rect class="preview-chosen" x={place(chosen.start).to_string()} y="0" height={HEIGHT.to_string()}
                        width={(place(chosen.end) - place(chosen.start)).max(1.0).to_string()} />
                }
            </svg>
            { for plot.ticks.iter().map(tick) }
        </svg>
    }
}
