//! Compares traces by content, because equal traces may number their strings and stacks differently.

use shared::base::StringId;
use shared::trace::{Annotation, ContextId, Device, Event, EventContext, Frame, FrameId, StackId, Trace};

/// Describes the first difference between the contents of two traces.
///
/// Format and diagnostics are not compared: they describe the file, not its content.
pub(crate) fn difference(a: &Trace, b: &Trace) -> Option<String> {
    Pair::new(a, b).compare().err()
}

type Same = Result<(), String>;

/// Two traces, and the rows of their tables that were found equal.
///
/// Invariant: a table holds no row twice, so that a row of `a` has at most one equal row in `b`.
struct Pair<'a> {
    a: &'a Trace,
    b: &'a Trace,
    frames: Vec<Option<FrameId>>,
    stacks: Vec<Option<StackId>>,
    contexts: Vec<Option<ContextId>>,
}

impl<'a> Pair<'a> {
    fn new(a: &'a Trace, b: &'a Trace) -> Self {
        let (frames, stacks) = (vec![None; a.frames.len()], vec![None; a.stacks.len()]);
        Self { a, b, frames, stacks, contexts: vec![None; a.contexts.len()] }
    }

    fn compare(mut self) -> Same {
        let (a, b) = (self.a, self.b);
        same("devices", &indices(a), &indices(b))?;
        for (a, b) in a.devices.iter().zip(&b.devices) {
            self.devices(a, b).map_err(|difference| format!("device {}: {difference}", a.index))?;
        }
        same("whether there is host memory", &a.host.is_some(), &b.host.is_some())?;
        if let (Some(a), Some(b)) = (&a.host, &b.host) {
            self.devices(a, b).map_err(|difference| format!("host: {difference}"))?;
        }
        same("settings", &a.settings, &b.settings)?;
        same("annotations", &a.annotations.len(), &b.annotations.len())?;
        let mut annotations = a.annotations.iter().zip(&b.annotations);
        annotations.try_for_each(|(a, b)| self.annotation(a, b))
    }

    fn devices(&mut self, a: &Device, b: &Device) -> Same {
        same("events", &a.events.len(), &b.events.len())?;
        for (index, (a, b)) in a.events.iter().zip(b.events.iter()).enumerate() {
            self.event(&a, &b).map_err(|difference| format!("event {index}: {difference}"))?;
        }
        same("whether events have times", &a.events.has_times(), &b.events.has_times())?;
        let (a, b) = (&a.segments, &b.segments);
        self.rows("segment", &a.segments, &b.segments, |segment| &mut segment.stack)?;
        self.rows("block", &a.blocks, &b.blocks, |block| &mut block.stack)?;
        self.rows("history entry", &a.history, &b.history, |entry| &mut entry.stack)
    }

    fn rows<T>(&mut self, what: &str, a: &[T], b: &[T], stack_of: fn(&mut T) -> &mut StackId) -> Same
    where
        T: Copy + PartialEq + std::fmt::Debug,
    {
        same(&format!("number of each {what}"), &a.len(), &b.len())?;
        for (index, (&(mut a), &(mut b))) in a.iter().zip(b).enumerate() {
            let (stack_a, stack_b) = (stack_of(&mut a), stack_of(&mut b));
            let stacks = self.stack(*stack_a, *stack_b);
            *stack_b = *stack_a;
            stacks.and_then(|()| same(what, &a, &b)).map_err(|found| format!("{what} {index}: {found}"))?;
        }
        Ok(())
    }

    fn event(&mut self, a: &Event, b: &Event) -> Same {
        self.stack(a.stack, b.stack)?;
        self.context(a.context, b.context)?;
        same("event", a, &Event { stack: a.stack, context: a.context, ..*b })
    }

    fn annotation(&self, a: &Annotation, b: &Annotation) -> Same {
        self.text("annotation", a.name, b.name)?;
        same("annotation", a, &Annotation { name: a.name, ..*b })
    }

    fn stack(&mut self, a: StackId, b: StackId) -> Same {
        if !a.has_frames() || !b.has_frames() {
            return same("stack", &a, &b);
        }
        if let Some(known) = self.stacks[a.index()] {
            return same("stack", &known, &b);
        }
        let (frames_a, frames_b) = (self.a.stacks.frames(a), self.b.stacks.frames(b));
        same("depth of the stack", &frames_a.len(), &frames_b.len())?;
        frames_a.iter().zip(frames_b).try_for_each(|(a, b)| self.frame(*a, *b))?;
        self.stacks[a.index()] = Some(b);
        Ok(())
    }

    fn frame(&mut self, a: FrameId, b: FrameId) -> Same {
        if let Some(known) = self.frames[a.index()] {
            return same("frame", &known, &b);
        }
        let (frame_a, frame_b) = (self.a.frames.get(a), self.b.frames.get(b));
        self.text("function", frame_a.name, frame_b.name)?;
        self.text("file", frame_a.filename, frame_b.filename)?;
        same("line", &frame_a.line, &frame_b.line)?;
        self.fx(frame_a, frame_b)?;
        self.frames[a.index()] = Some(b);
        Ok(())
    }

    fn fx(&self, a: &Frame, b: &Frame) -> Same {
        same("whether there is an FX node", &a.fx.is_some(), &b.fx.is_some())?;
        let (Some(a), Some(b)) = (a.fx, b.fx) else { return Ok(()) };
        self.text("FX op", a.op, b.op)?;
        self.text("FX name", a.name, b.name)?;
        self.text("FX target", a.target, b.target)?;
        self.text("FX trace", a.original_trace, b.original_trace)
    }

    fn context(&mut self, a: ContextId, b: ContextId) -> Same {
        if let Some(known) = self.contexts[a.index()] {
            return same("context", &known, &b);
        }
        let (context_a, context_b) = (self.a.contexts.get(a), self.b.contexts.get(b));
        let texts = |context: &EventContext| {
            let EventContext { compile_context, user_metadata, internal_metadata, category, .. } = *context;
            [compile_context, user_metadata, internal_metadata, category]
        };
        let mut pairs = texts(context_a).into_iter().zip(texts(context_b));
        pairs.try_for_each(|(a, b)| self.text("text of an event", a, b))?;
        let lines_a = self.a.contexts.lines(context_a.forward_frames);
        let lines_b = self.b.contexts.lines(context_b.forward_frames);
        same("lines of the forward stack", &lines_a.len(), &lines_b.len())?;
        lines_a.iter().zip(lines_b).try_for_each(|(&a, &b)| self.text("line of the forward stack", a, b))?;
        same("stream", &context_a.stream, &context_b.stream)?;
        same("pool", &context_a.pool, &context_b.pool)?;
        self.contexts[a.index()] = Some(b);
        Ok(())
    }

    fn text(&self, what: &str, a: StringId, b: StringId) -> Same {
        same(what, &self.a.strings.whole(a), &self.b.strings.whole(b))
    }
}

fn indices(trace: &Trace) -> Vec<i64> {
    trace.devices.iter().map(|device| device.index).collect()
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, a: &T, b: &T) -> Same {
    if a == b { Ok(()) } else { Err(format!("{what}: {a:?} and {b:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::trace::text::parse;

    const TRACE: &str = "
        segment_alloc S 2MiB t=10
        alloc a 512 @relu<forward t=11
        alloc b 512 @gelu<forward t=11
        free a t=12
        start step t=13
        segment S 2MiB
        block b 512 requested=500";

    #[track_caller]
    fn check(from: &str, to: &str, expected: &str) {
        let (a, b) = (parse(TRACE).unwrap(), parse(&TRACE.replacen(from, to, 1)).unwrap());
        assert_eq!(difference(&a, &a), None);
        let found = difference(&a, &b).unwrap_or_default();
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn every_change_is_a_difference() {
        check("relu", "silu", "event 1: function");
        check("<forward", "<forward<main", "depth of the stack");
        check("@relu<forward ", "", "event 1: stack");
        check("t=12", "t=14", "event 3");
        check("start step", "start stop", "annotation");
        check("requested=500", "requested=501", "segment 0");
        check("512 @gelu", "512 stream=7 @gelu", "event 2: context");
    }
}
