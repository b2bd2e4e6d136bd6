//! Steps of the tour through the sample.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub at: &'static str,
    /// Selector of a button that is pressed for it.
    pub presses: Option<&'static str>,
    pub title: &'static str,
    pub text: &'static str,
}

pub const STEPS: [Step; 4] = [
    Step {
        at: "#tab-findings",
        presses: None,
        title: "Findings come first",
        text: "What went wrong, the line of the code that does it, and what to change. This run keeps the autograd \
               graph of every step.",
    },
    Step {
        at: "[data-timeline]",
        presses: Some("[data-part] button"),
        title: "Every band is an allocation",
        text: "Its height is its size, its length its lifetime. Scroll to zoom, click to pin one. Those of one line are \
               selected: old ones never end.",
    },
    Step {
        at: "#tab-stacks",
        presses: Some("#tab-stacks"),
        title: "What fills the peak",
        text: "The stacks that hold the most memory, named by your own lines first, then by what the library did there.",
    },
    Step {
        at: "#dock-what-if",
        presses: None,
        title: "Try another setting or GPU",
        text: "What if replays the recording with other allocator settings, and finds the smallest GPU on which it fits.",
    },
];

pub fn place(step: usize) -> String {
    format!("{} of {}", step + 1, STEPS.len())
}

/// Place of the bubble beside the element that it points at, in CSS pixels of the window.
///
/// It goes to the left of an element in the right half, so that what is below that stays in view, into the upper part
/// of a tall one, and else below or above the element.
pub fn bubble_place(
    (left, top, width, height): (f64, f64, f64, f64),
    (bubble_width, bubble_height): (f64, f64),
    (window_width, window_height): (f64, f64),
) -> (f64, f64) {
    const GAP: f64 = 10.0;
    if left > window_width / 2.0 && left >= bubble_width + 2.0 * GAP {
        return (left - GAP - bubble_width, top.clamp(GAP, (window_height - bubble_height - GAP).max(GAP)));
    }
    let x = (left + width.min(bubble_width) / 2.0 - bubble_width / 2.0)
        .clamp(GAP, (window_width - bubble_width - GAP).max(GAP));
    let below = top + height + GAP;
    let above = top - GAP - bubble_height;
    let y = match () {
        () if height > 2.0 * bubble_height => top + GAP,
        () if below + bubble_height <= window_height => below,
        () if above >= 0.0 => above,
        () => top + GAP,
    };
    (x, y.clamp(GAP, (window_height - bubble_height - GAP).max(GAP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_short() {
        assert!(STEPS.iter().all(|step| step.title.len() <= 30 && step.text.len() <= 150));
        assert_eq!(place(0), "1 of 4");
    }

    #[track_caller]
    fn check(at: (f64, f64, f64, f64), place: (f64, f64)) {
        assert_eq!(bubble_place(at, (300.0, 100.0), (1000.0, 600.0)), place);
    }

    #[test]
    fn a_bubble_stays_in_the_window() {
        check((400.0, 50.0, 100.0, 20.0), (300.0, 80.0));
        check((950.0, 570.0, 100.0, 20.0), (640.0, 490.0));
        check((450.0, 570.0, 100.0, 20.0), (350.0, 460.0));
        check((0.0, 0.0, 1000.0, 600.0), (10.0, 10.0));
    }
}
