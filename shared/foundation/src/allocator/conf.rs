//! Parses and writes `PYTORCH_CUDA_ALLOC_CONF`: `key:value` pairs with commas between, lists in brackets.

use std::fmt;

use super::settings::{ROUNDUP_INTERVALS, Settings, TorchVersion};

const MIB: u64 = 1 << 20;

/// Error of a `PYTORCH_CUDA_ALLOC_CONF` that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfError {
    /// PyTorch would refuse the option.
    Invalid {
        key: String,
        /// What is wrong and which values are allowed.
        message: String,
    },
    /// PyTorch has the option, but this model does not follow it.
    NotModelled {
        /// The option with its value.
        option: String,
    },
    /// The snapshot is of a device whose allocator has other rules.
    OtherAllocator {
        /// Kind of the device with its article, such as `an XPU`.
        device: &'static str,
    },
}

impl fmt::Display for ConfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { key, message } => write!(f, "The allocator setting `{key}` is invalid: {message}."),
            Self::NotModelled { option } => {
                write!(f, "The allocator setting `{option}` is not modeled, so a replay would be wrong. Remove it.")
            }
            Self::OtherAllocator { device } => write!(
                f,
                "The snapshot is of {device}, whose allocator is not modeled, so a replay with CUDA's rules would be wrong."
            ),
        }
    }
}

impl std::error::Error for ConfError {}

fn invalid<T>(key: &str, message: impl Into<String>) -> Result<T, ConfError> {
    Err(ConfError::Invalid { key: key.to_owned(), message: message.into() })
}

impl Settings {
    /// Parses `PYTORCH_CUDA_ALLOC_CONF`, such as `max_split_size_mb:128,expandable_segments:True`.
    ///
    /// # Errors
    /// Returns an error if PyTorch would refuse the text, or if an option changes device memory but is not modelled.
    pub fn parse(conf: &str, version: TorchVersion) -> Result<Self, ConfError> {
        let mut settings = Self { version, ..Self::default() };
        let compact: String = conf.chars().filter(|c| !c.is_whitespace()).collect();
        let options: Vec<(&str, &str)> =
            options(&compact).map(|option| key_and_value(option)).collect::<Result<_, _>>()?;
        // The segment size is the lower bound of two other options, so it is read first, wherever it stands.
        if let Some((key, value)) = options.iter().find(|(key, _)| *key == "large_segment_size_mb") {
            settings.large_segment_bytes = mebibytes(key, value, 11)?;
            settings.max_non_split_rounding_bytes = settings.large_segment_bytes;
        }
        for (key, value) in options {
            set(&mut settings, key, value)?;
        }
        Ok(settings)
    }

    /// Parses other settings for the same release and device.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn with_conf(&self, conf: &str) -> Result<Self, ConfError> {
        Ok(Self { padding_bytes: self.padding_bytes, ..Self::parse(conf, self.version)? })
    }

    /// Writes the text that parses to these settings; empty for the default ones.
    pub fn to_conf(&self) -> String {
        let Self {
            version: _,
            padding_bytes: _,
            max_split_bytes,
            max_non_split_rounding_bytes,
            large_segment_bytes,
            roundup_power2_divisions,
            garbage_collection_threshold,
            per_process_memory_fraction,
            expandable_segments,
        } = self;
        let default = Self::default();
        let is_large_set = *large_segment_bytes != default.large_segment_bytes;
        let is_rounding_set = max_non_split_rounding_bytes != large_segment_bytes;
        let rounding_mib = max_non_split_rounding_bytes / MIB;
        let (divisions, no_divisions) = (roundup_power2_divisions, default.roundup_power2_divisions);
        let given = |is_set: bool, key: &str, value: &dyn fmt::Display| is_set.then(|| format!("{key}:{value}"));
        let options = [
            given(*expandable_segments, "expandable_segments", &"True"),
            given(is_large_set, "large_segment_size_mb", &(large_segment_bytes / MIB)),
            given(max_split_bytes.is_some(), "max_split_size_mb", &(max_split_bytes.unwrap_or(0) / MIB)),
            given(is_rounding_set, "max_non_split_rounding_mb", &rounding_mib),
            given(*divisions != no_divisions, "roundup_power2_divisions", &write_divisions(divisions)),
            given(*garbage_collection_threshold > 0.0, "garbage_collection_threshold", garbage_collection_threshold),
            given(*per_process_memory_fraction < 1.0, "per_process_memory_fraction", per_process_memory_fraction),
        ];
        options.into_iter().flatten().collect::<Vec<_>>().join(",")
    }
}

/// Splits a `PYTORCH_CUDA_ALLOC_CONF` into its options, as written; commas inside brackets do not end one.
pub fn options(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let is_end = move |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    };
    text.split(is_end).filter(|option| !option.trim().is_empty())
}

fn key_and_value(option: &str) -> Result<(&str, &str), ConfError> {
    match option.split_once(':') {
        Some((key, value)) if !value.is_empty() => Ok((key, value)),
        _ => invalid(option, "a colon and a value are missing"),
    }
}

/// Options that are newer than PyTorch 2.1, each with the release that added it.
const SINCE: [(&str, TorchVersion); 2] =
    [("large_segment_size_mb", TorchVersion(2, 11)), ("per_process_memory_fraction", TorchVersion(2, 10))];

fn set(settings: &mut Settings, key: &str, value: &str) -> Result<(), ConfError> {
    if let Some((_, since)) = SINCE.iter().find(|(name, since)| *name == key && settings.version < *since) {
        return invalid(key, format!("PyTorch has it since version {}.{}", since.0, since.1));
    }
    let large_mib = settings.large_segment_bytes / MIB;
    match key {
        "large_segment_size_mb" => {}
        "max_split_size_mb" => settings.max_split_bytes = Some(mebibytes(key, value, large_mib)?),
        "max_non_split_rounding_mb" => settings.max_non_split_rounding_bytes = mebibytes(key, value, large_mib)?,
        "garbage_collection_threshold" => settings.garbage_collection_threshold = fraction(key, value, false)?,
        "per_process_memory_fraction" => settings.per_process_memory_fraction = fraction(key, value, true)?,
        "roundup_power2_divisions" => settings.roundup_power2_divisions = divisions(key, value)?,
        "expandable_segments" => settings.expandable_segments = switch(key, value)?,
        "backend" if value == "native" => {}
        "graph_capture_record_stream_reuse" | "throw_on_cudamalloc_oom" if !switch(key, value)? => {}
        // These don't change device memory as long as requests come one at a time.
        "release_lock_on_cudamalloc" | "release_lock_on_hipmalloc" => {}
        _ if key.starts_with("pinned_") => {}
        "backend"
        | "graph_capture_record_stream_reuse"
        | "throw_on_cudamalloc_oom"
        | "expandable_segments_reserve"
        | "expandable_segments_reserve_by_class" => {
            return Err(ConfError::NotModelled { option: format!("{key}:{value}") });
        }
        _ => return invalid(key, "PyTorch has no option with this name"),
    }
    Ok(())
}

fn switch(key: &str, value: &str) -> Result<bool, ConfError> {
    match value {
        "True" => Ok(true),
        "False" => Ok(false),
        _ => invalid(key, format!("`{value}` is neither `True` nor `False`")),
    }
}

fn mebibytes(key: &str, value: &str, least: u64) -> Result<u64, ConfError> {
    match value.parse::<u64>() {
        Ok(mib) if mib >= least && mib < 1 << 40 => Ok(mib * MIB),
        _ => invalid(key, format!("`{value}` is not a whole number of mebibytes, {least} or more")),
    }
}

fn fraction(key: &str, value: &str, one_is_fine: bool) -> Result<f64, ConfError> {
    match value.parse::<f64>() {
        Ok(number) if number > 0.0 && (number < 1.0 || one_is_fine && number == 1.0) => Ok(number),
        _ => invalid(key, format!("`{value}` is not a number between 0 and 1")),
    }
}

/// Parses one number for all sizes, or a list such as `[64:8,256:4,>:2]` with sizes in mebibytes.
///
/// The first number of a list also holds for all smaller sizes, one after `>` for all larger ones.
/// Sizes between the listed ones get 0: they are rounded to 512 bytes only.
fn divisions(key: &str, value: &str) -> Result<[u64; ROUNDUP_INTERVALS], ConfError> {
    let Some(list) = value.strip_prefix('[').and_then(|list| list.strip_suffix(']')) else {
        return Ok([parts(key, value)?; ROUNDUP_INTERVALS]);
    };
    let mut table = [0; ROUNDUP_INTERVALS];
    let mut last = None;
    for item in list.split(',') {
        let Some((size, value)) = item.split_once(':') else {
            return invalid(key, format!("`{item}` has no colon"));
        };
        let value = if value == "0" { 0 } else { parts(key, value)? };
        if size == ">" {
            table[last.map_or(0, |last: usize| last + 1)..].fill(value);
            continue;
        }
        let size = parts(key, size)?;
        let index = (size.ilog2() as usize).min(ROUNDUP_INTERVALS - 1);
        if last.is_none() {
            table[..index].fill(value);
        }
        table[index] = value;
        last = Some(index);
    }
    Ok(table)
}

/// Parses a power of two.
fn parts(key: &str, value: &str) -> Result<u64, ConfError> {
    match value.parse::<u64>() {
        Ok(number) if number.is_power_of_two() => Ok(number),
        _ => invalid(key, format!("`{value}` is not a power of two")),
    }
}

fn write_divisions(table: &[u64; ROUNDUP_INTERVALS]) -> String {
    if table[0] > 0 && table.iter().all(|value| *value == table[0]) {
        return table[0].to_string();
    }
    let items: Vec<_> = table.iter().enumerate().map(|(index, value)| format!("{}:{value}", 1_u64 << index)).collect();
    format!("[{}]", items.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn parsed(conf: &str) -> Settings {
        let settings = Settings::parse(conf, TorchVersion::default()).unwrap();
        assert_eq!(
            Settings::parse(&settings.to_conf(), TorchVersion::default()),
            Ok(settings.clone()),
            "{}",
            settings.to_conf()
        );
        settings
    }

    #[test]
    fn options_are_read_and_written() {
        assert_eq!(parsed(""), Settings::default());
        let all = "max_split_size_mb:128, garbage_collection_threshold:0.8,expandable_segments:True,\
                   per_process_memory_fraction:0.5,large_segment_size_mb:32,max_non_split_rounding_mb:64";
        let settings = parsed(all);
        assert_eq!(settings.max_split_bytes, Some(128 * MIB));
        assert_eq!(settings.max_non_split_rounding_bytes, 64 * MIB);
        assert_eq!(settings.large_segment_bytes, 32 * MIB);
        assert_eq!((settings.garbage_collection_threshold, settings.per_process_memory_fraction), (0.8, 0.5));
        assert!(settings.expandable_segments);
        assert_eq!(parsed("large_segment_size_mb:32").max_non_split_rounding_bytes, 32 * MIB);
    }

    #[test]
    fn divisions_are_one_number_or_a_list() {
        assert_eq!(parsed("roundup_power2_divisions:4").roundup_power2_divisions, [4; 16]);
        let listed = parsed("roundup_power2_divisions:[64:8,256:4,>:2]").roundup_power2_divisions;
        assert_eq!(listed, [8, 8, 8, 8, 8, 8, 8, 0, 4, 2, 2, 2, 2, 2, 2, 2]);
    }

    #[track_caller]
    fn check_refused(conf: &str, message: &str) {
        let error = Settings::parse(conf, TorchVersion::default()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }

    #[test]
    fn what_is_wrong_or_not_modelled_is_named() {
        check_refused("max_split_size_mb:19", "`max_split_size_mb` is invalid: `19` is not a whole number");
        check_refused("expandable_segments:true", "neither `True` nor `False`");
        check_refused("roundup_power2_divisions:[3:4]", "`3` is not a power of two");
        check_refused("garbage_collection_threshold:1", "between 0 and 1");
        check_refused("max_split", "a colon and a value are missing");
        check_refused("no_such_option:1", "no option with this name");
        check_refused("backend:cudaMallocAsync", "`backend:cudaMallocAsync` is not modeled");
        check_refused("throw_on_cudamalloc_oom:True", "`throw_on_cudamalloc_oom:True` is not modeled");
        let error = Settings::parse("large_segment_size_mb:32", TorchVersion(2, 10)).unwrap_err();
        assert!(error.to_string().contains("since version 2.11"), "{error}");
        assert_eq!(parsed("backend:native,pinned_use_background_threads:True"), Settings::default());
    }
}
