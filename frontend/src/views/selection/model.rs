//! Texts for selections: scopes, weights, groups and filters.

use crate::ask::{GroupBy, Part, Weight};
use crate::state::When;
use shared::analysis::Category;
use shared::base::format;
use shared::trace::PoolId;

/// Minimum sizes that a filter offers; the first one means any size.
pub const MIN_BYTES: [u64; 8] = [0, 1 << 10, 64 << 10, 1 << 20, 16 << 20, 128 << 20, 1 << 30, 8 << 30];

/// Minimum lifetimes in events that a filter offers; the first one means any lifetime.
pub const MIN_LIFETIMES: [u32; 6] = [0, 10, 100, 1000, 10_000, 100_000];

pub fn when_text(when: When) -> &'static str {
    match when {
        When::Peak => "At the peak",
        When::Pin => "At the pin",
        When::View(Part::Any) => "In view: all",
        When::View(Part::Born) => "In view: allocated",
        When::View(Part::Died) => "In view: freed",
        When::View(Part::Survived) => "In view: alive throughout",
        When::View(Part::BornAndDied) => "In view: allocated and freed",
        When::View(Part::BornAndKept) => "In view: allocated and kept",
    }
}

pub fn weight_text(weight: Weight) -> &'static str {
    match weight {
        Weight::Bytes => "Bytes",
        Weight::ByteEvents => "Bytes × events",
        Weight::ByteTime => "Bytes × time",
        Weight::Count => "Count",
    }
}

pub fn group_text(by: GroupBy) -> &'static str {
    match by {
        GroupBy::Stack => "Stack",
        GroupBy::Frame => "Frame",
        GroupBy::Function => "Function",
        GroupBy::Module => "Module",
        GroupBy::Category => "Category",
        GroupBy::Stream => "Stream",
        GroupBy::Pool => "Pool",
        GroupBy::SizeClass => "Size",
    }
}

pub fn category_text(category: Category) -> String {
    category.name().replace('-', " ")
}

pub fn min_bytes_text(min_bytes: u64) -> String {
    if min_bytes == 0 { "Any size".to_owned() } else { format!("≥ {}", whole_bytes(min_bytes)) }
}

/// Formats a size without decimals, because all offered sizes are powers of two.
fn whole_bytes(size_bytes: u64) -> String {
    match size_bytes {
        0x400..0x10_0000 => format!("{} KiB", size_bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", size_bytes >> 20),
        _ => format!("{} GiB", size_bytes >> 30),
    }
}

pub fn min_lifetime_text(events: u32) -> String {
    if events == 0 { "Any lifetime".to_owned() } else { format!("≥ {} events", format::count(events.into())) }
}

pub fn stream_text(stream: u64) -> String {
    if stream == 0 { "Default stream".to_owned() } else { format!("Stream {}", format::address(stream)) }
}

pub fn pool_text(pool: PoolId) -> String {
    match pool {
        PoolId(0, 0) => "Default pool".to_owned(),
        PoolId(0, handle) => format!("Private pool {handle}"),
        PoolId(capture, handle) => format!("Private pool {capture}, {handle}"),
    }
}

/// Describes an error in a regular expression, and what to do about it.
pub fn mistyped_text(message: &str) -> String {
    let mut chars = message.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}. Turn off .* to search for the text itself.", chars.as_str())
}

/// Formats a selection's part of its scope: `2.10 GiB in 312 of 5,120 allocations`.
pub fn share_text(bytes: u64, count: u64, all_count: u64) -> String {
    let noun = if all_count == 1 { "allocation" } else { "allocations" };
    match count == all_count {
        true => format!("{} in {} {noun}", format::bytes(bytes), format::count(count)),
        false => format!("{} in {} of {} {noun}", format::bytes(bytes), format::count(count), format::count(all_count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_are_round_numbers_and_totals_say_of_what() {
        assert_eq!(MIN_BYTES.map(min_bytes_text)[1..4], ["≥ 1 KiB", "≥ 64 KiB", "≥ 1 MiB"]);
        assert_eq!(min_bytes_text(8 << 30), "≥ 8 GiB");
        assert_eq!((min_bytes_text(0).as_str(), min_lifetime_text(1000).as_str()), ("Any size", "≥ 1,000 events"));
        assert_eq!(share_text(2 << 30, 312, 5120), "2.00 GiB in 312 of 5,120 allocations");
        assert_eq!(share_text(512, 1, 1), "512 B in 1 allocation");
        assert_eq!(share_text(0, 0, 0), "0 B in 0 allocations");
    }

    #[test]
    fn a_wrong_expression_is_a_sentence() {
        let text = mistyped_text("invalid regular expression: open group");
        assert_eq!(text, "Invalid regular expression: open group. Turn off .* to search for the text itself.");
    }

    #[test]
    fn pools_and_streams_have_names() {
        assert_eq!((stream_text(0).as_str(), stream_text(255).as_str()), ("Default stream", "Stream 0xff"));
        assert_eq!(
            (pool_text(PoolId(0, 0)).as_str(), pool_text(PoolId(2, 1)).as_str()),
            ("Default pool", "Private pool 2, 1")
        );
        assert_eq!(category_text(Category::OptimizerState), "optimizer state");
    }
}
