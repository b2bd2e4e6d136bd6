//! Parses options whose values are the names of an enum.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Creates the parser for the names of some variants, each with its meaning in the help.
pub(super) fn names<T, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    meaning: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let values = all.map(|one| PossibleValue::new(name(one)).help(meaning(one)));
    let of_name = move |text: String| all.into_iter().find(|&one| name(one) == text);
    PossibleValuesParser::new(values).map(move |text| of_name(text).expect("only names are possible"))
}
