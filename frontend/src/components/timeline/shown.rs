//! Pictures on the painter, and the data of a frame drawn from them.

use crate::{
    draw::{
        bands::owners,
        camera::Camera,
        initial::InitialBands,
        layout::Layout,
        scene::{Frame, placements},
        theme::Theme,
    },
    state::Scheme,
    worker::{PictureData, View as Asked},
};
use std::rc::Rc;

/// A picture that was uploaded to the painter, with indices for looking things up in it.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) asked: Asked,
    pub(super) picture: Rc<PictureData>,
    owners: Vec<u32>,
    pub(super) initial: InitialBands,
}

impl Shown {
    pub(super) fn new(asked: Asked, picture: PictureData) -> Self {
        let (owners, initial) = (owners(&picture), InitialBands::of(&picture));
        Self { asked, picture: Rc::new(picture), owners, initial }
    }

    /// Returns true if an allocation is drawn as bands of its own.
    pub(super) fn has_bands_of(&self, owner: u32) -> bool {
        self.owners.binary_search(&owner).is_ok()
    }
}

pub(in crate::components) fn theme_of(scheme: Scheme) -> &'static Theme {
    static LIGHT: Theme = Theme::light();
    static DARK: Theme = Theme::dark();
    match scheme {
        Scheme::Light => &LIGHT,
        Scheme::Dark => &DARK,
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
    Frame { layout, placements: placements(camera, overview, detail), theme: theme_of(scheme), hovered, pinned }
}
