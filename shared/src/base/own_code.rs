//! Decides which source files are the user's own code.

use super::frame_rules;

/// Rule by which files count as the user's own code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OwnCode {
    /// Files outside installed packages, the standard library and compiled code.
    #[default]
    Automatic,
    /// Paths that contain one of these texts, wherever they are installed.
    Containing(Vec<String>),
    /// Everything outside the runtime, installed packages too, except paths that contain one of these texts.
    Outside(Vec<String>),
}

impl OwnCode {
    /// Reads a rule: texts separated by commas, after `!` those of paths that are not the user's own.
    ///
    /// ```
    /// # use shared::base::OwnCode;
    /// assert_eq!(OwnCode::of_text(""), OwnCode::Automatic);
    /// assert_eq!(OwnCode::of_text("src/, mymodel").to_string(), "src/,mymodel");
    /// assert!(OwnCode::of_text("!transformers").is_own("/v/site-packages/peft/peft_model.py"));
    /// ```
    pub fn of_text(text: &str) -> Self {
        let texts = |text: &str| -> Vec<String> {
            text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()
        };
        match text.trim().strip_prefix('!') {
            Some(outside) => Self::Outside(texts(outside)),
            None => match texts(text) {
                texts if texts.is_empty() => Self::Automatic,
                texts => Self::Containing(texts),
            },
        }
    }

    /// Returns true if the file is the user's own code.
    pub fn is_own(&self, filename: &str) -> bool {
        let contains = |texts: &[String]| texts.iter().any(|text| filename.contains(text.as_str()));
        match self {
            Self::Automatic => frame_rules::is_own(filename),
            Self::Containing(texts) => !frame_rules::is_recorded(filename) && contains(texts),
            Self::Outside(texts) => {
                let is_source = !filename.starts_with('<') && !frame_rules::is_recorded(filename);
                is_source && !frame_rules::is_runtime(filename) && !contains(texts)
            }
        }
    }
}

/// Writes the text that [`OwnCode::of_text`] reads.
impl std::fmt::Display for OwnCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Automatic => Ok(()),
            Self::Containing(texts) => f.write_str(&texts.join(",")),
            Self::Outside(texts) => write!(f, "!{}", texts.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: &str, own: &[&str], foreign: &[&str]) {
        let rule = OwnCode::of_text(rule);
        assert_eq!(OwnCode::of_text(&rule.to_string()), rule);
        own.iter().for_each(|path| assert!(rule.is_own(path), "{path} is own"));
        foreign.iter().for_each(|path| assert!(!rule.is_own(path), "{path} is not own"));
    }

    #[test]
    fn rules_are_texts() {
        let (train, hf) = ("/srv/train.py", "/v/site-packages/transformers/trainer.py");
        let (torch, recorded) = ("/v/site-packages/torch/nn/functional.py", frame_rules::RECORDED_MODULE);
        check("", &[train], &[hf, torch, recorded, "", "<eval_with_key>.3"]);
        check("transformers", &[hf], &[train, torch, recorded]);
        check("nn/, srv", &[torch, train], &[hf]);
        check("!", &[train, hf], &[torch, recorded, "??"]);
        check("!transformers", &[train], &[hf, torch]);
    }
}
