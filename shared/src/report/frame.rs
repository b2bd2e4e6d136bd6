//! Converts stack frames to text.

use crate::base::StringId;
use crate::trace::{self, FrameId, StackId, Trace};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

/// Stack frame as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Frame {
    /// Name of the function.
    pub name: String,
    /// File, or the library of a C++ symbol.
    pub filename: String,
    /// Line, or the byte offset in the library.
    pub line: u64,
    /// FX node and source lines behind code that `torch.compile` generated, if the snapshot has them.
    #[serde(default)]
    pub fx: Option<String>,
}

impl Serialize for Frame {
    /// Omits `fx` from JSON if there is none; binary formats cannot omit a field.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { name, filename, line, fx } = self;
        let has_fx = fx.is_some() || !serializer.is_human_readable();
        let mut frame = serializer.serialize_struct("Frame", if has_fx { 4 } else { 3 })?;
        frame.serialize_field("name", name)?;
        frame.serialize_field("filename", filename)?;
        frame.serialize_field("line", line)?;
        if has_fx {
            frame.serialize_field("fx", fx)?;
        }
        frame.end()
    }
}

/// Returns the frames of a stack, innermost first.
pub fn frames(trace: &Trace, stack: StackId) -> Vec<Frame> {
    trace.stacks.frames(stack).iter().map(|&id| frame(trace, id)).collect()
}

pub fn frame(trace: &Trace, id: FrameId) -> Frame {
    let trace::Frame { name, filename, line, fx } = *trace.frames.get(id);
    let text = |id: StringId| trace.strings.get(id);
    let fx = fx.map(|fx| {
        let node = format!("{} {} ({})", text(fx.op), text(fx.name), text(fx.target));
        match text(fx.original_trace) {
            "" => node,
            lines => format!("{node}\n{lines}"),
        }
    });
    Frame { name: text(name).to_owned(), filename: text(filename).to_owned(), line, fx }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_names_an_fx_node_only_where_there_is_one() {
        let plain = Frame { name: "f".into(), filename: "a.py".into(), line: 3, fx: None };
        assert_eq!(serde_json::to_string(&plain).unwrap(), r#"{"name":"f","filename":"a.py","line":3}"#);
        let fx = Frame { fx: Some("call relu".into()), ..plain.clone() };
        for frame in [plain, fx] {
            let json = serde_json::to_string(&frame).unwrap();
            assert_eq!(serde_json::from_str::<Frame>(&json).unwrap(), frame);
        }
    }
}
