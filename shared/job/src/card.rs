//! GPU models, with the properties that a virtual GPU reports.
//!
//! The table is here and not beside the virtual GPU, because configs are checked against it where there is no virtual
//! GPU, and the page shows it.

use std::fmt;
use std::iter;

use super::nearest::did_you_mean;
use foundation::base::ShortSort;
use foundation::base::format;
use foundation::base::size;

/// A GPU model.
///
/// Total memory is what PyTorch's out-of-memory messages report, a little less than the nominal size.
/// It differs by up to 0.3 % with the driver and with ECC; [`Card::named`] accepts for example `custom:79.25GiB`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Name on the command line: `h100-80gb`, `custom:48GiB`.
    pub name: String,
    /// Name that the driver reports: `NVIDIA H100 80GB HBM3`.
    pub product: String,
    /// Total memory, in bytes.
    pub memory_bytes: u64,
    /// Compute capability, which decides workspaces and kernels.
    pub capability: ComputeCapability,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Resident threads per multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Level-two cache, in bytes.
    pub l2_bytes: u64,
    /// Shared memory that a thread block can request, in bytes.
    pub shared_memory_per_block_bytes: u32,
    /// Memory that a CUDA context takes outside of the allocator, in bytes: measured, or [`Card::TYPICAL_CONTEXT_BYTES`].
    pub context_bytes: u64,
}

/// A compute capability, such as 9.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComputeCapability {
    pub major: u8,
    pub minor: u8,
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A named card as the tables have it.
struct Row {
    name: &'static str,
    product: &'static str,
    capability: (u8, u8),
    memory_bytes: u64,
    /// Multiprocessors, threads per multiprocessor, L2 cache in MiB, and shared memory per block in KiB.
    processors: [u32; 4],
    context_mib: u64,
}

const MIB: u64 = 1 << 20;

/// Memory of a context that was not measured, in MiB.
const TYPICAL: u64 = Card::TYPICAL_CONTEXT_BYTES / MIB;

const fn row(
    name: &'static str,
    product: &'static str,
    capability: (u8, u8),
    memory_bytes: u64,
    processors: [u32; 4],
    context_mib: u64,
) -> Row {
    Row { name, product, capability, memory_bytes, processors, context_mib }
}

/// The named cards, sorted by nominal memory.
///
/// Total memory comes from `torch.cuda.get_device_properties` and from out-of-memory messages in public issues, the
/// most frequent value of recent drivers; the rest is from NVIDIA's CUDA programming guide and the cards' data sheets.
/// Contexts are what is left of the total in out-of-memory messages of real runs of which all else is known.
const TABLE: &[Row] = &[
    row("t4-16gb", "Tesla T4", (7, 5), 14_930 * MIB, [40, 1024, 4, 64], TYPICAL),
    row("l4-24gb", "NVIDIA L4", (8, 9), 22_563 * MIB, [58, 1536, 48, 99], TYPICAL),
    row("rtx4090-24gb", "NVIDIA GeForce RTX 4090", (8, 9), 24_210 * MIB, [128, 1536, 72, 99], 480),
    row("rtx5090-32gb", "NVIDIA GeForce RTX 5090", (12, 0), 33_680_457_728, [170, 1536, 96, 99], 660),
    row("v100-32gb", "Tesla V100-SXM2-32GB", (7, 0), 32_510 * MIB, [80, 2048, 6, 96], TYPICAL),
    row("a100-40gb", "NVIDIA A100-SXM4-40GB", (8, 0), 42_298_834_944, [108, 2048, 40, 163], TYPICAL),
    row("l40s-48gb", "NVIDIA L40S", (8, 9), 45_457 * MIB, [142, 1536, 96, 99], TYPICAL),
    row("a100-80gb", "NVIDIA A100-SXM4-80GB", (8, 0), 81_050 * MIB, [108, 2048, 40, 163], TYPICAL),
    row("h100-80gb", "NVIDIA H100 80GB HBM3", (9, 0), 81_002 * MIB, [132, 2048, 50, 227], TYPICAL),
    row("rtxpro6000-96gb", RTX_PRO_6000, (12, 0), 97_250 * MIB, [188, 1536, 128, 99], 660),
    row("h200-141gb", "NVIDIA H200", (9, 0), 143_156 * MIB, [132, 2048, 60, 227], TYPICAL),
    row("b200-180gb", "NVIDIA B200", (10, 0), 182_642 * MIB, [148, 2048, 126, 227], TYPICAL),
];

const RTX_PRO_6000: &str = "NVIDIA RTX PRO 6000 Blackwell Server Edition";

/// Cards that are taken by name and listed, but not tried by themselves where all cards are: others stand for them.
const MORE: &[Row] = &[
    row("rtx4060-8gb", "NVIDIA GeForce RTX 4060", (8, 9), 7_813 * MIB, [24, 1536, 24, 99], TYPICAL),
    row("rtx3080-10gb", "NVIDIA GeForce RTX 3080", (8, 6), 10_015 * MIB, [68, 1536, 5, 99], TYPICAL),
    row("rtx2080ti-11gb", "NVIDIA GeForce RTX 2080 Ti", (7, 5), 11_018 * MIB, [68, 1024, 5, 64], TYPICAL),
    row("rtx3060-12gb", "NVIDIA GeForce RTX 3060", (8, 6), 12_042 * MIB, [28, 1536, 3, 99], TYPICAL),
    row("v100-16gb", "Tesla V100-SXM2-16GB", (7, 0), 16_148 * MIB, [80, 2048, 6, 96], TYPICAL),
    row("rtx4080-16gb", "NVIDIA GeForce RTX 4080", (8, 9), 16_067 * MIB, [76, 1536, 64, 99], TYPICAL),
    row("a10g-24gb", "NVIDIA A10G", (8, 6), 22_589 * MIB, [80, 1536, 6, 99], TYPICAL),
    row("rtx3090-24gb", "NVIDIA GeForce RTX 3090", (8, 6), 24_126 * MIB, [82, 1536, 6, 99], TYPICAL),
    row("a40-48gb", "NVIDIA A40", (8, 6), 45_496 * MIB, [84, 1536, 6, 99], TYPICAL),
    row("rtxa6000-48gb", "NVIDIA RTX A6000", (8, 6), 48_671 * MIB, [84, 1536, 6, 99], TYPICAL),
];

/// Default card: the most common one for training.
const DEFAULT: &str = "a100-80gb";

/// Capabilities of custom cards, each with the named card that provides the other properties.
///
/// 8.6 is that of desktop cards before 8.9, which has the same multiprocessors.
const KIN: &[((u8, u8), &str)] = &[
    ((7, 0), "v100-32gb"),
    ((7, 5), "t4-16gb"),
    ((8, 0), DEFAULT),
    ((8, 6), "l40s-48gb"),
    ((8, 9), "l40s-48gb"),
    ((9, 0), "h100-80gb"),
    ((10, 0), "b200-180gb"),
    ((12, 0), "rtx5090-32gb"),
];

/// Most memory of a custom card: the virtual GPU reserves that much address space for each card.
const MOST_MEMORY_BYTES: u64 = 1 << 40;

/// Least memory of a custom card: a CUDA context alone takes more than any smaller one has.
const LEAST_MEMORY_BYTES: u64 = 256 * MIB;

/// Error of a text that names no card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardError(String);

impl fmt::Display for CardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CardError {}

impl Card {
    /// Memory of a CUDA context on a card for which it was not measured: real ones take 0.3 to 0.7 GB, depending on the
    /// driver, the card and the kernels that were loaded.
    pub const TYPICAL_CONTEXT_BYTES: u64 = 512 * MIB;

    /// Returns the cards that are tried where no card is named, sorted by nominal memory.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(Self::from_row)
    }

    /// Returns all cards that have a name, sorted by memory.
    pub fn named_cards() -> Vec<Self> {
        let mut cards: Vec<Self> = rows().map(Self::from_row).collect();
        cards.short_sort_by_key(|card| card.memory_bytes);
        cards
    }

    /// Returns the card with this name, which may lack the memory if no other card begins so (`h100`, `3090`), or the custom card that `custom:48GiB` or `custom:48GiB:9.0` describes.
    ///
    /// A custom card without a capability has that of an A100; `custom:48GiB:l4-24gb` is an L4 with more memory.
    ///
    /// # Errors
    ///
    /// Returns an error with the nearest name if the text is neither.
    pub fn named(text: &str) -> Result<Self, CardError> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("custom:") {
            return Self::custom(rest);
        }
        let lower = text.to_ascii_lowercase();
        let is_short = |row: &&Row| {
            let (model, _) = row.name.split_once('-').unwrap_or((row.name, ""));
            model == lower || model.strip_prefix("rtx") == Some(&lower)
        };
        let alike: Vec<&Row> = rows().filter(is_short).collect();
        match (rows().find(|row| row.name == lower), alike.as_slice()) {
            (Some(row), _) | (None, &[row]) => Ok(Self::from_row(row)),
            (None, []) => Err(unknown(text)),
            (None, several) => {
                let names = several.iter().map(|row| row.name).collect::<Vec<_>>().join(" or ");
                Err(CardError(format!("`{}` has several sizes: write {names}", short(text))))
            }
        }
    }

    /// Returns the card that these bytes are the memory of, or nearly: a context and other processes may take a part.
    ///
    /// A size that no named card has makes a custom one; `None` if it is too small or too large for one.
    pub fn of_memory(bytes: u64) -> Option<Self> {
        let has = |card: &Self| card.memory_bytes >= bytes && card.memory_bytes - bytes <= card.memory_bytes / 16;
        let named = Self::all().filter(has).min_by_key(|card| card.memory_bytes);
        named.or_else(|| Self::named(&format!("custom:{}MiB", bytes / MIB)).ok())
    }

    fn from_row(row: &Row) -> Self {
        let Row { name, product, capability: (major, minor), memory_bytes, processors, context_mib } = *row;
        let [multiprocessors, threads_per_multiprocessor, l2_mib, shared_kib] = processors;
        Self {
            name: name.to_owned(),
            product: product.to_owned(),
            memory_bytes,
            capability: ComputeCapability { major, minor },
            multiprocessors,
            threads_per_multiprocessor,
            l2_bytes: u64::from(l2_mib) * MIB,
            shared_memory_per_block_bytes: shared_kib * 1024,
            context_bytes: context_mib * MIB,
        }
    }

    /// Parses the text after `custom:`; the name of the card is written as [`Card::named`] reads it.
    fn custom(text: &str) -> Result<Self, CardError> {
        let mut parts = text.splitn(2, ':').map(str::trim);
        let (size_text, capability_text) = (parts.next().unwrap_or_default(), parts.next());
        let memory_bytes = size::parse(size_text).ok_or_else(|| {
            CardError(format!("`{}` is not a memory size; for example, write `custom:48GiB`", short(size_text)))
        })?;
        if !(LEAST_MEMORY_BYTES..=MOST_MEMORY_BYTES).contains(&memory_bytes) {
            let (least, most) = (format::bytes(LEAST_MEMORY_BYTES), format::bytes(MOST_MEMORY_BYTES));
            return Err(CardError(format!("a custom card must have {least} to {most}, not `{}`", short(size_text))));
        }
        let (capability, kin) = capability_text.map_or(Ok(((8, 0), DEFAULT)), find_kin)?;
        let kin = rows().find(|row| row.name == kin).expect("each kin is in the table");
        let name = ["custom", size_text].into_iter().chain(capability_text).collect::<Vec<_>>().join(":");
        let (major, minor) = capability;
        Ok(Self {
            name,
            product: format!("Virtual GPU {}", format::bytes(memory_bytes)),
            memory_bytes,
            capability: ComputeCapability { major, minor },
            ..Self::from_row(kin)
        })
    }
}

impl Card {
    /// Memory that is left to PyTorch's allocator, in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.memory_bytes - self.context_bytes.min(self.memory_bytes)
    }

    /// Returns a card that is the same but for the memory, of which there is a least and a most.
    #[must_use]
    pub fn with_memory(&self, memory_bytes: u64) -> Self {
        let memory_mib = memory_bytes.clamp(LEAST_MEMORY_BYTES, MOST_MEMORY_BYTES) / MIB;
        let kin = self.name.strip_prefix("custom:").map_or(Some(&*self.name), |text| Some(text.split_once(':')?.1));
        let kin = kin.map_or_else(String::new, |kin| format!(":{kin}"));
        Self { name: format!("custom:{memory_mib}MiB{kin}"), memory_bytes: memory_mib * MIB, ..self.clone() }
    }
}

impl Default for Card {
    fn default() -> Self {
        Self::named(DEFAULT).expect("the default card is in the table")
    }
}

/// Parses a capability, and returns it with the named card that provides the other properties.
fn find_kin(text: &str) -> Result<((u8, u8), &'static str), CardError> {
    if let Some(row) = rows().find(|row| row.name == text) {
        return Ok((row.capability, row.name));
    }
    let written = |(major, minor): (u8, u8)| format!("{major}.{minor}");
    KIN.iter().copied().find(|(capability, _)| written(*capability) == text).ok_or_else(|| {
        let known = KIN.iter().map(|(capability, _)| written(*capability)).collect::<Vec<_>>().join(", ");
        CardError(format!("`{}` is not a supported compute capability; the supported ones are {known}", short(text)))
    })
}

/// Returns the rows of all cards that have a name.
fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().chain(MORE)
}

fn unknown(text: &str) -> CardError {
    let names: Vec<&str> = rows().map(|row| row.name).collect();
    if let Some(hint) = did_you_mean(text, names.iter().copied()) {
        return CardError(format!("unknown card `{}`; {hint}", short(text)));
    }
    let names = names.join(", ");
    CardError(format!("unknown card `{}`; use one of {names}, or custom:48GiB", short(text)))
}

/// Returns the beginning of a foreign text, short enough for a message.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The cards of a machine by device index; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cards(pub Vec<Card>);

impl Cards {
    /// Most cards of a machine.
    pub const MOST: usize = 64;

    /// Parses a list of cards: `h100-80gb`, `4x h100-80gb`, `a100-80gb,t4-16gb`.
    ///
    /// # Errors
    ///
    /// Returns an error if a name is unknown, the list is empty, or there are more than [`Cards::MOST`] cards.
    pub fn parse(text: &str) -> Result<Self, CardError> {
        let mut cards = Vec::new();
        for item in text.split(',') {
            let (count, name) = counted(item.trim());
            let card = Card::named(name)?;
            if count == 0 || count > Self::MOST - cards.len() {
                return Err(CardError(format!("a machine can have 1 to {} cards", Self::MOST)));
            }
            cards.extend(iter::repeat_n(card, count));
        }
        Ok(Self(cards))
    }

    /// Returns the total memory of each card in bytes, `None` if the cards differ in it.
    pub fn memory_bytes(&self) -> Option<u64> {
        let first = self.0.first()?.memory_bytes;
        self.0.iter().all(|card| card.memory_bytes == first).then_some(first)
    }
}

/// Splits `4x h100-80gb` into 4 and the name; a name without a number counts once.
fn counted(item: &str) -> (usize, &str) {
    let digits = item.bytes().take_while(u8::is_ascii_digit).count();
    match item[digits..].trim_start().strip_prefix('x') {
        Some(name) if digits > 0 => (item[..digits].parse().unwrap_or(usize::MAX), name),
        _ => (1, item),
    }
}

impl fmt::Display for Cards {
    /// Writes the text that [`Cards::parse`] reads; equal neighbours are counted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, run) in self.0.chunk_by(|a, b| a.name == b.name).enumerate() {
            let separator = if index == 0 { "" } else { "," };
            match run.len() {
                1 => write!(f, "{separator}{}", run[0].name)?,
                count => write!(f, "{separator}{count}x {}", run[0].name)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, written: &str, memory_bytes: &[u64]) {
        let cards = Cards::parse(text).unwrap();
        assert_eq!(cards.to_string(), written);
        assert_eq!(cards.0.iter().map(|card| card.memory_bytes).collect::<Vec<_>>(), memory_bytes);
        assert_eq!(Cards::parse(written).unwrap(), cards, "what is written can be read");
    }

    #[track_caller]
    fn check_error(text: &str, message: &str) {
        assert_eq!(Cards::parse(text).unwrap_err().to_string(), message);
    }

    #[test]
    fn lists_of_cards_are_read_and_written() {
        check("H100-80GB", "h100-80gb", &[81_002 * MIB]);
        check("2x h100,3090", "2x h100-80gb,rtx3090-24gb", &[81_002 * MIB, 81_002 * MIB, 24_126 * MIB]);
        check("2x h100-80gb", "2x h100-80gb", &[81_002 * MIB; 2]);
        check("2xt4-16gb, 1x t4-16gb", "3x t4-16gb", &[14_930 * MIB; 3]);
        check(" t4-16gb,a100-40gb ", "t4-16gb,a100-40gb", &[14_930 * MIB, 42_298_834_944]);
        check("custom:48GiB", "custom:48GiB", &[48 << 30]);
        check("custom:48GiB:l4-24gb", "custom:48GiB:l4-24gb", &[48 << 30]);
        let several = "2x custom:47.5GB:9.0,l4-24gb";
        check(several, several, &[47_500_000_000, 47_500_000_000, 22_563 * MIB]);
    }

    #[test]
    fn memory_tells_the_card() {
        let name = |bytes| Card::of_memory(bytes).map(|card| card.name);
        let names = [14_930 * MIB, 14_400 * MIB, 80_500 * MIB, 60_000 * MIB, 2 * MIB].map(name);
        let names = names.each_ref().map(|name| name.as_deref());
        assert_eq!(names, [Some("t4-16gb"), Some("t4-16gb"), Some("h100-80gb"), Some("custom:60000MiB"), None]);
    }

    #[test]
    fn errors_say_what_to_write() {
        check_error("a100", "`a100` has several sizes: write a100-40gb or a100-80gb");
        check_error("a10-24gb", "unknown card `a10-24gb`; did you mean `a10g-24gb`?");
        check_error("h100-80", "unknown card `h100-80`; did you mean `h100-80gb`?");
        check_error("2x a10-40gb", "unknown card `a10-40gb`; did you mean `a100-40gb`?");
        check_error("custom:lots", "`lots` is not a memory size; for example, write `custom:48GiB`");
        check_error("custom:2TiB", "a custom card must have 256 MiB to 1.00 TiB, not `2TiB`");
        let capabilities = "`5.0` is not a supported compute capability; the supported ones are 7.0, 7.5, 8.0, 8.6, \
                            8.9, 9.0, 10.0, 12.0";
        check_error("custom:48GiB:5.0", capabilities);
        check_error("0x t4-16gb", "a machine can have 1 to 64 cards");
        check_error("99999999999999999999999x t4-16gb", "a machine can have 1 to 64 cards");
        check_error("60x t4-16gb,5x t4-16gb", "a machine can have 1 to 64 cards");
        assert!(Cards::parse("").unwrap_err().to_string().contains("use one of t4-16gb, l4-24gb"));
    }

    #[test]
    fn custom_cards_take_the_figures_of_their_kin() {
        let card = Card::named("custom:80GiB:9.0").unwrap();
        let h100 = Card::named("h100-80gb").unwrap();
        assert_eq!(card.product, "Virtual GPU 80.0 GiB");
        assert_eq!((card.capability, card.multiprocessors), (h100.capability, h100.multiprocessors));
        let desktop = Card::named("custom:24GiB:8.6").unwrap();
        assert_eq!((desktop.capability.to_string().as_str(), desktop.threads_per_multiprocessor), ("8.6", 1536));
        assert_eq!(Card::named("custom:1TiB").unwrap().capability, Card::default().capability);
    }

    #[test]
    fn the_table_is_complete_and_in_order() {
        let all = Card::named_cards();
        assert!(all.iter().all(|card| Card::named(&card.name).as_ref() == Ok(card)));
        assert!(all.iter().all(|card| card.multiprocessors > 0 && card.l2_bytes >= 3 * MIB));
        let cards = Card::all().collect::<Vec<_>>();
        let boxes = cards.iter().map(|card| {
            let size = card.name.rsplit('-').next().unwrap().strip_suffix("gb").unwrap();
            size.parse::<u64>().unwrap()
        });
        let boxes = boxes.collect::<Vec<_>>();
        assert!(boxes.is_sorted(), "by what the box says: {boxes:?}");
        // The total memory is within a tenth of the nominal size.
        let near =
            |(card, size): (&Card, &u64)| (size << 30) * 9 / 10 < card.memory_bytes && card.memory_bytes < size << 30;
        assert!(cards.iter().zip(&boxes).all(near));
    }
}
