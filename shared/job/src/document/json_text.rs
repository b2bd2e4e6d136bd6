//! Parses JSON into values.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::super::problem::{Place, Problem, excerpt};
use super::value::{Budget, Value};

/// Parses JSON; duplicate keys are refused, which serde_json's own values would overwrite.
pub(super) fn parse(text: &str) -> Result<Value, Problem> {
    let budget = RefCell::new(Budget::new());
    let mut json = serde_json::Deserializer::from_str(text);
    let read = Seed { budget: &budget, depth: 0 }.deserialize(&mut json);
    read.and_then(|value| json.end().map(|()| value)).map_err(|error| {
        let place = (error.line() > 0).then(|| Place { line: error.line(), column: error.column().max(1) });
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        Problem::in_text(place, format!("not a valid JSON config: {message}"), "")
    })
}

/// Deserializer of one value at a depth.
#[derive(Clone, Copy)]
struct Seed<'a> {
    budget: &'a RefCell<Budget>,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.budget.borrow_mut().take(self.depth).map_err(D::Error::custom)?;
        deserializer.deserialize_any(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Whole(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Real(value as f64), Value::Whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Real(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut keys = HashSet::new();
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key `{}` appears twice", excerpt(&key))));
            }
            entries.push((key, map.next_value_seed(self)?));
        }
        Ok(Value::Table(entries))
    }
}
