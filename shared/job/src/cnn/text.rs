//! Parses a layer from its text: a name, numbers in a fixed order, then options and flags in any order.
//!
//! ```text
//! conv 64 3 stride 2 no_bias
//! name CHANNELS KERNEL option value flag
//! ```

use super::super::nearest::did_you_mean;
use super::super::problem::excerpt;
use super::{CnnLayer, Conv, Window};

/// Error of a layer: what is wrong, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Sentence without a full stop.
    pub(crate) message: String,
    /// Sentence without a full stop.
    pub(crate) hint: String,
}

impl Fault {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

/// Syntax of a kind of layer.
struct Form {
    name: &'static str,
    /// Names of the required numbers, in order.
    numbers: &'static [&'static str],
    /// Names of the options, each followed by a number.
    options: &'static [&'static str],
    flags: &'static [&'static str],
    example: &'static str,
}

const WINDOW: &[&str] = &["stride", "padding"];

const FORMS: &[Form] = &[
    Form {
        name: "conv",
        numbers: &["CHANNELS", "KERNEL"],
        options: &["stride", "padding", "dilation", "groups"],
        flags: &["no_bias"],
        example: "conv 64 3 padding 1",
    },
    Form { name: "norm", numbers: &[], options: &[], flags: &[], example: "norm" },
    Form { name: "relu", numbers: &[], options: &[], flags: &["inplace"], example: "relu inplace" },
    Form { name: "gelu", numbers: &[], options: &[], flags: &[], example: "gelu" },
    Form { name: "sigmoid", numbers: &[], options: &[], flags: &[], example: "sigmoid" },
    Form { name: "tanh", numbers: &[], options: &[], flags: &[], example: "tanh" },
    Form { name: "pool", numbers: &["KERNEL"], options: WINDOW, flags: &[], example: "pool 3 stride 2" },
    Form { name: "avgpool", numbers: &["KERNEL"], options: WINDOW, flags: &[], example: "avgpool 2" },
    Form { name: "adaptive", numbers: &["SIZE"], options: &[], flags: &[], example: "adaptive 1" },
    Form { name: "dropout", numbers: &["PROBABILITY"], options: &[], flags: &[], example: "dropout 0.5" },
    Form { name: "flatten", numbers: &[], options: &[], flags: &[], example: "flatten" },
    Form { name: "linear", numbers: &["FEATURES"], options: &[], flags: &["no_bias"], example: "linear 1000" },
];

/// Largest number in a layer: no published model has as much.
const MOST: u64 = 1 << 20;

impl CnnLayer {
    /// Returns the names of all layers, in the order of the reference.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
        FORMS.iter().map(|form| form.name)
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let Some(form) = FORMS.iter().find(|form| form.name.eq_ignore_ascii_case(name)) else {
            let hint = did_you_mean(name, Self::names());
            let hint = hint.unwrap_or_else(|| format!("use one of {}", Self::names().collect::<Vec<_>>().join(", ")));
            return Err(Fault::new(format!("unknown layer `{}`", excerpt(name)), hint));
        };
        Words::read(form, words).and_then(|words| words.layer())
    }
}

impl Form {
    /// Returns a hint with an example, such as "for example, write `relu inplace`".
    fn hint(&self) -> String {
        format!("for example, write `{}`", self.example)
    }
}

/// Words after the name of a layer.
struct Words<'a> {
    form: &'static Form,
    numbers: Vec<&'a str>,
    options: Vec<(&'a str, &'a str)>,
    flags: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn read(form: &'static Form, mut words: impl Iterator<Item = &'a str>) -> Result<Self, Fault> {
        let mut read = Self { form, numbers: Vec::new(), options: Vec::new(), flags: Vec::new() };
        for what in form.numbers {
            let missing = || Fault::new(format!("missing {}", what.to_lowercase()), form.hint());
            read.numbers.push(words.next().ok_or_else(missing)?);
        }
        while let Some(word) = words.next() {
            let is_known = |known: &&str| known.eq_ignore_ascii_case(word);
            if let Some(option) = form.options.iter().copied().find(|known| is_known(known)) {
                let missing = || Fault::new(format!("`{option}` needs a number"), form.hint());
                read.options.push((option, words.next().ok_or_else(missing)?));
            } else if let Some(flag) = form.flags.iter().copied().find(|known| is_known(known)) {
                read.flags.push(flag);
            } else {
                return Err(read.unknown(word));
            }
        }
        Ok(read)
    }

    /// Returns the error for a word that is neither an option nor a flag of the layer.
    fn unknown(&self, word: &str) -> Fault {
        let known = self.form.options.iter().chain(self.form.flags).copied();
        let hint = did_you_mean(word, known).unwrap_or_else(|| self.form.hint());
        Fault::new(format!("`{}` has no option `{}`", self.form.name, excerpt(word)), hint)
    }

    fn layer(&self) -> Result<CnnLayer, Fault> {
        Ok(match self.form.name {
            "conv" => CnnLayer::Conv(Conv {
                channels: self.number(0)?,
                window: Window { kernel: self.number(1)?, stride: self.option("stride", 1)?, padding: self.padding()? },
                dilation: self.option("dilation", 1)?,
                groups: self.option("groups", 1)?,
                bias: !self.has("no_bias"),
            }),
            "norm" => CnnLayer::Norm,
            "relu" => CnnLayer::Relu { inplace: self.has("inplace") },
            "gelu" => CnnLayer::Gelu,
            "sigmoid" => CnnLayer::Sigmoid,
            "tanh" => CnnLayer::Tanh,
            "pool" => CnnLayer::MaxPool(self.window()?),
            "avgpool" => CnnLayer::AvgPool(self.window()?),
            "adaptive" => CnnLayer::Adaptive { size: self.number(0)? },
            "dropout" => CnnLayer::Dropout(self.probability()?),
            "flatten" => CnnLayer::Flatten,
            _ => CnnLayer::Linear { features: self.number(0)?, bias: !self.has("no_bias") },
        })
    }

    /// Returns the window of a pool, whose stride defaults to its kernel.
    fn window(&self) -> Result<Window, Fault> {
        let kernel = self.number(0)?;
        let padding = self.padding()?;
        if padding > kernel / 2 {
            let message = format!("a padding of {padding} is more than half the kernel");
            return Err(Fault::new(message, format!("write at most {}", kernel / 2)));
        }
        Ok(Window { kernel, stride: self.option("stride", kernel)?, padding })
    }

    fn number(&self, index: usize) -> Result<u64, Fault> {
        let what = self.form.numbers[index].to_lowercase();
        self.whole(&what, self.numbers[index], 1)
    }

    fn option(&self, name: &str, usual: u64) -> Result<u64, Fault> {
        self.text_of(name).map_or(Ok(usual), |text| self.whole(name, text, 1))
    }

    fn padding(&self) -> Result<u64, Fault> {
        self.text_of("padding").map_or(Ok(0), |text| self.whole("padding", text, 0))
    }

    /// Returns the number of an option; if an option is given twice, the last one counts.
    fn text_of(&self, name: &str) -> Option<&'a str> {
        self.options.iter().rev().find(|(option, _)| *option == name).map(|(_, text)| *text)
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    fn whole(&self, what: &str, text: &str, least: u64) -> Result<u64, Fault> {
        let number = text.parse::<u64>().ok().filter(|number| (least..=MOST).contains(number));
        number.ok_or_else(|| {
            let message = format!("invalid {what} `{}`: expected a whole number from {least} to {MOST}", excerpt(text));
            Fault::new(message, self.form.hint())
        })
    }

    fn probability(&self) -> Result<f64, Fault> {
        let text = self.numbers[0];
        let probability = text.parse::<f64>().ok().filter(|probability| (0.0..=1.0).contains(probability));
        let message = || format!("invalid probability `{}`: expected a number from 0 to 1", excerpt(text));
        probability.ok_or_else(|| Fault::new(message(), self.form.hint()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a text parses, and that the layer is written as `shortest`.
    #[track_caller]
    fn check(text: &str, shortest: &str) {
        let layer = CnnLayer::parse(text).unwrap();
        assert_eq!(layer.to_string(), shortest);
        assert_eq!(CnnLayer::parse(shortest).unwrap(), layer);
    }

    #[track_caller]
    fn check_fault(text: &str, fault: &str) {
        let Fault { message, hint } = CnnLayer::parse(text).unwrap_err();
        assert_eq!(format!("{message}; {hint}"), fault);
    }

    #[test]
    fn every_form_reads_its_own_example() {
        for form in FORMS {
            let layer = CnnLayer::parse(form.example).unwrap();
            assert_eq!(layer.name(), form.name);
            assert_eq!(layer.to_string(), form.example);
        }
    }

    #[test]
    fn usual_options_go_without_saying() {
        check("conv 64 3", "conv 64 3");
        check("  Conv 64  3 PADDING 0 stride 1 dilation 1 groups 1", "conv 64 3");
        check(
            "conv 8 5 no_bias groups 2 dilation 3 stride 4 padding 6",
            "conv 8 5 stride 4 padding 6 dilation 3 groups 2 no_bias",
        );
        check("pool 2 stride 2", "pool 2");
        check("avgpool 3 stride 1 padding 1", "avgpool 3 stride 1 padding 1");
        check("dropout 1e-1", "dropout 0.1");
        check("linear 10 no_bias", "linear 10 no_bias");
    }

    #[test]
    fn faults_say_what_would_be_right() {
        check_fault("norn", "unknown layer `norn`; did you mean `norm`?");
        check_fault(
            "",
            "unknown layer ``; use one of conv, norm, relu, gelu, sigmoid, tanh, pool, avgpool, adaptive, dropout, \
             flatten, linear",
        );
        check_fault("conv 64", "missing kernel; for example, write `conv 64 3 padding 1`");
        check_fault("conv 64 3 strides 2", "`conv` has no option `strides`; did you mean `stride`?");
        check_fault("conv 64 3 stride", "`stride` needs a number; for example, write `conv 64 3 padding 1`");
        check_fault("gelu inplace", "`gelu` has no option `inplace`; for example, write `gelu`");
        check_fault(
            "conv 64 0",
            "invalid kernel `0`: expected a whole number from 1 to 1048576; for example, write `conv 64 3 padding 1`",
        );
        check_fault("pool 3 padding 2", "a padding of 2 is more than half the kernel; write at most 1");
        let share = "invalid probability `5`: expected a number from 0 to 1; for example, write `dropout 0.5`";
        check_fault("dropout 5", share);
    }
}
