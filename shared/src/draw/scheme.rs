//! Colour scheme, light or dark.

use super::theme::Theme;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scheme {
    /// Dark on light.
    #[default]
    Light,
    /// Light on dark.
    Dark,
}

impl Scheme {
    /// Returns the colours of drawings.
    pub fn theme(self) -> &'static Theme {
        static LIGHT: Theme = Theme::light();
        static DARK: Theme = Theme::dark();
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
        }
    }
}
