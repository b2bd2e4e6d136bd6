//! The local files that are open in a tab of the browser, as the tab remembers them.
//!
//! A reload, or Back from another page, finds them here: those whose bytes are kept are opened again, the others are
//! named, so that they can be dropped again and get their view back. It ends with the tab.

use serde::{Deserialize, Serialize};

/// The version of what [`Session::to_text`] writes.
const VERSION: u32 = 1;

/// The local files of a tab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    version: u32,
    /// What the folder of its kept files is called.
    pub id: String,
    /// Counts the files of the tab.
    last: u32,
    /// The key of the file that was shown last.
    pub shown: Option<String>,
    /// The files in the order of their tabs.
    pub files: Vec<SessionFile>,
}

/// A local file of a tab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFile {
    /// What the history and the folder of kept files call it.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Its length.
    pub size_bytes: u64,
    /// The page that it was opened on, by its path and parameters.
    pub page: String,
    /// What was seen of it, as text; empty for nothing yet.
    pub view: String,
    /// Whether its bytes are kept.
    pub is_kept: bool,
}

impl Session {
    /// A session without files.
    pub fn new(id: String) -> Self {
        Self { version: VERSION, id, ..Self::default() }
    }

    /// The session of a text, `None` if it is of another version or garbled: then nothing can be opened again.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|session: &Self| session.version == VERSION)
    }

    /// The text that keeps the session, `None` where there is nothing to keep.
    ///
    /// # Panics
    /// Never: it is plain data.
    pub fn to_text(&self) -> Option<String> {
        (!self.files.is_empty()).then(|| serde_json::to_string(self).expect("a session is plain data"))
    }

    /// A key that no file of this session or of another has or had: entries of the history outlive a session.
    pub fn new_key(&mut self) -> String {
        self.last += 1;
        format!("{}-{}", self.id, self.last)
    }

    /// Takes out the files that a page opens again: its own, and on the plain page all of them.
    pub fn take_for(&mut self, page: &str, is_plain: bool) -> Vec<SessionFile> {
        self.files.extract_if(.., |file| is_plain || file.page == page).collect()
    }
}

/// Takes out the file that waits to be dropped again, if a file looks like it.
pub fn take_awaited(waiting: &[SessionFile], name: &str, size_bytes: u64) -> Option<SessionFile> {
    waiting.iter().find(|file| file.name == name && file.size_bytes == size_bytes).cloned()
}

/// Says which files are to be dropped again.
pub fn awaited_text(waiting: &[SessionFile]) -> String {
    match waiting {
        [file] => format!("{} was open here: drop it again to get the same view", file.name),
        files => {
            let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
            format!("These files were open here, drop them again to get the same views: {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As version 1 wrote it.
    const V1: &str = r#"{"version":1,"id":"s","last":2,"shown":"file-2","files":[
        {"key":"file-1","name":"a.pickle","size_bytes":7,"page":"/","view":"v1;device=1","is_kept":true},
        {"key":"file-2","name":"b.pickle","size_bytes":9,"page":"/?sample","view":"","is_kept":false}]}"#;

    #[test]
    fn a_session_comes_back() {
        let mut session = Session::from_text(V1).unwrap();
        assert_eq!(session.to_text().as_deref().and_then(Session::from_text), Some(session.clone()));
        assert_eq!(session.new_key(), "s-3");
        assert_eq!(Session::new("x".to_owned()).to_text(), None);
    }

    #[test]
    fn what_is_no_session_is_left() {
        for text in ["", "{}", "[]", r#"{"version":2,"id":"s","last":0,"shown":null,"files":[]}"#] {
            assert_eq!(Session::from_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_page_opens_its_own_files_and_the_plain_page_all() {
        let names = |files: Vec<SessionFile>| files.into_iter().map(|file| file.name).collect::<Vec<_>>();
        let session = Session::from_text(V1).unwrap();
        let mut of_sample = session.clone();
        assert_eq!(names(of_sample.take_for("/?sample", false)), ["b.pickle"]);
        assert_eq!(names(of_sample.files), ["a.pickle"]);
        assert_eq!(names(session.clone().take_for("/", true)), ["a.pickle", "b.pickle"]);
        assert_eq!(names(session.clone().take_for("/s/token", false)), [""; 0]);
    }

    #[test]
    fn a_file_of_the_same_name_and_length_is_awaited() {
        let waiting = Session::from_text(V1).unwrap().files;
        assert_eq!(take_awaited(&waiting, "b.pickle", 9).map(|file| file.key).as_deref(), Some("file-2"));
        assert_eq!(take_awaited(&waiting, "b.pickle", 8), None);
        assert_eq!(take_awaited(&waiting, "c.pickle", 9), None);
        assert_eq!(awaited_text(&waiting[..1]), "a.pickle was open here: drop it again to get the same view");
        assert!(awaited_text(&waiting).ends_with("the same views: a.pickle, b.pickle"));
    }
}
