//! Counts the calls of functions that are not modelled, by name.
//!
//! The log gets a line at the first call of a function.
//! The file that `SNAPSCOPE_VIRTUAL_GPU_UNSUPPORTED` names gets a JSON object at the first call, and another one with
//! the number of all calls when the process ends, each on a line of its own:
//! `{"pid":7,"function":"cudaGraphAddNode","library":"cudart","status":801,"calls":1}`.
//! A program can have a function of its own called at the first call, which can find out who made it.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use job::messages::NOT_MODELED;

/// A function that is not modelled.
pub(crate) struct Unsupported {
    name: &'static str,
    library: &'static str,
    /// Status that the function returns.
    status: c_int,
    calls: AtomicU64,
}

/// Functions that were called.
static CALLED: Mutex<Vec<&'static Unsupported>> = Mutex::new(Vec::new());

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Lets this thread's calls go uncounted until it is dropped, because they are not the program's.
pub(crate) struct Quiet(bool);

impl Quiet {
    pub(crate) fn new() -> Self {
        Self(IS_QUIET.replace(true))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        IS_QUIET.set(self.0);
    }
}

/// Function that a program has set, as an address; 0 if there is none.
static LISTENER: AtomicUsize = AtomicUsize::new(0);

/// Function that is told a name, a library and a status.
type Listener = extern "C" fn(*const c_char, *const c_char, c_int);

impl Unsupported {
    pub(crate) const fn new(name: &'static str, library: &'static str, status: c_int) -> Self {
        Self { name, library, status, calls: AtomicU64::new(0) }
    }

    /// Counts a call, unless this thread is quiet, and returns the status.
    pub(crate) fn call(&'static self) -> c_int {
        if !IS_QUIET.get() && self.calls.fetch_add(1, Ordering::Relaxed) == 0 {
            self.first_call();
        }
        self.status
    }

    #[cold]
    fn first_call(&'static self) {
        static AT_EXIT: Once = Once::new();
        let Self { name, library, status, .. } = self;
        crate::log::line(format_args!("{name} ({library}){NOT_MODELED}; it failed with status {status}"));
        write(&[self.row()]);
        CALLED.lock().unwrap_or_else(PoisonError::into_inner).push(self);
        AT_EXIT.call_once(|| {
            // SAFETY: the function may be called at any time, and this library is never unloaded.
            let _ = unsafe { libc::atexit(write_totals) };
        });
        self.tell();
    }

    fn row(&self) -> String {
        let Self { name, library, status, calls } = self;
        let (pid, calls) = (std::process::id(), calls.load(Ordering::Relaxed));
        format!(r#"{{"pid":{pid},"function":"{name}","library":"{library}","status":{status},"calls":{calls}}}"#)
    }

    /// Has the program's function called: by Python as soon as its main thread is back in Python code, or else at once.
    ///
    /// A function in Python needs Python's lock, whose holder may wait for one that this thread holds.
    fn tell(&'static self) {
        if LISTENER.load(Ordering::Acquire) == 0 {
            return;
        }
        match pending_calls() {
            // A full queue drops the call.
            Some(add) => {
                add(call_listener, (&raw const *self).cast_mut().cast());
            }
            None => {
                call_listener((&raw const *self).cast_mut().cast());
            }
        }
    }
}

/// Function that Python calls later.
type Pending = extern "C" fn(*mut c_void) -> c_int;

/// Returns Python's function that queues another one, if this process runs Python.
fn pending_calls() -> Option<extern "C" fn(Pending, *mut c_void) -> c_int> {
    // SAFETY: the name is a C string, and a function of this name in a process is Python's, with these parameters.
    unsafe { std::mem::transmute(libc::dlsym(libc::RTLD_DEFAULT, c"Py_AddPendingCall".as_ptr())) }
}

/// Calls the program's function about one that is not modelled.
extern "C" fn call_listener(function: *mut c_void) -> c_int {
    let address = LISTENER.load(Ordering::Acquire);
    // SAFETY: `tell` passes a reference to a function that lives as long as the process.
    let Unsupported { name, library, status, .. } = unsafe { &*function.cast::<Unsupported>() };
    if let (true, Ok(name), Ok(library)) = (address != 0, CString::new(*name), CString::new(*library)) {
        // SAFETY: the address is that of a `Listener`, which `snapscopeOnUnsupported` stored.
        let listener = unsafe { std::mem::transmute::<usize, Listener>(address) };
        listener(name.as_ptr(), library.as_ptr(), *status);
    }
    0
}

/// Sets the function that is called at the first call of each function that is not modelled; null removes it.
#[unsafe(no_mangle)]
extern "C" fn snapscopeOnUnsupported(listener: Option<Listener>) {
    LISTENER.store(listener.map_or(0, |listener| listener as usize), Ordering::Release);
}

/// Writes the functions that were called more than once, with all their calls.
extern "C" fn write_totals() {
    let called = CALLED.lock().unwrap_or_else(PoisonError::into_inner);
    let repeated = called.iter().filter(|function| function.calls.load(Ordering::Relaxed) > 1);
    write(&repeated.map(|function| function.row()).collect::<Vec<_>>());
}

/// Appends rows to the file; rows that cannot be written are lost, as lines of the log are.
fn write(rows: &[String]) {
    let Some(path) = crate::config::unsupported_path().filter(|_| !rows.is_empty()) else { return };
    if let Ok(mut file) = File::options().append(true).create(true).open(path) {
        let _ = file.write_all((rows.join("\n") + "\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI32;

    use super::*;

    static FUNCTION: Unsupported = Unsupported::new("cuTest", "cuda", 801);
    static HEARD: AtomicI32 = AtomicI32::new(0);

    extern "C" fn listen(_name: *const c_char, _library: *const c_char, status: c_int) {
        HEARD.fetch_add(status, Ordering::Relaxed);
    }

    #[test]
    fn calls_are_counted_and_told_once_unless_the_thread_is_quiet() {
        let quiet = Quiet::new();
        drop(Quiet::new());
        assert_eq!((FUNCTION.call(), FUNCTION.calls.load(Ordering::Relaxed)), (801, 0));
        drop(quiet);
        snapscopeOnUnsupported(Some(listen));
        assert_eq!((FUNCTION.call(), FUNCTION.call()), (801, 801));
        snapscopeOnUnsupported(None);
        assert_eq!(HEARD.load(Ordering::Relaxed), 801);
        let row = FUNCTION.row();
        assert!(row.ends_with(r#""function":"cuTest","library":"cuda","status":801,"calls":2}"#), "{row}");
    }
}
