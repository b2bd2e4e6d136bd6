//! Card of the gallery: a config to record, or a script with a mistake next to its repair.

use super::model::{Entry, HEIGHT, Piece, WIDTH, first_sentence, picture, pieces, top_bytes};
use crate::common::model::route::{Route, Start};
use frontend::platform::site_url;
use shared::api::GalleryRow;
use shared::base::format;
use yew::prelude::*;

/// Shows the title, the memory curves, one sentence, and links that open the recording.
pub(crate) fn gallery_card(entry: &Entry) -> Html {
    let Entry { row, repair, model, card, .. } = entry;
    // Both curves use the same scale, so that they can be compared.
    let rows = || [Some(row), repair.as_ref()].into_iter().flatten();
    let top = top_bytes(rows().flat_map(|row| [row.live_curve.as_slice(), row.reserved_curve.as_slice()]));
    let is_pair = repair.is_some();
    let (sentence, rest) = first_sentence(&row.text);
    let folded = if is_pair { "The lines and their repair" } else { "What to look for" };
    html! {
        <article key={row.name.clone()} class={classes!("tile", is_pair.then_some("pair"))}
            data-config={row.name.clone()}>
            <header class="tile-head">
                <h4 class="tile-title">{ &row.title }</h4>
                <p class="tile-facts">
                    { for [model, card].into_iter().filter(|fact| !fact.is_empty()).map(|fact| html! { <span>{ fact }</span> }) }
                    <span>{ format::counted(row.events, "event") }</span>
                </p>
            </header>
            <div class="tile-pictures">
                { shown(row, top, if is_pair { "Mistake" } else { "" }) }
                if let Some(repair) = repair {
                    { shown(repair, top, "Fixed") }
                }
            </div>
            <p class="tile-text">{ for pieces(sentence).into_iter().map(piece) }</p>
            if !rest.is_empty() {
                <details class="fold tile-more">
                    <summary aria-label={format!("{folded}: {}", row.title)}>{ folded }</summary>
                    <p class="tile-text">{ for pieces(rest).into_iter().map(piece) }</p>
                    if is_pair {
                        <pre class="tile-change">{ for row.change.iter().map(|line| changed(line)) }</pre>
                    }
                </details>
            }
            <footer class="tile-foot">
                if let Some(repair) = repair {
                    { link(row, "See it", "button primary", &format!("?gallery={}", row.name)) }
                    { link(row, "Compare both", "button", &compared(&row.name, &repair.name)) }
                    { link(row, "Read the script", "button quiet", &format!("gallery/{}.py", row.name)) }
                } else {
                    { link(row, "See it", "button primary", &Route::See(row.name.clone()).path()) }
                    { link(row, "Edit config", "button quiet", &Route::new_job(Start::Gallery(row.name.clone())).path()) }
                }
            </footer>
        </article>
    }
}

fn piece(piece: Piece) -> Html {
    match piece {
        Piece::Words(text) => text.into(),
        Piece::Code(text) => html! { <code>{ text }</code> },
    }
}

/// Shows a line that the repair removes or adds.
fn changed(line: &str) -> Html {
    let tag = if line.starts_with('-') { "del" } else { "ins" };
    html! { <@{tag}>{ line }{ "\n" }</@> }
}

/// Returns the viewer's path for the recordings of a mistake and its repair.
fn compared(mistake: &str, repair: &str) -> String {
    format!("?gallery={mistake}&gallery={repair}#v1;dock=compare")
}

fn link(row: &GalleryRow, text: &str, class: &'static str, path: &str) -> Html {
    let href = site_url(path);
    html! { <a {class} {href} aria-label={format!("{text}: {}", row.title)}>{ text }</a> }
}

/// Draws a recording's memory curves, captioned with its peak live bytes.
fn shown(row: &GalleryRow, top: u64, caption: &str) -> Html {
    let picture = picture(&row.live_curve, &row.reserved_curve, top);
    let peak = format::bytes(row.peak_live_bytes);
    let reserved = format::bytes(row.peak_reserved_bytes);
    html! {
        <figure class="thumb" title={format!("Peak live {peak}, peak reserved {reserved}; {} events", format::count(row.events))}>
            <svg viewBox={format!("0 0 {WIDTH} {HEIGHT}")} preserveAspectRatio="none" role="img"
                aria-label={format!("Memory over the recording: peak live {peak}, peak reserved {reserved}")}>
                <path class="thumb-live" d={picture.live} />
                <path class="thumb-reserved" d={picture.reserved} vector-effect="non-scaling-stroke" />
            </svg>
            <figcaption class="numbers">
                <span>{ caption }</span><span>{ format!("Peak live {peak}") }</span>
            </figcaption>
        </figure>
    }
}
