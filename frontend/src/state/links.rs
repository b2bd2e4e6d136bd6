//! The links that were made in this browser, as it keeps them.
//!
//! Nobody else knows what deletes a link, so what is kept and can't be read is never written over: it is put aside.

use serde::{Deserialize, Serialize};

/// What the page without a file calls the dialog of links, which the viewer has.
pub const LINKS_DIALOG: &str = "links";

/// The version of what [`Links::to_text`] writes.
const VERSION: u32 = 1;

/// A link that was made here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its name in addresses.
    pub token: String,
    /// What deletes it.
    pub delete_token: String,
    /// What people call it.
    pub title: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it ends; `None` for never.
    pub expires_ms: Option<i64>,
}

/// All links that were made here, the latest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The links.
    pub all: Vec<Link>,
}

/// What the browser keeps is no list of links, or one of a later version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

#[derive(Serialize, Deserialize)]
struct Stored<L> {
    version: u32,
    links: L,
}

impl Links {
    /// The links that a text keeps.
    ///
    /// # Errors
    /// If the text keeps none.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        match serde_json::from_str(text) {
            Ok(Stored { version: VERSION, links }) => Ok(Self { all: links }),
            _ => Err(Unreadable),
        }
    }

    /// The text that keeps the links.
    ///
    /// # Panics
    /// Never: links are plain data.
    pub fn to_text(&self) -> String {
        serde_json::to_string(&Stored { version: VERSION, links: &self.all }).expect("links are plain data")
    }

    /// Adds a link at the top.
    pub fn add(&mut self, link: Link) {
        self.all.insert(0, link);
    }

    /// Forgets a link.
    pub fn remove(&mut self, token: &str) {
        self.all.retain(|link| link.token != token);
    }

    /// Forgets links that have ended, and says how many.
    pub fn remove_ended(&mut self, now_ms: i64) -> usize {
        let before = self.all.len();
        self.all.retain(|link| link.expires_ms.is_none_or(|end| end > now_ms));
        before - self.all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As version 1 wrote it; it stays here when there are later ones.
    const V1: &str = r#"{"version":1,"links":[
        {"token":"t","delete_token":"d","title":"a leak","created_ms":5,"expires_ms":9},
        {"token":"u","delete_token":"e","title":"","created_ms":4,"expires_ms":null}]}"#;

    #[test]
    fn the_first_version_is_read() {
        let links = Links::from_text(V1).unwrap();
        let titles: Vec<_> = links.all.iter().map(|link| link.title.as_str()).collect();
        assert_eq!((titles, links.all[0].expires_ms), (vec!["a leak", ""], Some(9)));
        assert_eq!(Links::from_text(&links.to_text()), Ok(links));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["", "[]", "{}", "null", r#"{"version":2,"links":[]}"#, r#"{"version":1,"links":[{"token":1}]}"#] {
            assert_eq!(Links::from_text(text), Err(Unreadable), "{text}");
        }
    }

    #[test]
    fn ended_links_are_forgotten() {
        let mut links = Links::from_text(V1).unwrap();
        assert_eq!((links.remove_ended(8), links.remove_ended(9), links.all.len()), (0, 1, 1));
        links.add(Link { token: "v".into(), ..Link::default() });
        links.remove("u");
        assert_eq!(links.all[0].token, "v");
        links.remove("nobody");
        assert_eq!(links.all.len(), 1);
    }
}
