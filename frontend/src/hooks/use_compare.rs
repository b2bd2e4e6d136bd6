//! Answers about comparing, of one worker or of several.

use super::use_answer::use_answer;
use crate::platform::{AskError, WorkerClient};
use crate::worker::{
    AllocationKey, CompareAnswer, CompareQuestion, CompareSide, CurveData, DiffData, Hit, ProfileData, RankData,
    StepData,
};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// How many maxima a curve is drawn from.
const CURVE_COLUMNS: u32 = 320;

/// The same for a strip of a rank.
const STRIP_COLUMNS: u32 = 160;

/// A device of an open file.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceOf {
    /// The worker of the file.
    pub client: WorkerClient,
    /// The device, by position.
    pub device: u32,
}

/// A moment of a device of an open file.
#[derive(Clone, Debug, PartialEq)]
pub struct SideOf {
    /// The device.
    pub of: DeviceOf,
    /// The moment.
    pub side: CompareSide,
}

/// A difference with the profile that it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The devices of this side and of the other.
    pub of: [DeviceOf; 2],
    /// The difference.
    pub diff: DiffData,
    /// What the other side holds.
    pub other: ProfileData,
}

/// The steps of a device; nothing while they are looked for.
#[hook]
pub fn use_steps(of: &DeviceOf) -> Option<Rc<Vec<StepData>>> {
    use_answer(of.clone(), |of| async move {
        match of.client.compare(of.device, CompareQuestion::Steps).await? {
            CompareAnswer::Steps(steps) => Ok(steps),
            _ => Err(other_kind()),
        }
    })
}

/// The live bytes around a side: of its step, or of the whole trace.
#[hook]
pub fn use_curve(of: &DeviceOf, step: Option<u32>) -> Option<Rc<CurveData>> {
    use_answer((of.clone(), step), |(of, step)| async move {
        let question = CompareQuestion::Curve { step, columns: CURVE_COLUMNS };
        match of.client.compare(of.device, question).await? {
            CompareAnswer::Curve(curve) => Ok(curve),
            _ => Err(other_kind()),
        }
    })
}

/// What a side holds more or less than the other; the last one stays until the next one is there.
#[hook]
pub fn use_diff(sides: Option<(SideOf, SideOf)>) -> Option<Rc<Comparison>> {
    let comparison = use_answer(sides, |sides| async move {
        match sides {
            Some((this, other)) => compare(this, other).await.map(|comparison| Some(Rc::new(comparison))),
            None => Ok(None),
        }
    });
    comparison.and_then(|comparison| comparison.as_ref().clone())
}

/// What is compared of each device, in the same order.
#[hook]
pub fn use_ranks(devices: Vec<DeviceOf>) -> Option<Rc<Vec<RankData>>> {
    use_answer(devices, |devices| async move {
        let mut ranks = Vec::new();
        for of in devices {
            match of.client.compare(of.device, CompareQuestion::Rank(STRIP_COLUMNS)).await? {
                CompareAnswer::Rank(rank) => ranks.push(*rank),
                _ => return Err(other_kind()),
            }
        }
        Ok(ranks)
    })
}

/// Tells what a click on an allocation would have hit, once its worker has found it.
pub fn find_allocation(of: DeviceOf, key: AllocationKey, moment: u32, on_found: impl FnOnce(Hit) + 'static) {
    spawn_local(async move {
        // An error means that the file was closed in the meantime.
        if let Ok(hit) = of.client.find(of.device, key, moment).await {
            on_found(hit);
        }
    });
}

async fn compare(this: SideOf, other: SideOf) -> Result<Comparison, AskError> {
    let profile = other.of.client.compare(other.of.device, CompareQuestion::Profile(other.side)).await?;
    let CompareAnswer::Profile(profile) = profile else { return Err(other_kind()) };
    let question = CompareQuestion::Diff { side: this.side, other: profile.clone() };
    match this.of.client.compare(this.of.device, question).await? {
        CompareAnswer::Diff(diff) => Ok(Comparison { of: [this.of, other.of], diff: *diff, other: *profile }),
        _ => Err(other_kind()),
    }
}

fn other_kind() -> AskError {
    AskError::Refused("the answer is of another kind than the question".to_owned())
}
