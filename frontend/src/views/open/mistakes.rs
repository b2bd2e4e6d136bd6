//! Three mistakes of the gallery with the memory curves of their recordings, which need no server.

use crate::platform::site_url;
use yew::prelude::*;

/// Height of a curve, in the units of its values.
const HEIGHT: u8 = 20;

/// A mistake of the gallery and its repair.
struct Mistake {
    /// Name of the mistake's recording.
    name: &'static str,
    title: &'static str,
    /// Live bytes over the recording, as parts of the highest of both curves.
    bad: [u8; 48],
    good: [u8; 48],
}

const MISTAKES: [Mistake; 3] = [
    Mistake {
        name: "keypoint_validation_bad",
        title: "Evaluation with gradients enabled",
        bad: [
            1, 3, 3, 3, 2, 2, 2, 2, 3, 3, 3, 3, 3, 2, 2, 4, 7, 9, 9, 9, 9, 8, 8, 8, 9, 9, 9, 9, 8, 8, 9, 12, 15, 16,
            15, 15, 15, 14, 14, 15, 16, 15, 15, 15, 14, 14, 17, 20,
        ],
        good: [
            1, 3, 3, 3, 2, 2, 2, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 2, 2, 3, 3, 3, 3, 2, 2, 2, 2, 2, 3, 3, 3, 3,
            2, 2, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2,
        ],
    },
    Mistake {
        name: "support_chat_cache_bad",
        title: "A key-value cache that is never dropped",
        bad: [
            9, 9, 8, 8, 8, 10, 11, 9, 9, 9, 12, 10, 10, 10, 12, 13, 12, 12, 12, 14, 14, 13, 13, 13, 15, 15, 14, 14, 14,
            16, 15, 15, 15, 17, 17, 16, 16, 16, 18, 18, 17, 17, 17, 20, 18, 18, 18, 18,
        ],
        good: [
            9, 9, 8, 8, 8, 9, 9, 8, 8, 8, 9, 9, 8, 8, 8, 9, 8, 8, 8, 9, 9, 8, 8, 8, 9, 9, 8, 8, 8, 9, 9, 8, 8, 8, 9, 8,
            8, 8, 9, 9, 8, 8, 8, 9, 9, 8, 8, 8,
        ],
    },
    Mistake {
        name: "siamese_sum_bad",
        title: "One backward pass for five micro-batches",
        bad: [
            8, 18, 19, 18, 15, 12, 9, 5, 9, 18, 20, 18, 15, 12, 9, 5, 9, 19, 20, 18, 15, 12, 9, 5, 9, 19, 20, 18, 14,
            12, 9, 5, 9, 19, 20, 18, 14, 12, 9, 5, 10, 19, 20, 18, 14, 11, 9, 5,
        ],
        good: [
            5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
            5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
        ],
    },
];

/// Shows each mistake by its curve, the curve of its repair and its title, as a link to its recording.
pub(super) fn mistakes(on_follow: Option<&Follow>) -> Html {
    let card = |mistake: &Mistake| {
        let inside = html! {
            <>
                { curve("mistake-bad", &mistake.bad) }
                { curve("mistake-good", &mistake.good) }
                <span class="mistake-title">{ mistake.title }</span>
            </>
        };
        stored_link("mistake", (format!("?gallery={}", mistake.name), mistake.title), on_follow, inside)
    };
    html! {
        <section class="mistakes" aria-labelledby="mistakes-title">
            <h2 id="mistakes-title">{ "Three mistakes, and the memory without them" }</h2>
            <div class="mistake-list" data-mistakes={MISTAKES.len().to_string()}>{ for MISTAKES.iter().map(card) }</div>
        </section>
    }
}

/// Draws a curve as steps above its area.
fn curve(class: &'static str, values: &[u8]) -> Html {
    let steps: String = (1..).zip(values).map(|(x, value)| format!("V{}H{x}", HEIGHT - value)).collect();
    html! {
        <svg {class} viewBox={format!("0 0 {} {HEIGHT}", values.len())} preserveAspectRatio="none" aria-hidden="true">
            <path d={format!("M0 {HEIGHT}{steps}V{HEIGHT}z")} />
        </svg>
    }
}

/// Opens a snapshot of this site in the page, given its path below the site's top and its title.
pub(super) type Follow = Callback<(String, &'static str)>;

/// Shows a link to a snapshot of this site, which leaves the page without `on_follow`, or if a key asks for another tab.
pub(super) fn stored_link(
    class: &'static str,
    (path, title): (String, &'static str),
    on_follow: Option<&Follow>,
    inside: Html,
) -> Html {
    let href = site_url(&path);
    let onclick = on_follow.cloned().map(|on_follow| {
        Callback::from(move |event: MouseEvent| {
            if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                event.prevent_default();
                on_follow.emit((path.clone(), title));
            }
        })
    });
    html! { <a {class} {href} {onclick}>{ inside }</a> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_curves_are_those_of_the_gallery() {
        let figures = include_str!("../../../../static/gallery/figures.json");
        let figures: Value = serde_json::from_str(figures).unwrap();
        for Mistake { name, title, bad, good } in MISTAKES {
            let repair = name.replace("_bad", "_good");
            let curve = |name: &str| -> Vec<u64> {
                figures[name]["live_curve"].as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).collect()
            };
            let top = curve(name).into_iter().chain(curve(&repair)).max().unwrap();
            let parts = |name: &str| -> Vec<u8> {
                curve(name).into_iter().map(|bytes| (bytes * u64::from(HEIGHT) / top) as u8).collect()
            };
            assert_eq!((parts(name), parts(&repair)), (bad.to_vec(), good.to_vec()), "{name}");
            assert_eq!(figures[name]["script"]["title"], title);
        }
    }
}
