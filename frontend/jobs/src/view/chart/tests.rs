//! Tests the chart's contents and what is drawn on the canvas.

use super::*;
use crate::state::Sample;
use plotters::prelude::IntoDrawingArea;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind};
use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;

fn course(steps: u64, highest: u64) -> Rc<Course> {
    let sample = |index| Sample { step: Some(index / 10), live_bytes: highest / 2, reserved_bytes: highest };
    Rc::new(Course::of_samples(&(0..steps * 10).map(sample).collect::<Vec<_>>()))
}

#[test]
fn the_card_is_in_sight_once_it_matters() {
    const GIB: u64 = 1 << 30;
    let chart = |highest| Chart::new(course(3, highest), Some(16 * GIB), (800.0, 240.0));
    assert!(!chart(GIB).has_capacity() && chart(4 * GIB).has_capacity());
    assert!(chart(4 * GIB).top_bytes > 16.0 * GIB as f64);
    assert!(chart(GIB).top_bytes < 1.2 * GIB as f64);
}

#[test]
fn steps_are_labelled_where_they_have_room() {
    let labels = |steps, width| -> Vec<String> {
        let chart = Chart::new(course(steps, 1000), None, (width, 240.0));
        chart.steps.into_iter().map(|tick| tick.label).collect()
    };
    assert_eq!(labels(3, 800.0), ["step 1", "step 2", "step 3"]);
    assert_eq!(labels(4, 224.0), ["step 1", "step 3"]);
    assert!(labels(500, 800.0).len() < 20);
}

#[test]
fn a_chart_of_nothing_can_be_drawn() {
    let chart = Chart::new(Rc::default(), None, (0.0, 0.0));
    assert_eq!((chart.end(), chart.corners(|part| part.0)), (1.0, Vec::new()));
    assert_eq!(chart.spoken(), "Memory over the run: at most 0 B live and 0 B reserved");
}

#[test]
fn curves_are_steps() {
    let course = Course { parts: vec![(5, 10); 2], ..Course::default() };
    let chart = Chart::new(Rc::new(course), None, (800.0, 240.0));
    assert_eq!(chart.corners(|part| part.1), [(0.0, 10.0), (1.0, 10.0), (1.0, 10.0), (2.0, 10.0)]);
}

/// Texts that were drawn, and the colour of each line.
#[derive(Default)]
struct Drawing {
    texts: Vec<String>,
    paths: Vec<(u8, u8, u8)>,
}

/// Drawing backend that records texts and lines.
#[derive(Clone, Default)]
struct Memory(Rc<RefCell<Drawing>>);

type Remembered = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Memory {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (1600, 560)
    }

    fn ensure_prepared(&mut self) -> Remembered {
        Ok(())
    }

    fn present(&mut self) -> Remembered {
        Ok(())
    }

    fn draw_pixel(&mut self, _: BackendCoord, _: BackendColor) -> Remembered {
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Remembered {
        assert!(path.into_iter().all(|(x, y)| (0..=1600).contains(&x) && (0..=560).contains(&y)), "inside");
        self.0.borrow_mut().paths.push(style.color().rgb);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, _: &S, _: BackendCoord) -> Remembered {
        self.0.borrow_mut().texts.push(text.to_owned());
        Ok(())
    }
}

#[test]
fn curves_and_labels_reach_the_canvas() {
    let theme = Theme::light();
    let chart = Chart::new(course(3, 12 << 30), Some(16 << 30), (800.0, 280.0));
    let memory = Memory::default();
    draw(&memory.clone().into_drawing_area(), &chart, &theme, 2.0).unwrap();
    let drawing = memory.0.borrow();
    for text in ["0 GiB", "step 1", "step 3", "GPU memory 16.0 GiB"] {
        assert!(drawing.texts.iter().any(|drawn| drawn == text), "{text} in {:?}", drawing.texts);
    }
    for color in [theme.accent, theme.reserved, theme.oom] {
        let [red, green, blue] = color.channels();
        assert!(drawing.paths.contains(&(red, green, blue)), "{color:?}");
    }
}

#[test]
fn the_peak_and_the_end_of_memory_are_marked() {
    let course = Course { peak: Some(20.5), ooms: vec![29.5], ..Course::clone(&course(3, 12 << 30)) };
    let chart = Chart::new(Rc::new(course), Some(16 << 30), (800.0, 280.0));
    assert!(chart.spoken().ends_with("12.0 GiB reserved, then it ran out of memory"), "{}", chart.spoken());
    let memory = Memory::default();
    draw(&memory.clone().into_drawing_area(), &chart, &Theme::dark(), 2.0).unwrap();
    let drawing = memory.0.borrow();
    for text in ["peak live 6.00 GiB", "out of memory"] {
        assert!(drawing.texts.iter().any(|drawn| drawn == text), "{text} in {:?}", drawing.texts);
    }
}
