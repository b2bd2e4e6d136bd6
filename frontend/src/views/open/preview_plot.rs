//! Curve of live bytes of a file that is being read, or of which a part is chosen.

use super::preview_model::{dragged, preview, share_of_plot};
use crate::ask::PreviewDevice;
use crate::components::picture::Picture;
use crate::platform::{share_across, size_of_element};
use crate::state::Scheme;
use std::ops::Range;
use web_sys::HtmlElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PreviewCurveProps {
    pub device: PreviewDevice,
    /// Share of the device's events that has been read, from 0 to 1.
    pub share: f64,
    /// Accessible name.
    pub label: AttrValue,
    pub scheme: Scheme,
    #[prop_or_default]
    pub chosen: Option<Range<u64>>,
    /// Called with the events chosen by dragging; `None` makes the curve read-only.
    #[prop_or_default]
    pub on_choose: Option<Callback<Range<u64>>>,
}

/// Shows the live bytes along the events, with the chosen events marked.
#[component]
pub fn PreviewCurve(props: &PreviewCurveProps) -> Html {
    let PreviewCurveProps { device, share, label, scheme, chosen, on_choose } = props.clone();
    let draw = use_callback((device.clone(), share, chosen, scheme), |size, (device, share, chosen, scheme)| {
        preview(device, *share, chosen.as_ref(), size, scheme.theme())
    });
    let began = use_mut_ref(|| None::<f64>);
    let node = use_node_ref();
    let choose = |is_start: bool| {
        let (node, began, device, on_choose) = (node.clone(), began.clone(), device.clone(), on_choose.clone());
        Callback::from(move |event: PointerEvent| {
            let Some((on_choose, element)) = on_choose.as_ref().zip(node.cast::<HtmlElement>()) else { return };
            let at = share_of_plot(share_across(&element, &event), size_of_element(&element).0);
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
        <div ref={node.clone()} class={classes!("preview-curve", on_choose.as_ref().map(|_| "choosable"))}
            data-preview={device.highest_bytes.len().to_string()} onpointerdown={choose(true)}
            onpointermove={choose(false)} onpointerup={end.clone()} onpointercancel={end.clone()} onpointerleave={end}>
            <Picture {draw} label={Some(label)} />
        </div>
    }
}
