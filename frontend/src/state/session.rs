//! Local files that are open in a browser tab, as the tab stores them.
//!
//! After a reload, or Back from another page, files whose bytes are stored are reopened. The others are listed, so that
//! the user can drop them again and get their views back. The list is lost when the tab is closed.

use serde::{Deserialize, Serialize};

/// Version of the format that [`Session::to_text`] writes.
const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    version: u32,
    /// Name of the folder with the tab's stored files.
    pub id: String,
    /// Number of the last file of the tab.
    last: u32,
    /// Key of the file that was shown last.
    pub shown: Option<String>,
    /// Files in the order of their tabs.
    pub files: Vec<SessionFile>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFile {
    /// Name in the browser's history and in the folder of stored files.
    pub key: String,
    pub name: String,
    pub size_bytes: u64,
    /// Path and parameters of the page on which it was opened.
    pub page: String,
    /// View of the file as text; empty if there is none yet.
    pub view: String,
    /// True if its bytes are stored.
    pub is_kept: bool,
}

impl Session {
    pub fn new(id: String) -> Self {
        Self { version: VERSION, id, ..Self::default() }
    }

    /// Parses a session; `None` if it has another version or is garbled, so that nothing can be reopened.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|session: &Self| session.version == VERSION)
    }

    /// Writes the session as text for storage; `None` if it has no files.
    pub fn to_text(&self) -> Option<String> {
        (!self.files.is_empty()).then(|| serde_json::to_string(self).expect("a session is plain data"))
    }

    /// Returns a key that no file of this or any other session has had, because history entries outlive a session.
    pub fn new_key(&mut self) -> String {
        self.last += 1;
        format!("{}-{}", self.id, self.last)
    }

    /// Removes and returns the files that a page reopens: its own, or all of them on the plain page.
    pub fn take_for(&mut self, page: &str, is_plain: bool) -> Vec<SessionFile> {
        self.files.extract_if(.., |file| is_plain || file.page == page).collect()
    }
}

/// Returns the awaited file that has the name and size of a given file.
pub fn take_awaited(waiting: &[SessionFile], name: &str, size_bytes: u64) -> Option<SessionFile> {
    waiting.iter().find(|file| file.name == name && file.size_bytes == size_bytes).cloned()
}

/// Describes which files the user should drop again.
pub fn awaited_text(waiting: &[SessionFile]) -> String {
    match waiting {
        [file] => format!("{} was open here. Drop it again to restore its view", file.name),
        files => {
            let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
            format!("These files were open here. Drop them again to restore their views: {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = r#"{"version":1,"id":"s","last":2,"shown":"file-2","files":[
        {"key":"file-1","name":"a.pickle","size_bytes":7,"page":"/","view":"v1;device=1","is_kept":true},
        {"key":"file-2","name":"b.pickle","size_bytes":9,"page":"/?sample","view":"","is_kept":false}]}"#;

    #[test]
    fn a_session_comes_back_and_nothing_else() {
        let mut session = Session::from_text(V1).unwrap();
        assert_eq!(session.to_text().as_deref().and_then(Session::from_text), Some(session.clone()));
        assert_eq!(session.new_key(), "s-3");
        assert_eq!(Session::new("x".to_owned()).to_text(), None);
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
        assert_eq!(awaited_text(&waiting[..1]), "a.pickle was open here. Drop it again to restore its view");
        assert!(awaited_text(&waiting).ends_with("restore their views: a.pickle, b.pickle"));
    }
}
