//! Implements CUPTI, as far as PyTorch's profiler calls it.
//!
//! A profile with CUDA activities completes and has the events of the host; there are no events of devices.

use std::ffi::{c_char, c_int};

use crate::answers::creators;
use crate::ffi::{Handle, Out};
use crate::stub::{harmless, unmodelled};
use crate::versions::versions;

/// `CUPTI_ERROR_MAX_LIMIT_REACHED`, which means that there are no more records.
const NO_MORE_RECORDS: c_int = 12;

#[unsafe(no_mangle)]
extern "C" fn cuptiGetVersion(version: Out<u32>) -> c_int {
    version.put_if_wanted(versions().cupti_number());
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuptiGetResultString(result: c_int, text: Out<*const c_char>) -> c_int {
    let known = match result {
        0 => c"CUPTI_SUCCESS",
        NO_MORE_RECORDS => c"CUPTI_ERROR_MAX_LIMIT_REACHED",
        _ => c"CUPTI_ERROR_UNKNOWN",
    };
    text.put_if_wanted(known.as_ptr());
    0
}

creators! { cuptiSubscribe }

harmless! {
    cuptiActivityDisable, cuptiActivityEnable, cuptiActivityEnableCudaEventDeviceTimestamps,
    cuptiActivityEnableDriverApi, cuptiActivityEnableRuntimeApi, cuptiActivityFlushAll,
    cuptiActivityPushExternalCorrelationId, cuptiActivityRegisterCallbacks, cuptiActivityRegisterTimestampCallback,
    cuptiActivitySetAttribute, cuptiEnableCallback, cuptiEnableDomain, cuptiFinalize, cuptiUnsubscribe,
}

// Counters of the hardware, which PyTorch's profiler reads up to 2.6; 27 is `CUPTI_ERROR_NOT_SUPPORTED`.
unmodelled! { "cupti", 27 =>
    cuptiEventGetAttribute, cuptiEventGetIdFromName, cuptiEventGroupGetAttribute, cuptiEventGroupReadEvent,
    cuptiEventGroupSetAttribute, cuptiEventGroupSetDisable, cuptiEventGroupSetEnable, cuptiEventGroupSetsCreate,
    cuptiEventGroupSetsDestroy, cuptiGetDeviceId, cuptiMetricEnumEvents, cuptiMetricGetAttribute,
    cuptiMetricGetIdFromName, cuptiMetricGetNumEvents, cuptiMetricGetValue, cuptiSetEventCollectionMode,
}

/// Returns an empty name, because no callback is ever called.
#[unsafe(no_mangle)]
extern "C" fn cuptiGetCallbackName(_domain: c_int, _callback: u32, name: Out<*const c_char>) -> c_int {
    name.put_if_wanted(c"".as_ptr());
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuptiActivityGetNextRecord(_buffer: Handle, _size: usize, record: Out<Handle>) -> c_int {
    record.put_if_wanted(std::ptr::null_mut());
    NO_MORE_RECORDS
}

#[unsafe(no_mangle)]
extern "C" fn cuptiActivityGetNumDroppedRecords(_context: Handle, _stream: u32, dropped: Out<usize>) -> c_int {
    dropped.put_if_wanted(0);
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuptiActivityPopExternalCorrelationId(_kind: c_int, last: Out<u64>) -> c_int {
    last.put_if_wanted(0);
    0
}
