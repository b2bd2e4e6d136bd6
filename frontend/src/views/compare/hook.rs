//! Hooks for comparisons, which ask one worker or several, and the devices that can be compared.

use crate::ask::{
    AllocationKey, CompareSide, CurveData, DiffData, FindAllocation, GetCurve, GetDiff, GetProfile, GetSteps, Hit,
    StepData,
};
use crate::hooks::use_answer;
use crate::platform::WorkerClient;
use crate::state::FileId;
use shared::analysis::Profile;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Number of columns of a curve; each shows the maximum over its moments.
const CURVE_COLUMNS: u32 = 320;

#[derive(Clone, Debug, PartialEq)]
pub struct DeviceOf {
    pub client: WorkerClient,
    pub device: u32,
}

pub type SideOf = (DeviceOf, CompareSide);

/// Difference with the profile that it was computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Devices of this side and of the other.
    pub of: [DeviceOf; 2],
    pub diff: DiffData,
    pub other: Profile,
}

#[hook]
pub fn use_steps(of: &DeviceOf) -> Option<Rc<Vec<StepData>>> {
    use_answer(of.clone(), |of| async move { of.client.ask(GetSteps { device: of.device }).await })
}

#[hook]
pub fn use_curve(of: &DeviceOf, step: Option<u32>) -> Option<Rc<CurveData>> {
    use_answer((of.clone(), step), |(of, step)| async move {
        of.client.ask(GetCurve { device: of.device, step, columns: CURVE_COLUMNS }).await
    })
}

/// Returns how the memory of two sides differs; the previous answer stays until the new one arrives.
#[hook]
pub fn use_diff(sides: Option<(SideOf, SideOf)>) -> Option<Rc<Comparison>> {
    let comparison = use_answer(sides, |sides| async move {
        let Some(((this, side), (that, that_side))) = sides else { return Ok(None) };
        let other = that.client.ask(GetProfile { device: that.device, side: that_side }).await?;
        let diff = this.client.ask(GetDiff { device: this.device, side, other: other.clone() }).await?;
        Ok(Some(Rc::new(Comparison { of: [this, that], diff, other })))
    });
    comparison.and_then(|comparison| comparison.as_ref().clone())
}

/// Calls `on_found` with the allocation's hit once its worker has found it, as if it had been clicked.
pub fn find_allocation(of: DeviceOf, key: AllocationKey, moment: u32, on_found: impl FnOnce(Hit) + 'static) {
    spawn_local(async move {
        // An error means that the file was closed in the meantime.
        if let Ok(hit) = of.client.ask(FindAllocation { device: of.device, key, moment }).await {
            on_found(hit);
        }
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: FileId,
    pub(super) device: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparable {
    pub(super) place: Place,
    pub(super) of: DeviceOf,
    pub(super) file: String,
    pub(super) index: i64,
}
