//! Draws the picture of a view.

use super::ready::Ready;
use super::{areas, kind};
use frontend::ask::{ColorBy, Kind, Marking, PictureData, View, area_by};
use shared::analysis::{AllocationId, Axis, Coloring, Emphasis, PictureRequest};
use shared::draw::scheme::Scheme;

/// Draws a view; a kind that cannot be read, such as an invalid search, sets nothing apart.
pub(super) fn picture(ready: Ready<'_>, view: View, kind: Option<&Kind>) -> PictureData {
    if let Some(by) = area_by(view.color) {
        return PictureData::new(view, &areas::picture(ready, by, &view.request, kind));
    }
    let coloring = match view.color {
        ColorBy::Category => Coloring::Category(ready.categories()),
        _ => Coloring::Stack,
    };
    let selected = kind.and_then(|kind| kind::selected(ready, kind).ok());
    let apart = view.marking.apart.filter(|&row| (row as usize) < ready.timeline.allocations.len());
    let emphasis = Emphasis {
        members: selected.as_deref().map(|selected| &selected.members),
        apart: apart.map(|row| AllocationId::from_index(row as usize)),
    };
    PictureData::new(view, &ready.timeline.picture_emphasizing(ready.device, &view.request, coloring, emphasis))
}

/// Returns only the curves: a picture with a single row of pixels has almost no bands.
pub(super) fn outline_picture(ready: Ready<'_>, axis: Axis, columns: u32) -> PictureData {
    let x1 = ready.timeline.x_end(axis);
    let y1 = ready.timeline.live_peak().1.max(ready.timeline.reserved_peak().1).max(1) as f64;
    let (width_px, color) = (columns, ColorBy::Stack);
    let request = PictureRequest { axis, x0: 0.0, x1, y0: 0.0, y1, width_px, height_px: 1 };
    let (scheme, marking) = (Scheme::default(), Marking::default());
    let view = View { request, pixel_ratio: 1.0, color, scheme, marking };
    PictureData { bands: Vec::new(), pixels: Vec::new(), ..picture(ready, view, None) }
}
