//! Tests pictures of timelines, shape by shape.

use super::*;
use crate::analysis::naive;
use crate::draw::theme::Theme;
use crate::trace::text;

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

fn drawing(trace: &Trace, options: &PictureOptions) -> Drawing {
    let device = &trace.devices[0];
    timeline_picture(trace, device, &Timeline::new(trace, device), options)
}

pub(super) fn words(drawing: &Drawing) -> Vec<&str> {
    fn of(shape: &Shape) -> Option<&str> {
        match shape {
            Shape::Text { words, .. } => Some(words),
            _ => None,
        }
    }
    drawing.shapes.iter().filter_map(of).collect()
}

#[test]
fn a_picture_says_what_it_shows() {
    let options = PictureOptions { title: "run.pickle · GPU 0".to_owned(), ..PictureOptions::default() };
    let drawing = drawing(&text::parse(TRACE).unwrap(), &options);
    let words = words(&drawing);
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
            let drawing = drawing(&trace, &PictureOptions { width, height, ..PictureOptions::default() });
            check_inside(&drawing);
        }
    }
}

/// Panics if a shape leaves the picture, except text, whose exact width is unknown.
#[track_caller]
pub(super) fn check_inside(drawing: &Drawing) {
    let (width, height) = (f64::from(drawing.width), f64::from(drawing.height));
    let is_inside = |&(x, y): &(f64, f64)| (-0.1..=width + 0.1).contains(&x) && (-0.1..=height + 0.1).contains(&y);
    for shape in &drawing.shapes {
        match shape {
            Shape::Boxes { boxes, .. } => assert!(
                boxes.iter().all(|[x, y, w, h]| is_inside(&(*x, *y)) && is_inside(&(x + w, y + h))),
                "{shape:?}"
            ),
            Shape::Line { places, .. } => assert!(places.iter().all(is_inside), "{shape:?}"),
            Shape::Dot { at, .. } => assert!(is_inside(at), "{shape:?}"),
            Shape::Text { .. } => {}
        }
    }
}

/// The area of the bands equals that below the live curve: every byte is drawn.
#[test]
fn bands_fill_the_live_curve() {
    let trace = text::parse("alloc a 1MiB\nalloc b 1MiB\nfree_completed a").unwrap();
    let drawing = drawing(&trace, &PictureOptions::default());
    let area: f64 = { drawing.shapes.iter() }
        .filter_map(|shape| match shape {
            Shape::Boxes { ink: Ink::Band(_), boxes } => Some(boxes.iter().map(|[_, _, w, h]| w * h).sum::<f64>()),
            _ => None,
        })
        .sum();
    // Of four moments, one has two MiB and two have one, below 5 % of headroom.
    let plot = (1200.0 - 78.0 - 18.0) * (600.0 - 66.0 - 34.0);
    assert!((area / plot - 4.0 / (4.0 * 2.0 * 1.05)).abs() < 0.01, "{}", area / plot);
}

#[test]
fn a_part_shows_its_own_peak() {
    let trace = text::parse(TRACE).unwrap();
    let x = Some(crate::draw::span::Span::new(4.0, 6.0));
    let drawing = drawing(&trace, &PictureOptions { x, ..PictureOptions::default() });
    let words = words(&drawing);
    assert!(words.iter().any(|words| words.starts_with("peak live 1.00 MiB")), "{words:?}");
}

#[test]
fn bands_are_bounded() {
    let trace = naive::random_trace(5, 20_000);
    let count = |most_bands| {
        let drawing = drawing(&trace, &PictureOptions { most_bands, ..PictureOptions::default() });
        let boxes = |shape: &Shape| match shape {
            Shape::Boxes { ink: Ink::Band(_) | Ink::Merged(_) | Ink::Initial, boxes } => boxes.len(),
            _ => 0,
        };
        drawing.shapes.iter().map(boxes).sum::<usize>()
    };
    let all = count(usize::MAX);
    assert!(count(all / 3) <= all / 3, "{all}");
}

#[test]
fn svg_has_its_text_escaped_and_its_colours_of_the_look() {
    let drawing = drawing(&text::parse(TRACE).unwrap(), &PictureOptions::default());
    let [light, dark, both] = [Look::Light, Look::Dark, Look::Both].map(|look| svg(&drawing, look));
    assert!(light.contains(">step&lt;1&gt;&amp;&quot;x&quot;</text>"));
    let live = |theme: Theme| format!("stroke=\"#{:06x}\"", theme.live.rgb);
    assert!(light.contains(&live(Theme::light())) && !light.contains("<style"));
    assert!(dark.contains(&live(Theme::dark())) && !dark.contains(&live(Theme::light())));
    assert!(both.contains(&format!(".s-live{{stroke:#{:06x}}}", Theme::dark().live.rgb)));
    for svg in [light, dark, both] {
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }
}

#[test]
fn an_empty_trace_has_a_picture_too() {
    let drawing = drawing(&text::parse("").unwrap(), &PictureOptions::default());
    assert!(words(&drawing).contains(&"peak live 0 B before the first event · peak reserved 0 B"));
}
