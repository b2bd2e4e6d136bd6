//! Values that a sweep gives to a key: lists and ranges of numbers, switches and words, as written.

use std::fmt::Display;

use serde::Serialize;

use super::document::Value;
use super::problem::excerpt;
use super::reader::{FromValue, Reader};

/// Limit of recordings in a sweep: at half a second each they take minutes, and a longer table is unreadable.
pub const MOST_COMBINATIONS: usize = 200;

/// Values of an axis, each once; written as `1,2,4`, `512..4096x2` or `on,off`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Values<T>(pub Vec<T>);

/// Type of the values of an axis, parsed from the text between two commas.
pub trait Word: Clone + Display + PartialEq + 'static {
    /// Expected syntax, for messages.
    const EXPECTED: &str;

    /// True if values have an order and a distance.
    const IS_NUMBER: bool = false;

    /// Returns the values of a text without commas, or `None` if it is malformed.
    ///
    /// Ranges are cut off after [`MOST_COMBINATIONS`] + 1 values, which is enough to report that there are too many.
    fn values(text: &str) -> Option<Vec<Self>>;
}

impl Word for u64 {
    const EXPECTED: &str = "numbers such as 1,2,4 or a range such as 512..4096x2 or 64..256+64";
    const IS_NUMBER: bool = true;

    fn values(text: &str) -> Option<Vec<Self>> {
        let Some((first, rest)) = text.split_once("..") else {
            return Some(vec![text.parse().ok()?]);
        };
        let (last, next): (_, Box<dyn Fn(Self) -> Option<Self>>) = if let Some((last, factor)) = rest.split_once('x') {
            let factor = factor.trim().parse().ok().filter(|factor| *factor > 1)?;
            (last, Box::new(move |value| value.checked_mul(factor)))
        } else {
            let (last, step) = rest.split_once('+').unwrap_or((rest, "1"));
            let step = step.trim().parse().ok().filter(|step| *step > 0)?;
            (last, Box::new(move |value| value.checked_add(step)))
        };
        let (first, last): (Self, Self) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        // A product that starts at 0 stays 0, so ranges from 0 are refused below.
        let range = std::iter::successors(Some(first), |value| next(*value)).take_while(|value| *value <= last);
        let values: Vec<_> = range.take(MOST_COMBINATIONS + 1).collect();
        (!values.is_empty() && first > 0).then_some(values)
    }
}

impl Word for bool {
    const EXPECTED: &str = "on, off or on,off";

    fn values(text: &str) -> Option<Vec<Self>> {
        match text {
            "on" | "true" => Some(vec![true]),
            "off" | "false" => Some(vec![false]),
            _ => None,
        }
    }
}

impl Word for String {
    const EXPECTED: &str = "words separated by commas";

    fn values(text: &str) -> Option<Vec<Self>> {
        (!text.is_empty()).then(|| vec![text.to_owned()])
    }
}

impl<T: Word> Values<T> {
    /// Parses values with commas between them.
    ///
    /// # Errors
    ///
    /// Returns what is wrong and what to write, as one sentence without the full stop.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut values: Vec<T> = Vec::new();
        for word in text.split(',').map(str::trim) {
            let more =
                T::values(word).ok_or_else(|| format!("invalid value `{}`; write {}", excerpt(word), T::EXPECTED))?;
            for value in more {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            if values.len() > MOST_COMBINATIONS {
                return Err(format!("more than {MOST_COMBINATIONS} values; take larger steps"));
            }
        }
        Ok(Self(values))
    }
}

impl<T: Word> FromValue for Values<T> {
    const EXPECTED: &str = T::EXPECTED;

    fn from_value(value: &Value, _: &mut Reader<'_>) -> Option<Self> {
        Self::parse(&text_of(value)?).ok()
    }
}

/// Returns a value as it would be typed on a command line.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Whole(number) => Some(number.to_string()),
        Value::Bool(is_on) => Some(is_on.to_string()),
        Value::List(items) => Some(items.iter().map(text_of).collect::<Option<Vec<_>>>()?.join(",")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[u64]) {
        assert_eq!(Values::<u64>::parse(text).unwrap().0, expected);
    }

    #[track_caller]
    fn refuse<T: Word + std::fmt::Debug>(text: &str, part: &str) {
        let message = Values::<T>::parse(text).unwrap_err();
        assert!(message.contains(part), "{message}");
    }

    #[test]
    fn numbers_are_lists_and_ranges() {
        check("8", &[8]);
        check("1, 2,4", &[1, 2, 4]);
        check("512..4096x2", &[512, 1024, 2048, 4096]);
        check("1..10x3", &[1, 3, 9]);
        check("3..5", &[3, 4, 5]);
        check("64..256+96", &[64, 160, 256]);
        check("1,1..4x2,4,3", &[1, 2, 4, 3]);
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for wrong in
            ["", "1,,2", "a", "-1", "1.5", "1..", "..4", "4..1", "0..8x2", "1..8x1", "1..8+0", "1..8x", "1..2..3"]
        {
            refuse::<u64>(wrong, "512..4096x2");
        }
        refuse::<u64>("1..100000", "more than 200 values");
        refuse::<u64>("1..18446744073709551615", "more than 200 values");
        refuse::<bool>("on,maybe", "`maybe`");
        refuse::<String>("fp32,", "commas");
    }
}
