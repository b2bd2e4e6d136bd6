//! Parses TOML into values.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::super::problem::{Place, Problem};
use super::value::{Budget, HINT_BOUND, Value};

/// Parses TOML; the `toml` crate itself refuses duplicate keys and deep nesting.
pub(super) fn parse(text: &str) -> Result<Value, Problem> {
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().map(|span| Place::of_byte(text, span.start));
        Problem::in_text(place, format!("not valid TOML: {}", error.message().replace('\n', ", ")), "")
    })?;
    Reader { text, budget: Budget::new() }.table(table.get_ref(), 0)
}

struct Reader<'a> {
    text: &'a str,
    budget: Budget,
}

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Result<Value, Problem> {
        let entry = |(key, value): (&Spanned<_>, _)| {
            Ok((AsRef::<str>::as_ref(key.get_ref()).to_owned(), self.value(value, depth + 1)?))
        };
        table.iter().map(entry).collect::<Result<_, _>>().map(Value::Table)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, depth: usize) -> Result<Value, Problem> {
        let place = Place::of_byte;
        let problem = |message, hint: &str| Problem::in_text(Some(place(self.text, value.span().start)), message, hint);
        self.budget.take(depth).map_err(|message| problem(message, HINT_BOUND))?;
        Ok(match value.get_ref() {
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Integer(integer) => whole(integer),
            DeValue::Float(float) => Value::Real(float.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(datetime) => Value::Text(datetime.to_string()),
            DeValue::Array(items) => {
                let items = items.iter().map(|item| self.value(item, depth + 1));
                Value::List(items.collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => self.table(table, depth)?,
        })
    }
}

/// Parses an integer in its base; one that does not fit into 64 bits becomes a real number.
fn whole(integer: &DeInteger<'_>) -> Value {
    match i64::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(value) => Value::Whole(value),
        Err(_) => Value::Real(integer.as_str().parse().unwrap_or(f64::INFINITY)),
    }
}
