//! Tests pictures of timelines, operation by operation.

use super::*;
use crate::analysis::{Timeline, naive};
use crate::draw::shade::{self, ColorBy, SHADES};
use crate::draw::svg::{svg, svg_for_both};
use crate::draw::theme::HUES;
use crate::draw::{Color, Op, Rect, Sketch, Theme};
use crate::trace::{Device, Trace, text};

const TRACE: &str = "
    segment_alloc S 2MiB t=0
    start step<1>&\"x\" t=1
    alloc a 512KiB @relu<main t=1
    alloc b 1MiB t=2
    free_completed a t=3
    oom 4GiB free=1MiB t=4
    end step<1>&\"x\" t=5
    segment S 2MiB
    block b 1MiB
";

pub(super) const THEME: Theme = Theme::light();

/// Draws a moment of a device.
type OfMoment = fn(&Trace, (&Device, &Timeline), &MomentOptions, &Theme) -> Sketch;

pub(super) fn of_moment(draw: OfMoment, trace: &Trace, options: &MomentOptions) -> Sketch {
    let device = &trace.devices[0];
    draw(trace, (device, &Timeline::new(trace, device)), options, &THEME)
}

fn drawn(trace: &Trace, options: &PictureOptions, theme: &Theme) -> Sketch {
    let device = &trace.devices[0];
    TimelinePicture::new(trace, device, &Timeline::new(trace, device), options).sketch(theme)
}

pub(super) fn words(sketch: &Sketch) -> Vec<&str> {
    fn word(op: &Op) -> Option<&str> {
        match op {
            Op::Text { text, .. } => Some(text),
            _ => None,
        }
    }
    sketch.ops.iter().filter_map(word).collect()
}

/// Returns true for the colours of single allocations.
pub(super) fn is_single(color: Color) -> bool {
    (0..HUES as u32 * SHADES).any(|number| shade::fill(number, ColorBy::Stack, &THEME) == color)
}

#[test]
fn a_picture_says_what_it_shows() {
    let options = PictureOptions { title: "run.pickle · GPU 0".to_owned(), ..PictureOptions::default() };
    let sketch = drawn(&text::parse(TRACE).unwrap(), &options, &THEME);
    let words = words(&sketch);
    for part in ["run.pickle · GPU 0", "live", "reserved", "out of memory", "1 MiB", "events", "step<1>&\"x\""] {
        assert!(words.contains(&part), "{part} in {words:?}");
    }
    assert!(words.contains(&"peak live 1.50 MiB after event 2 · peak reserved 2.00 MiB"), "{words:?}");
}

#[test]
fn everything_lies_within_the_picture() {
    for seed in 0..10 {
        let trace = naive::random_trace(seed, 500);
        for (width, height) in [(1200, 600), (10, 10), (400, 900)] {
            let sketch = drawn(&trace, &PictureOptions { width, height, ..PictureOptions::default() }, &THEME);
            check_inside(&sketch);
        }
        for draw in [flame_picture as OfMoment, segments_picture] {
            for (width, height) in [(1200, None), (10, Some(10)), (400, Some(900)), (3000, Some(240))] {
                let sketch = of_moment(draw, &trace, &MomentOptions { width, height, ..MomentOptions::default() });
                assert_eq!(sketch.width, f64::from(width.max(240)));
                assert!(height.is_none_or(|height| sketch.height == f64::from(height.max(240))));
                check_inside(&sketch);
            }
        }
    }
}

/// Panics if an operation leaves the picture, except text, whose exact width is unknown.
#[track_caller]
pub(super) fn check_inside(sketch: &Sketch) {
    let is_inside =
        |(x, y): (f64, f64)| (-0.1..=sketch.width + 0.1).contains(&x) && (-0.1..=sketch.height + 0.1).contains(&y);
    let has = |rect: &Rect| is_inside((rect.x, rect.y)) && is_inside((rect.right(), rect.bottom()));
    for op in &sketch.ops {
        match op {
            Op::Boxes { boxes, .. } => assert!(boxes.iter().all(has), "{op:?}"),
            Op::Fill { rect, .. } => assert!(has(rect), "{op:?}"),
            Op::Line { points, .. } => assert!(points.iter().copied().all(is_inside), "{op:?}"),
            Op::Dot { at, .. } => assert!(is_inside(*at), "{op:?}"),
            Op::Text { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

/// The area of the bands equals that below the live curve: every byte is drawn.
#[test]
fn bands_fill_the_live_curve() {
    let trace = text::parse("alloc a 1MiB\nalloc b 1MiB\nfree_completed a").unwrap();
    let sketch = drawn(&trace, &PictureOptions::default(), &THEME);
    let area = |op: &Op| match op {
        Op::Boxes { boxes, color } if is_single(*color) => boxes.iter().map(|rect| rect.width * rect.height).sum(),
        _ => 0.0,
    };
    let area: f64 = sketch.ops.iter().map(area).sum();
    // Of four moments, one has two MiB and two have one, below 5 % of headroom.
    let plot = (1200.0 - 78.0 - 18.0) * (600.0 - 66.0 - 34.0);
    assert!((area / plot - 4.0 / (4.0 * 2.0 * 1.05)).abs() < 0.01, "{}", area / plot);
}

#[test]
fn a_part_shows_its_own_peak() {
    let trace = text::parse(TRACE).unwrap();
    let x = Some(crate::draw::span::Span::new(4.0, 6.0));
    let sketch = drawn(&trace, &PictureOptions { x, ..PictureOptions::default() }, &THEME);
    let words = words(&sketch);
    assert!(words.iter().any(|words| words.starts_with("peak live 1.00 MiB")), "{words:?}");
}

#[test]
fn bands_are_bounded() {
    let trace = naive::random_trace(5, 20_000);
    let count = |most_bands| {
        let sketch = drawn(&trace, &PictureOptions { most_bands, ..PictureOptions::default() }, &THEME);
        let boxes = |op: &Op| match op {
            Op::Boxes { boxes, color } if *color != THEME.separator && !THEME.spans.contains(color) => boxes.len(),
            _ => 0,
        };
        sketch.ops.iter().map(boxes).sum::<usize>()
    };
    let all = count(usize::MAX);
    assert!(count(all / 3) <= all / 3, "{all}");
}

#[test]
fn svg_has_its_text_escaped_and_its_colours_of_the_themes() {
    let trace = text::parse(TRACE).unwrap();
    let [light, dark] = [THEME, Theme::dark()].map(|theme| drawn(&trace, &PictureOptions::default(), &theme));
    let both = svg_for_both("t", &light, &dark);
    let [light, dark] = [light, dark].map(|sketch| svg("t", &sketch));
    assert!(light.contains(">step&lt;1&gt;&amp;&quot;x&quot;</text>"));
    let live = |theme: Theme| format!("stroke=\"#{:06x}\"", theme.live.rgb);
    assert!(light.contains(&live(THEME)) && !light.contains("<style"));
    assert!(dark.contains(&live(Theme::dark())) && !dark.contains(&live(THEME)));
    assert!(both.contains(&live(THEME)) && both.contains(&format!("{{stroke:#{:06x};", Theme::dark().live.rgb)));
    for svg in [light, dark, both] {
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }
}

/// An SVG for both themes pairs the operations of the two sketches.
#[test]
fn themes_differ_in_colours_only() {
    let colorless = |op: &Op| match op.clone() {
        Op::Fill { rect, .. } => format!("{rect:?}"),
        Op::Boxes { boxes, .. } => format!("{boxes:?}"),
        Op::Line { points, width, .. } => format!("{points:?} {width}"),
        Op::Text { x, y, text, .. } => format!("{x} {y} {text}"),
        other => format!("{:?}", std::mem::discriminant(&other)),
    };
    for seed in 0..5 {
        let trace = naive::random_trace(seed, 2000);
        let [light, dark] = [THEME, Theme::dark()].map(|theme| drawn(&trace, &PictureOptions::default(), &theme));
        let ops = |sketch: &Sketch| sketch.ops.iter().map(colorless).collect::<Vec<_>>();
        assert!(ops(&light) == ops(&dark), "seed {seed}");
    }
}

#[test]
fn an_empty_trace_has_a_picture_too() {
    let empty = text::parse("").unwrap();
    let sketch = drawn(&empty, &PictureOptions::default(), &THEME);
    assert!(words(&sketch).contains(&"peak live 0 B before the first event · peak reserved 0 B"));
    let flame = of_moment(flame_picture, &empty, &MomentOptions::default());
    assert!(words(&flame).contains(&"0 B live at the peak, before the first event, in 0 allocations"));
    assert_eq!(flame.height, 240.0);
    let segments = of_moment(segments_picture, &empty, &MomentOptions::default());
    let figures =
        "0 B reserved at the peak, before the first event, in 0 segments · 0 B free in them · each line is 2.00 MiB";
    assert!(words(&segments).contains(&figures), "{:?}", words(&segments));
}
