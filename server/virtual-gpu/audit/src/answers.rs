//! Maps the names of CUDA's libraries to the links in the folder of the virtual GPU.

use std::env;
use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Names of the links, which `install` makes from the same list.
const NAMES: &str = include_str!("../../sonames.txt");

/// Variable that names the folder of the virtual GPU; without it, the folder of this library counts.
const FOLDER: &str = "SNAPSCOPE_VIRTUAL_GPU_FOLDER";

/// Links of the virtual GPU by the name of the library.
pub(super) struct Answers(Vec<(&'static [u8], CString)>);

impl Answers {
    /// Returns the answers, which are made at the first question and stay where they are.
    pub(super) fn get() -> &'static Self {
        static ANSWERS: OnceLock<Answers> = OnceLock::new();
        ANSWERS.get_or_init(|| Self::of(folder().as_deref()))
    }

    /// Makes the answers from a folder; a name without a file there is left to the loader.
    fn of(folder: Option<&Path>) -> Self {
        let Some(folder) = folder else { return Self(Vec::new()) };
        let link = |name: &'static str| {
            let path = folder.join(name);
            path.exists().then(|| CString::new(path.into_os_string().into_vec()).ok()).flatten()
        };
        Self(NAMES.lines().filter_map(|name| Some((name.as_bytes(), link(name)?))).collect())
    }

    /// Returns the link for a path whose last part is one of the names.
    ///
    /// A name without a slash is the program's own question, which precedes those about paths.
    /// It is not answered: the loader would forget the name that it was asked for, and could not match it with the
    /// version nodes of a file that has several names.
    pub(super) fn find(&self, asked: &CStr) -> Option<&CStr> {
        let asked = asked.to_bytes();
        let slash = asked.iter().rposition(|&byte| byte == b'/')?;
        let name = &asked[slash + 1..];
        self.0.iter().find(|(known, _)| *known == name).map(|(_, link)| link.as_c_str())
    }
}

/// Returns the folder of the virtual GPU.
fn folder() -> Option<PathBuf> {
    let named = env::var_os(FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.or_else(|| own_path()?.parent().map(Path::to_owned))
}

/// Returns the path from which the loader loaded this library.
fn own_path() -> Option<PathBuf> {
    let mut found = MaybeUninit::<Found>::uninit();
    // SAFETY: any address may be asked for, and the loader fills the structure if it knows the address.
    if unsafe { dladdr(own_path as fn() -> Option<PathBuf> as *const c_void, found.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: the loader has filled the structure, and the name lives as long as this library is loaded.
    let path = unsafe { CStr::from_ptr(found.assume_init().path) };
    Some(PathBuf::from(OsString::from(OsStr::from_bytes(path.to_bytes()))))
}

/// `Dl_info`, the loader's answer about an address.
#[repr(C)]
struct Found {
    path: *const c_char,
    base: *const c_void,
    symbol: *const c_char,
    address: *const c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, found: *mut Found) -> c_int;
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn paths_are_answered_and_bare_names_are_not() {
        let folder = env::temp_dir().join(format!("snapscope-audit-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder can be made");
        fs::write(folder.join("libcudart.so.13"), "").expect("a file can be written");
        let answers = Answers::of(Some(&folder));
        let find = |asked: &CStr| answers.find(asked).map(|link| link.to_str().expect("the path is text").to_owned());
        let link = folder.join("libcudart.so.13").to_str().map(str::to_owned);
        assert_eq!(find(c"/venv/nvidia/cu13/lib/libcudart.so.13"), link);
        assert_eq!(find(c"../lib/libcudart.so.13"), link);
        assert_eq!(find(c"libcudart.so.13"), None, "a bare name is not a path");
        assert_eq!(find(c"/lib/libcudart.so.1"), None, "another library");
        assert_eq!(find(c"/venv/nvidia/cu13/lib/libcublas.so.13"), None, "the folder has no such link");
        fs::remove_dir_all(&folder).expect("the folder can be removed");
    }

    #[test]
    fn without_a_folder_nothing_is_answered() {
        assert_eq!(Answers::of(None).find(c"/lib/libcuda.so.1"), None);
    }
}
