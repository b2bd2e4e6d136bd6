//! Creates handles of the library, and returns its version.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::status::{BAD_PARAMETER, NULL_POINTER, SUCCESS};
use crate::answers::set_stream;
use crate::ffi::{Handle, Out};
use crate::state::loading::{CUDNN, note_load};
use crate::versions::versions;

/// Content of a handle.
struct Context {
    stream: AtomicPtr<std::ffi::c_void>,
}

#[unsafe(no_mangle)]
extern "C" fn cudnnGetVersion() -> usize {
    versions().cudnn_number() as usize
}

#[unsafe(no_mangle)]
extern "C" fn cudnnGetCudartVersion() -> usize {
    versions().cuda_number().unsigned_abs() as usize
}

/// Returns a part of the version: 0 is major, 1 is minor, 2 is patch.
#[unsafe(no_mangle)]
extern "C" fn cudnnGetProperty(property: c_int, value: Out<c_int>) -> c_int {
    let Some(part) = usize::try_from(property).ok().and_then(|index| versions().cudnn.get(index).copied()) else {
        return BAD_PARAMETER;
    };
    value.put_if_wanted(part.cast_signed());
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnCreate(handle: Out<Box<Context>>) -> c_int {
    note_load(CUDNN);
    handle.put_if_wanted(Box::new(Context { stream: AtomicPtr::new(null_mut()) }));
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnDestroy(handle: Option<Box<Context>>) -> c_int {
    if handle.is_some() { SUCCESS } else { NULL_POINTER }
}

#[unsafe(no_mangle)]
extern "C" fn cudnnSetStream(handle: Option<&Context>, stream: Handle) -> c_int {
    let Some(context) = handle else { return NULL_POINTER };
    context.stream.store(stream, Ordering::Relaxed);
    set_stream(stream);
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnGetStream(handle: Option<&Context>, stream: Out<Handle>) -> c_int {
    let Some(context) = handle else { return NULL_POINTER };
    stream.put_if_wanted(context.stream.load(Ordering::Relaxed));
    SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_its_parts_agree() {
        let mut parts = [0; 3];
        for (index, part) in parts.iter_mut().enumerate() {
            assert_eq!(cudnnGetProperty(index as c_int, Out::to(part)), SUCCESS);
        }
        assert_eq!((cudnnGetVersion(), parts), (91_900, [9, 19, 0]));
        assert_eq!(cudnnGetProperty(3, Out::to(&mut parts[0])), BAD_PARAMETER);
    }

    #[test]
    fn a_handle_gives_back_its_stream() {
        let (mut handle, mut stream) = (None, null_mut());
        assert_eq!(cudnnCreate(Out::to(&mut handle).cast::<Box<Context>>()), SUCCESS);
        assert_eq!(cudnnSetStream(handle.as_deref(), 0x40 as Handle), SUCCESS);
        assert_eq!(cudnnGetStream(handle.as_deref(), Out::to(&mut stream)), SUCCESS);
        assert_eq!(stream, 0x40 as Handle);
        assert_eq!(cudnnDestroy(handle), SUCCESS);
    }
}
