//! Share links that were created in this browser, as it stores them.
//!
//! The tokens that delete the links are stored nowhere else, so a stored list that can't be read is never overwritten
//! but moved aside.

use serde::{Deserialize, Serialize};

/// Name by which the page without a file asks the viewer for the dialog of links.
pub const LINKS_DIALOG: &str = "links";

/// Version of the format that [`Links::to_text`] writes.
const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Token in the link's address.
    pub token: String,
    pub delete_token: String,
    pub title: String,
    /// Time of creation, in milliseconds since 1970.
    pub created_ms: i64,
    /// Time of expiry, in milliseconds since 1970; `None` for never.
    pub expires_ms: Option<i64>,
}

/// All links that were created here, the latest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub all: Vec<Link>,
}

/// Error for a stored text that is not a list of links or has a later version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

#[derive(Serialize, Deserialize)]
struct Stored<L> {
    version: u32,
    links: L,
}

impl Links {
    /// Parses stored links; the text may be no list of links of this version.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        match serde_json::from_str(text) {
            Ok(Stored { version: VERSION, links }) => Ok(Self { all: links }),
            _ => Err(Unreadable),
        }
    }

    /// Writes the links as text for storage.
    pub fn to_text(&self) -> String {
        serde_json::to_string(&Stored { version: VERSION, links: &self.all }).expect("links are plain data")
    }

    /// Adds a link at the top.
    pub fn add(&mut self, link: Link) {
        self.all.insert(0, link);
    }

    pub fn remove(&mut self, token: &str) {
        self.all.retain(|link| link.token != token);
    }

    /// Removes expired links and returns their number.
    pub fn remove_ended(&mut self, now_ms: i64) -> usize {
        let before = self.all.len();
        self.all.retain(|link| link.expires_ms.is_none_or(|end| end > now_ms));
        before - self.all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text of version 1, which has to stay readable when there are later versions.
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
