//! Creates, records, queries and times events.

use std::ffi::{c_float, c_int, c_uint};

use super::{give, status};
use crate::error::{Error, Result};
use crate::ffi::{Handle, Out};
use crate::state::handle::{Kind, stream_of};
use crate::state::stream::Recorded;
use crate::state::thread::polls_on;
use crate::state::work::Work;
use crate::state::{machine, now};
use crate::stub::functions;

/// `cudaEventDisableTiming`.
pub(super) const DISABLE_TIMING: c_uint = 2;

/// Duration that is reported for a tick, in milliseconds; nothing is measured.
const TICK_MS: c_float = 0.005;

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaEventCreateWithFlags(event: Out<Handle>, flags: c_uint) -> c_int {
    status(|| {
        let machine = machine()?;
        machine.current()?;
        let number = machine.work().streams.create_event(flags & DISABLE_TIMING == 0);
        give(event, Kind::Event.handle(number))
    })
}

functions! {
    cudaEventCreate(event: Out<Handle>) = cudaEventCreateWithFlags(event, 0);
    cudaEventDestroy(event: Handle) => machine()?.work().streams.destroy_event(Kind::Event.number(event)?);
    cudaEventRecordWithFlags(event: Handle, stream: Handle, flags: c_uint) =>
        machine()?.work().record(Kind::Event.number(event)?, stream_of(stream)?, flags, now());
    cudaEventRecord(event: Handle, stream: Handle) = cudaEventRecordWithFlags(event, stream, 0);
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaEventQuery(event: Handle) -> c_int {
    status(|| {
        let mut work = machine()?.work();
        work.check_unsafe()?;
        let event = Kind::Event.number(event)?;
        if work.is_done(event, now())? {
            return Ok(());
        }
        if polls_on(now()) { work.finish_event(event) } else { Err(Error::NotReady) }
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaEventSynchronize(event: Handle) -> c_int {
    status(|| {
        let mut work = machine()?.work();
        work.check_unsafe()?;
        work.finish_event(Kind::Event.number(event)?)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaEventElapsedTime(milliseconds: Out<c_float>, start: Handle, end: Handle) -> c_int {
    status(|| {
        let work = machine()?.work();
        let (start, end) = (moment(&work, start)?, moment(&work, end)?);
        // At least one tick, because programs divide by the time.
        give(milliseconds, end.saturating_sub(start).max(1) as c_float * TICK_MS)
    })
}

/// Returns the tick at which an event with timing was recorded.
///
/// # Errors
/// Returns "not ready" if the event is not done, and "invalid handle" if it was never recorded or has no timing.
fn moment(work: &Work, event: Handle) -> Result<u64> {
    let number = Kind::Event.number(event)?;
    let event = work.streams.event(number)?;
    let is_done = work.is_done(number, now())?;
    match event.recorded {
        Recorded::At(mark) if event.has_timing => {
            if is_done {
                Ok(mark.tick)
            } else {
                Err(Error::NotReady)
            }
        }
        _ => Err(Error::InvalidHandle),
    }
}
