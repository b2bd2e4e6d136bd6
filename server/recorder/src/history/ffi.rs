//! Bindings of `shim/history.cpp` and of the stacks of `shim/place.cpp`.
#![allow(unsafe_code, reason = "every call into the shim's history is here")]

use std::ffi::{CStr, c_char, c_void};

use super::rows::{Row, history};
use crate::Result;
use crate::shim::{Place, RawPlace, check, take_place};

#[repr(C)]
struct RawEvent {
    address: u64,
    size: u64,
    ticks: u64,
    stream: i64,
    text: *const c_char,
    text_length: usize,
    stack: u32,
    device: i32,
    action: i32,
}

/// Block of a segment.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) size: u64,
    pub(super) requested_size: u64,
    pub(super) stack: u32,
    /// 0: inactive, 1: waits until its streams have passed, 2: allocated.
    pub(super) state: i32,
}

#[repr(C)]
struct RawSegment {
    blocks: *const Block,
    block_count: usize,
    values: SegmentValues,
}

/// Segment but for its blocks.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentValues {
    pub(super) address: u64,
    pub(super) total_size: u64,
    pub(super) allocated_size: u64,
    pub(super) active_size: u64,
    pub(super) requested_size: u64,
    pub(super) stream: i64,
    pub(super) pool: [u64; 2],
    pub(super) stack: u32,
    pub(super) device: i32,
    pub(super) is_large: bool,
    pub(super) is_expandable: bool,
}

/// Segment with its blocks.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) values: SegmentValues,
    pub(super) blocks: Vec<Block>,
}

#[repr(C)]
struct RawSettings {
    text: *const c_char,
    roundup: *const u64,
    roundup_count: usize,
    values: SettingValues,
}

/// Settings of the allocator but for those of variable length.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SettingValues {
    pub(super) max_split_size: i64,
    pub(super) garbage_collection_threshold: f64,
    pub(super) register_threads: u64,
    pub(super) expandable_segments: bool,
    pub(super) release_lock: bool,
    pub(super) use_host_register: bool,
    pub(super) reuses_record_stream: bool,
}

/// What the allocators of all devices hold, and their settings.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    pub(super) segments: Vec<Segment>,
    /// Text of `PYTORCH_CUDA_ALLOC_CONF`.
    pub(super) conf: String,
    pub(super) roundup_divisions: Vec<u64>,
    pub(super) values: SettingValues,
}

unsafe extern "C" {
    fn snapscope_start_recording(
        event: unsafe extern "C" fn(*const RawEvent),
        exhausted: extern "C" fn(),
    ) -> *mut c_char;
    fn snapscope_held(
        segment: unsafe extern "C" fn(*mut c_void, *const RawSegment),
        settings: unsafe extern "C" fn(*mut c_void, *const RawSettings),
        state: *mut c_void,
    ) -> *mut c_char;
    /// Returns the processor's ticks.
    #[link_name = "snapscope_ticks"]
    pub(super) safe fn ticks() -> u64;
    /// Returns the index of the current device.
    #[link_name = "snapscope_current_device"]
    pub(super) safe fn current_device() -> i32;
    /// Returns the number of different stacks so far.
    #[link_name = "snapscope_stacks"]
    pub(super) safe fn stacks() -> u32;
    safe fn snapscope_clock() -> *const c_void;
    fn snapscope_time_us(clock: *const c_void, ticks: u64) -> i64;
    fn snapscope_drop_clock(clock: *const c_void);
    fn snapscope_out_of_memory(place: *mut RawPlace) -> bool;
    fn snapscope_frames(
        number: u32,
        visit: unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char),
        state: *mut c_void,
    );
}

/// Starts CUDA and the history, which calls `on_exhaustion` whenever memory runs out.
pub(super) fn start(on_exhaustion: extern "C" fn()) -> Result<()> {
    // SAFETY: both functions live as long as the process.
    check(unsafe { snapscope_start_recording(on_event, on_exhaustion) })
}

unsafe extern "C" fn on_event(event: *const RawEvent) {
    // SAFETY: the shim passes an event whose text has this length, both valid until this function returns.
    let (event, text) = unsafe {
        let event = &*event;
        (event, std::slice::from_raw_parts(event.text.cast::<u8>(), event.text_length))
    };
    let row = Row {
        address: event.address,
        size: event.size,
        ticks: event.ticks,
        stream: event.stream,
        stack: event.stack,
        text: 0,
        action: event.action.cast_unsigned(),
    };
    if let (Some(history), Ok(device)) = (&mut *history(), usize::try_from(event.device)) {
        history.add(device, row, &String::from_utf8_lossy(text));
    }
}

/// Returns what the allocators hold.
pub(super) fn held() -> Result<Held> {
    let mut held = Held::default();
    // SAFETY: the functions are called before this one returns, with `held` as their state.
    check(unsafe { snapscope_held(on_segment, on_settings, (&raw mut held).cast()) })?;
    Ok(held)
}

unsafe extern "C" fn on_segment(state: *mut c_void, segment: *const RawSegment) {
    // SAFETY: the state is that of `held`; the segment has this number of blocks.
    unsafe {
        let (held, raw) = (&mut *state.cast::<Held>(), &*segment);
        let blocks = match raw.block_count {
            0 => Vec::new(),
            count => std::slice::from_raw_parts(raw.blocks, count).to_vec(),
        };
        held.segments.push(Segment { values: raw.values, blocks });
    }
}

unsafe extern "C" fn on_settings(state: *mut c_void, settings: *const RawSettings) {
    // SAFETY: the state is that of `held`; the text ends with a zero byte, and the divisions have this number.
    unsafe {
        let (held, raw) = (&mut *state.cast::<Held>(), &*settings);
        held.conf = CStr::from_ptr(raw.text).to_string_lossy().into_owned();
        held.values = raw.values;
        if raw.roundup_count > 0 {
            held.roundup_divisions = std::slice::from_raw_parts(raw.roundup, raw.roundup_count).to_vec();
        }
    }
}

/// Clock that converts ticks to the time of day.
pub(super) struct Clock(*const c_void);

impl Clock {
    /// Measures the ticks so far.
    pub(super) fn new() -> Self {
        Self(snapscope_clock())
    }

    /// Converts ticks to microseconds since 1970.
    pub(super) fn time_us(&self, ticks: u64) -> i64 {
        // SAFETY: the clock comes from `snapscope_clock` and has not been dropped.
        unsafe { snapscope_time_us(self.0, ticks) }
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        // SAFETY: the clock comes from `snapscope_clock` and is dropped once.
        unsafe { snapscope_drop_clock(self.0) }
    }
}

/// Returns where memory ran out last; `None` if it never did.
pub(super) fn exhaustion() -> Option<Place> {
    let mut place = RawPlace::EMPTY;
    // SAFETY: the place is written if the function returns true.
    unsafe { snapscope_out_of_memory(&mut place) }.then(|| take_place(place))
}

/// Returns the file and the name of each frame of a stack, innermost first.
///
/// `number` must be below [`stacks`].
pub(super) fn frames(number: u32) -> Vec<(String, String)> {
    let mut frames: Vec<(String, String)> = Vec::new();
    // SAFETY: the function is called before this one returns, with `frames` as its state.
    unsafe { snapscope_frames(number, on_frame, (&raw mut frames).cast()) };
    frames
}

unsafe extern "C" fn on_frame(state: *mut c_void, file: *const c_char, name: *const c_char) {
    // SAFETY: the state is that of `frames`; both texts end with a zero byte.
    unsafe {
        let text = |text| CStr::from_ptr(text).to_string_lossy().into_owned();
        (*state.cast::<Vec<(String, String)>>()).push((text(file), text(name)));
    }
}
