//! Calls the real cuDNN, which pip installs beside PyTorch, to learn which engines it would take.
//!
//! From version 9.8 on, cuDNN makes plans for a device that is only described, so neither a GPU nor a driver is needed.
//! A description takes the place of the handle in heuristics, engines and plans. The library is loaded past its entry,
//! `libcudnn.so.9`, whose name is the virtual GPU's. What it loads itself, which is cuBLASLt, NVRTC and the driver, is
//! the virtual GPU: its kernels compile to nothing, and nothing is ever executed.

use std::ffi::{CString, c_int, c_void};
use std::mem::transmute;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use super::backend_content::{Content, Value, attribute, kind};
use super::loader::open;
use super::status::SUCCESS;
use crate::ffi::Handle;
use crate::unsupported::Quiet;

/// First version that makes plans without a device.
const FIRST: usize = 90_800;

/// Libraries beside it that it loads when it is first asked, and without which its answers are others.
const PARTS: [&str; 3] =
    ["libcudnn_engines_precompiled.so.9", "libcudnn_engines_runtime_compiled.so.9", "libcudnn_heuristic.so.9"];

/// `CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR`.
const DEVICE: c_int = 38;

/// `CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION`.
const DEVICE_JSON: c_int = 2702;

/// Most groups of multiprocessors that a description has room for.
const MOST_GROUPS: usize = 24;

type Create = unsafe extern "C" fn(c_int, *mut Handle) -> c_int;
type Set = unsafe extern "C" fn(Handle, c_int, c_int, i64, *const c_void) -> c_int;
type Get = unsafe extern "C" fn(Handle, c_int, c_int, i64, *mut i64, *mut c_void) -> c_int;
type OfOne = unsafe extern "C" fn(Handle) -> c_int;

/// Functions of the real library.
#[derive(Debug, Clone, Copy)]
pub(super) struct Library {
    pub(super) create: Create,
    pub(super) destroy: OfOne,
    pub(super) set: Set,
    pub(super) get: Get,
    pub(super) finalize: OfOne,
}

/// A device, as the library is told about it.
#[derive(Debug, Clone)]
pub(super) struct Description {
    /// The properties that the library asks for.
    pub(super) json: String,
    /// Compute capability × 100, and the version of CUDA.
    pub(super) numbers: [i32; 2],
    /// Multiprocessors of each group (GPC).
    pub(super) groups: Vec<i32>,
}

/// A descriptor of the real library, with those that it refers to.
pub(super) struct Made<'a> {
    library: &'a Library,
    handle: Handle,
    parts: Vec<Made<'a>>,
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        // SAFETY: the library has created the descriptor, which nothing uses any more.
        unsafe { (self.library.destroy)(self.handle) };
    }
}

impl Library {
    /// Loads a library and its parts.
    ///
    /// # Errors
    /// Returns the reason, for the end of a sentence.
    pub(super) fn load(path: &Path) -> Result<Self, String> {
        let _quiet = Quiet::new();
        let library = open(path)?;
        let find = |name: &str| {
            let c_name = CString::new(name).unwrap_or_default();
            // SAFETY: the library was loaded and is never unloaded.
            let function = unsafe { libc::dlsym(library, c_name.as_ptr()) };
            if function.is_null() { Err(format!("it has no function {name}")) } else { Ok(function) }
        };
        // SAFETY: the functions of these names have these parameters in every version of the interface.
        let (version, functions) = unsafe {
            let version = transmute::<Handle, extern "C" fn() -> usize>(find("cudnnGetVersion")?);
            let functions = Self {
                create: transmute::<Handle, Create>(find("cudnnBackendCreateDescriptor")?),
                destroy: transmute::<Handle, OfOne>(find("cudnnBackendDestroyDescriptor")?),
                set: transmute::<Handle, Set>(find("cudnnBackendSetAttribute")?),
                get: transmute::<Handle, Get>(find("cudnnBackendGetAttribute")?),
                finalize: transmute::<Handle, OfOne>(find("cudnnBackendFinalize")?),
            };
            (version(), functions)
        };
        if version < FIRST {
            return Err(format!("version {version} makes no plans without a GPU; {FIRST} is the first that does"));
        }
        PARTS.iter().try_for_each(|part| open(&path.with_file_name(part)).map(|_| ()))?;
        Ok(functions)
    }

    /// Describes a device.
    ///
    /// # Errors
    /// Returns the library's status.
    pub(super) fn device(&self, description: &Description) -> Result<Made<'_>, c_int> {
        let _quiet = Quiet::new();
        let device = self.create(DEVICE)?;
        let json = description.json.as_bytes();
        device.set(DEVICE_JSON, Value::CHAR, json.len(), json.as_ptr().cast())?;
        device.finalize()?;
        device.tell_groups(description);
        Ok(device)
    }

    /// Makes a descriptor from one of the program, for a device.
    ///
    /// # Errors
    /// Returns the status with which the library refuses it, or one that it refers to.
    pub(super) fn make<'a>(&'a self, content: &Content, device: &Made<'_>) -> Result<Made<'a>, c_int> {
        let _quiet = Quiet::new();
        let mut made = self.create(content.kind())?;
        for (name, value) in content.given() {
            match value {
                Value::Plain { value_type: Value::HANDLE, .. } => {} // the description takes its place
                Value::Plain { value_type, count, bytes } => {
                    made.set(name, *value_type, *count, bytes.as_ptr().cast())?
                }
                Value::Descriptors(contents) => {
                    let parts = contents.iter().map(|part| self.make(part, device)).collect::<Result<Vec<_>, _>>()?;
                    let handles: Vec<Handle> = parts.iter().map(|part| part.handle).collect();
                    made.set(name, Value::DESCRIPTOR, handles.len(), handles.as_ptr().cast())?;
                    made.parts.extend(parts);
                }
            }
        }
        let place = match content.kind() {
            kind::HEURISTICS => Some(attribute::HEURISTICS_DEVICE),
            kind::ENGINE => Some(attribute::ENGINE_DEVICE),
            kind::PLAN => Some(attribute::PLAN_DEVICE),
            _ => None,
        };
        if let Some(place) = place {
            made.set(place, Value::DESCRIPTOR, 1, (&raw const device.handle).cast())?;
        }
        made.finalize()?;
        Ok(made)
    }

    fn create(&self, kind: c_int) -> Result<Made<'_>, c_int> {
        let mut handle = null_mut();
        // SAFETY: the library writes a handle.
        succeeded(unsafe { (self.create)(kind, &raw mut handle) })?;
        Ok(Made { library: self, handle, parts: Vec::new() })
    }
}

impl<'a> Made<'a> {
    fn set(&self, attribute: c_int, value_type: c_int, count: usize, values: *const c_void) -> Result<(), c_int> {
        // SAFETY: the caller passes as many values of the type as it says.
        succeeded(unsafe { (self.library.set)(self.handle, attribute, value_type, count as i64, values) })
    }

    fn finalize(&self) -> Result<(), c_int> {
        // SAFETY: the library has created the descriptor.
        succeeded(unsafe { (self.library.finalize)(self.handle) })
    }

    /// Returns up to `most` numbers of an attribute; none if the descriptor has no such attribute.
    pub(super) fn numbers<T: Copy + Default + Into<i64>>(
        &self,
        attribute: c_int,
        value_type: c_int,
        most: usize,
    ) -> Vec<i64> {
        let mut values = vec![T::default(); most];
        let mut count = 0;
        let room = most as i64;
        // SAFETY: there is room for as many values as are asked for, and the caller names their type.
        let status = unsafe {
            (self.library.get)(self.handle, attribute, value_type, room, &raw mut count, values.as_mut_ptr().cast())
        };
        let found = if status == SUCCESS { usize::try_from(count).unwrap_or(0) } else { 0 };
        values.into_iter().take(found).map(Into::into).collect()
    }

    /// Returns up to `most` descriptors of an attribute.
    ///
    /// # Errors
    /// Returns the library's status.
    pub(super) fn descriptors(&self, attribute: c_int, kind: c_int, most: usize) -> Result<Vec<Made<'a>>, c_int> {
        let _quiet = Quiet::new();
        let mut made = (0..most).map(|_| self.library.create(kind)).collect::<Result<Vec<_>, _>>()?;
        let mut handles: Vec<Handle> = made.iter().map(|place| place.handle).collect();
        let mut count = 0;
        let room = most as i64;
        // SAFETY: the library fills as many of the descriptors as are asked for.
        succeeded(unsafe {
            let places = handles.as_mut_ptr().cast();
            (self.library.get)(self.handle, attribute, Value::DESCRIPTOR, room, &raw mut count, places)
        })?;
        made.truncate(usize::try_from(count).unwrap_or(0));
        Ok(made)
    }

    /// Returns the number of descriptors of an attribute.
    pub(super) fn count(&self, attribute: c_int) -> usize {
        let mut count = 0_i64;
        // SAFETY: without room, only the count is written.
        unsafe { (self.library.get)(self.handle, attribute, Value::DESCRIPTOR, 0, &raw mut count, null_mut()) };
        usize::try_from(count).unwrap_or(0)
    }

    /// Tells the library the groups of multiprocessors, which a description in JSON cannot.
    ///
    /// On a GPU the library asks the driver; without one it assumes a single full group, and takes engines that fit
    /// that. The list stands behind the two numbers of the description, which nothing else resembles; where it is not
    /// found, as in a version that keeps it elsewhere, the assumption stays.
    fn tell_groups(&self, description: &Description) {
        // SAFETY: the descriptor is an allocation of the library, which shares this process's allocator.
        let words = unsafe { libc::malloc_usable_size(self.handle) } / size_of::<i32>();
        // SAFETY: the allocation has at least that many words, and no other thread knows it.
        let words = unsafe { std::slice::from_raw_parts_mut(self.handle.cast::<i32>(), words) };
        let is_list = |window: &[i32]| {
            let (numbers, list) = window.split_at(2);
            numbers == description.numbers && list[0] > 0 && list[1..].iter().all(|&count| count == 0)
        };
        if let Some(at) = words.windows(2 + MOST_GROUPS).position(is_list) {
            let list = &mut words[at + 2..at + 2 + MOST_GROUPS];
            list.iter_mut().zip(&description.groups).for_each(|(place, count)| *place = *count);
        }
    }
}

fn succeeded(status: c_int) -> Result<(), c_int> {
    if status == SUCCESS { Ok(()) } else { Err(status) }
}

/// Returns the path of the real library beside a folder `torch`.
pub(super) fn beside(torch: &Path) -> Option<PathBuf> {
    Some(torch.parent()?.join("nvidia/cudnn/lib/libcudnn_graph.so.9"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::fake;
    use super::*;

    fn told(numbers: [i32; 2]) -> Vec<i32> {
        let description = Description { json: "{}".to_owned(), numbers, groups: vec![18, 16, 8] };
        let library = fake::LIBRARY;
        let device = library.device(&description).expect("it can be described");
        fake::groups(device.handle)
    }

    #[test]
    fn the_groups_of_multiprocessors_are_told_where_their_list_is_found() {
        assert_eq!(told([900, 13_000]), [18, 16, 8]);
        assert_eq!(told([900, 12_080]), [18], "the numbers before the list are others");
    }

    #[test]
    fn a_library_that_cannot_be_loaded_is_explained() {
        let maps = fs::read_to_string("/proc/self/maps").expect("this process has a map");
        let line = maps.lines().find(|line| line.ends_with("libc.so.6")).expect("the test has the C library");
        let path = line.find('/').map(|at| Path::new(&line[at..])).expect("it has a path");
        let reason = Library::load(path).expect_err("it is another library");
        assert_eq!(reason, "it has no function cudnnGetVersion");
    }
}
