//! Tests the driver as PyTorch calls it for expandable segments.

use std::ffi::c_void;

use super::virtual_memory::*;
use super::{context, memory};
use crate::error::Error;
use crate::ffi::Out;
use crate::state::memory::PAGE;
use crate::testing::{alone, fails, got, ok};

const SIZE: usize = 10 * PAGE as usize;

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    ok(memory::cuMemGetInfo_v2(Out::to(&mut free), Out::to(&mut total)));
    free
}

fn on_device(device: i32) -> Properties {
    Properties::of_device(device)
}

#[test]
fn mapped_memory_counts_and_comes_back() {
    let _alone = alone();
    let before = free_bytes();
    let mut properties = on_device(0);
    let handle = got(0, |handle| cuMemCreate(handle, SIZE, Out::to(&mut properties), 0));
    assert_eq!(before - free_bytes(), SIZE);
    let start = got(0, |address| cuMemAddressReserve(address, 4 * SIZE, 0, 0, 0));
    ok(cuMemMap(start, SIZE, 0, handle, 0));
    ok(cuMemSetAccess(start, SIZE, (&raw const properties).cast::<c_void>(), 1));
    assert_eq!(got(9, |device| memory::cuPointerGetAttribute(device.into_raw().cast(), 9, start)), 0);
    assert_eq!(got(0_u64, |size| memory::cuPointerGetAttribute(size.into_raw().cast(), 12, start + 5)), SIZE as u64);
    ok(cuMemRelease(handle));
    assert_eq!(before - free_bytes(), SIZE, "it is still mapped");
    ok(cuMemUnmap(start, SIZE));
    assert_eq!(free_bytes(), before);
    ok(cuMemAddressFree(start, 4 * SIZE));
}

#[test]
fn memory_beyond_the_card_is_refused() {
    let _alone = alone();
    let mut properties = on_device(0);
    let mut handle = 0;
    let too_much = (free_bytes() / SIZE + 1) * SIZE;
    fails(cuMemCreate(Out::to(&mut handle), too_much, Out::to(&mut properties), 0), Error::OutOfMemory);
    let mut elsewhere = on_device(7);
    fails(cuMemCreate(Out::to(&mut handle), SIZE, Out::to(&mut elsewhere), 0), Error::InvalidDevice);
}

#[test]
fn memory_for_other_machines_is_not_permitted() {
    let _alone = alone();
    let mut handle = 0;
    for (handle_types, code) in [(8, Error::NotPermitted.code()), (1, 0)] {
        let mut properties = Properties { handle_types, ..on_device(0) };
        assert_eq!(cuMemCreate(Out::to(&mut handle), SIZE, Out::to(&mut properties), 0), code);
    }
    let mut file = 0_u64;
    fails(cuMemExportToShareableHandle((&raw mut file).cast(), handle, 1, 0), Error::NotPermitted);
    ok(cuMemRelease(handle));
}

#[test]
fn a_context_belongs_to_its_device() {
    let _alone = alone();
    let context = got(std::ptr::null_mut(), |context| context::cuDevicePrimaryCtxRetain(context, 1));
    ok(context::cuCtxSetCurrent(context));
    assert_eq!(got(0, |device| context::cuCtxGetDevice(device)), 1);
    fails(context::cuCtxSetCurrent(0x1234 as _), Error::InvalidContext);
}
