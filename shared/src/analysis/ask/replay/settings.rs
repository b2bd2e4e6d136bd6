//! Reads the allocator's settings under which a snapshot was recorded.

use crate::allocator::{ConfError, Settings, TorchVersion};
use crate::analysis::track::timeline::Timeline;
use crate::trace::{Accelerator, Action, Device, NPU_PADDING_BYTES, Setting, Trace};

/// Returns the bytes that the allocator could have had, if the trace has an out-of-memory event.
///
/// They are the reserved bytes and the free bytes of the device at the first such event, without the memory of other
/// processes. If the request is not larger than the free bytes, the program had set a limit below the device's memory.
pub fn recorded_capacity(device: &Device, timeline: &Timeline) -> Option<u64> {
    let event = device.events.actions().iter().position(|action| action == Action::Oom)?;
    let (free_bytes, asked_bytes) = (device.events.addrs().at(event), device.events.sizes_bytes().at(event));
    let usable_bytes = free_bytes.min(asked_bytes.saturating_sub(1));
    Some(timeline.reserved_at(event as u32).saturating_add(usable_bytes))
}

/// Returns the earliest release that could have recorded a snapshot, as far as its settings tell; `None` before 2.9.
///
/// A snapshot doesn't name its release, but some releases introduced settings.
pub fn recorded_version(trace: &Trace) -> Option<TorchVersion> {
    let since =
        [("max_round_threshold", TorchVersion(2, 13)), ("graph_capture_record_stream_reuse", TorchVersion(2, 9))];
    since.into_iter().find(|(name, _)| trace.settings.get(name).is_some()).map(|(_, version)| version)
}

/// Returns the environment variable from which the PyTorch of a snapshot reads its settings.
///
/// For CUDA it has a new name from release 2.10 on, but the old one still works, and is used if the release is unknown.
pub fn settings_variable(trace: &Trace) -> &'static str {
    let is_new = recorded_version(trace).is_some_and(|version| version >= TorchVersion(2, 10));
    match Accelerator::of(trace) {
        Accelerator::Cuda if is_new => "PYTORCH_ALLOC_CONF",
        accelerator => accelerator.variable(),
    }
}

/// Returns PyTorch's default settings in the release and on the kind of device of a snapshot.
///
/// # Errors
/// Returns an error if the allocator of that kind of device is not modelled.
pub fn default_settings(trace: &Trace) -> Result<Settings, ConfError> {
    let padding_bytes = match Accelerator::of(trace) {
        Accelerator::Cuda => 0,
        // The rest is as for CUDA: of real snapshots, every driver call and every address is the same.
        Accelerator::Npu => NPU_PADDING_BYTES,
        Accelerator::Xpu => return Err(ConfError::OtherAllocator { device: "an XPU" }),
    };
    let version = recorded_version(trace).unwrap_or_default().max(TorchVersion::default());
    Ok(Settings { version, padding_bytes, ..Settings::default() })
}

/// Returns the settings that a snapshot names, and PyTorch's defaults for all others.
///
/// The text of `PYTORCH_CUDA_ALLOC_CONF` is read first, because limits that the table of values omits are only there.
/// The values follow, because a later call may have changed them.
///
/// # Errors
/// Returns an error that names the setting if one is not modelled.
pub fn recorded_settings(trace: &Trace) -> Result<Settings, ConfError> {
    let default = default_settings(trace)?;
    let recorded = &trace.settings;
    let mut settings = match recorded.get(Accelerator::of(trace).variable()) {
        Some(Setting::Text(conf)) => default.with_conf(conf)?,
        _ => Settings { expandable_segments: is_all_expandable(trace), ..default },
    };
    if let Some(Setting::Int(limit)) = recorded.get("max_split_size") {
        settings.max_split_bytes = u64::try_from(*limit).ok();
    }
    if let Some(Setting::Float(threshold)) = recorded.get("garbage_collection_threshold") {
        settings.garbage_collection_threshold = *threshold;
    }
    if let Some(Setting::Bool(is_on)) = recorded.get("expandable_segments") {
        settings.expandable_segments = *is_on;
    }
    if let Some(Setting::Table(divisions)) = recorded.get("roundup_power2_divisions") {
        for (size_mib, value) in divisions {
            let interval = size_mib.parse::<u64>().ok().filter(|size| size.is_power_of_two());
            let slot = interval.and_then(|size| settings.roundup_power2_divisions.get_mut(size.ilog2() as usize));
            if let (Some(slot), Ok(value)) = (slot, u64::try_from(*value)) {
                *slot = value;
            }
        }
    }
    Ok(settings)
}

/// Returns true if segments tell that they grow by pages, of which a snapshot without settings has no other sign.
fn is_all_expandable(trace: &Trace) -> bool {
    let mut segments = trace.devices.iter().flat_map(|device| &device.segments.segments).peekable();
    segments.peek().is_some() && segments.all(|segment| segment.is_expandable == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Settings as Recorded;

    fn trace(entries: &[(&str, Setting)]) -> Trace {
        let entries = entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Trace { settings: Recorded { entries }, ..Trace::default() }
    }

    #[test]
    fn values_are_stronger_than_the_text() {
        assert_eq!(recorded_settings(&trace(&[])), Ok(Settings::default()));
        let conf = Setting::Text("expandable_segments:True,per_process_memory_fraction:0.5".to_owned());
        let settings = recorded_settings(&trace(&[
            ("PYTORCH_CUDA_ALLOC_CONF", conf),
            ("expandable_segments", Setting::Bool(false)),
            ("max_split_size", Setting::Int(128 << 20)),
            ("roundup_power2_divisions", Setting::Table(vec![("1".to_owned(), 4), ("32768".to_owned(), 2)])),
        ]))
        .unwrap();
        assert_eq!((settings.expandable_segments, settings.per_process_memory_fraction), (false, 0.5));
        assert_eq!(settings.max_split_bytes, Some(128 << 20));
        assert_eq!((settings.roundup_power2_divisions[0], settings.roundup_power2_divisions[15]), (4, 2));
    }

    #[test]
    fn settings_tell_the_release() {
        let of = |name: &str| trace(&[(name, Setting::Int(-1))]);
        assert_eq!(recorded_version(&of("max_split_size")), None);
        assert_eq!(settings_variable(&of("max_split_size")), "PYTORCH_CUDA_ALLOC_CONF");
        assert_eq!(settings_variable(&of("max_round_threshold")), "PYTORCH_ALLOC_CONF");
        assert_eq!(recorded_version(&of("graph_capture_record_stream_reuse")), Some(TorchVersion(2, 9)));
        assert_eq!(recorded_version(&of("max_round_threshold")), Some(TorchVersion(2, 13)));
        // Of the releases that can't be told apart, the newest one whose rules are all known is assumed.
        assert_eq!(recorded_settings(&of("graph_capture_record_stream_reuse")).unwrap().version, TorchVersion(2, 11));
        assert!(recorded_settings(&of("max_round_threshold")).unwrap().version.orders_by_segment());
    }

    #[test]
    fn each_kind_of_device_has_its_own_allocator() {
        let named = |name: &str| trace(&[(name, Setting::Text("max_split_size_mb:64".to_owned()))]);
        let of_npu = recorded_settings(&named("PYTORCH_NPU_ALLOC_CONF")).unwrap();
        assert_eq!((of_npu.padding_bytes, of_npu.max_split_bytes), (32, Some(64 << 20)));
        assert_eq!(of_npu.with_conf("").unwrap().padding_bytes, 32, "whatever the settings");
        let error = recorded_settings(&named("PYTORCH_ALLOC_CONF")).unwrap_err();
        assert_eq!(error, ConfError::OtherAllocator { device: "an XPU" });
    }

    #[test]
    fn what_is_not_modelled_is_refused() {
        let conf = Setting::Text("backend:cudaMallocAsync".to_owned());
        let error = recorded_settings(&trace(&[("PYTORCH_CUDA_ALLOC_CONF", conf)])).unwrap_err();
        assert!(error.to_string().contains("backend:cudaMallocAsync"), "{error}");
    }
}
