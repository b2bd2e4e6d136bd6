//! Properties of the timeline, pictures on the painter, and the data of a frame drawn from them.

use super::draw::flags::Flag;
use super::draw::initial::InitialBands;
use super::draw::scene::{Frame, placements};
use crate::ask::raster::owners;
use crate::ask::{Hit, PictureData, View as Asked};
use crate::draw::camera::Camera;
use crate::draw::layout::Layout;
use crate::hooks::{FileHandle, Seen, ShownFile};
use crate::state::{Issued, Scheme};
use std::cell::OnceCell;
use std::rc::Rc;
use yew::prelude::*;

/// A picture that was uploaded to the painter, with indices for looking things up in it.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) asked: Asked,
    pub(super) picture: Rc<PictureData>,
    /// Owners of bands, looked up only under a pointer.
    owners: OnceCell<Vec<u32>>,
    pub(super) initial: InitialBands,
}

impl Shown {
    pub(super) fn new(asked: Asked, picture: PictureData) -> Self {
        let initial = InitialBands::of(&picture);
        Self { asked, picture: Rc::new(picture), owners: OnceCell::new(), initial }
    }

    /// Returns true if an allocation is drawn as bands of its own.
    pub(super) fn has_bands_of(&self, owner: u32) -> bool {
        self.owners.get_or_init(|| owners(&self.picture.bands)).binary_search(&owner).is_ok()
    }
}

/// Returns all that a painter needs to draw the pictures as the camera sees them.
pub(super) fn frame<'a>(
    camera: &Camera,
    layout: &'a Layout,
    layers: &[Option<Shown>; 2],
    [hovered, pinned]: [Option<u32>; 2],
    scheme: Scheme,
) -> Frame<'a> {
    let [overview, detail] = layers.each_ref().map(|layer| layer.as_ref().map(|shown| &shown.asked));
    Frame { layout, placements: placements(camera, overview, detail), theme: scheme.theme(), hovered, pinned }
}

#[derive(Clone, PartialEq, Properties)]
pub struct TimelineProps {
    /// Last command of the page, executed once per number.
    pub command: Option<Issued>,
    /// Bookmarks, the chosen event, and the measurement.
    pub flags: Rc<Vec<Flag>>,
    /// Called when another part comes into view.
    pub on_view: Callback<Seen>,
    /// Called with what is under the pointer, and with `None` when the pointer leaves the plot.
    pub on_hover: Callback<Option<Hit>>,
}

/// What the stage draws from, without yew.
pub(super) type Given = (FileHandle, Rc<ShownFile>, TimelineProps);
