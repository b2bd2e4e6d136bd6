//! Colour scheme, light or dark.

pub use shared::draw::scheme::Scheme;

/// The user's choice of colour scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemeChoice {
    #[default]
    System,
    Always(Scheme),
}

impl SchemeChoice {
    /// All choices, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::System, Self::Always(Scheme::Light), Self::Always(Scheme::Dark)];

    /// Returns the name in storage and in the page's address.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Always(Scheme::Light) => "light",
            Self::Always(Scheme::Dark) => "dark",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
    }

    /// Returns the effective scheme, given the system's preference.
    pub fn resolve(self, system: Scheme) -> Scheme {
        match self {
            Self::System => system,
            Self::Always(scheme) => scheme,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for choice in SchemeChoice::ALL {
            assert_eq!(SchemeChoice::from_name(choice.name()), Some(choice));
        }
        assert_eq!(SchemeChoice::from_name("sepia"), None);
    }

    #[test]
    fn only_the_system_choice_follows_the_system() {
        assert_eq!(SchemeChoice::System.resolve(Scheme::Dark), Scheme::Dark);
        assert_eq!(SchemeChoice::Always(Scheme::Light).resolve(Scheme::Dark), Scheme::Light);
    }
}
