//! Mistakes inside of a model: what its layers keep of each pass.

use std::cell::RefCell;
use std::rc::Rc;

use shared::job::Mistake;
use tch::Tensor;

/// The mistakes that layers make, and the list that their hooks append to.
#[derive(Debug, Clone, Default)]
pub struct Inside {
    made: Rc<[Mistake]>,
    features: Rc<RefCell<Vec<Tensor>>>,
}

/// What becomes of the output of a part of the model, beside what the model does with it.
#[derive(Debug, Default)]
pub enum Hook {
    /// Nothing.
    #[default]
    None,
    /// `self.attended = attended`: an attribute has it until the next pass.
    Attribute(RefCell<Option<Tensor>>),
    /// `features.append(output)`: a list of the script has it for good.
    List(Rc<RefCell<Vec<Tensor>>>),
}

impl Inside {
    /// The mistakes of a job; those of its loop are not looked at.
    pub fn new(made: &[Mistake]) -> Self {
        Self { made: made.into(), features: Rc::default() }
    }

    /// The hook of one layer.
    pub fn hook_of_layer(&self) -> Hook {
        let makes = self.made.contains(&Mistake::HookActivations);
        if makes { Hook::List(Rc::clone(&self.features)) } else { Hook::None }
    }

    /// The hook of one layer's attention.
    pub fn hook_of_attention(&self) -> Hook {
        let makes = self.made.contains(&Mistake::CacheActivations);
        if makes { Hook::Attribute(RefCell::default()) } else { Hook::None }
    }

    /// Whether a hidden state goes from batch to batch with its graph.
    pub fn chains_hidden_state(&self) -> bool {
        self.made.contains(&Mistake::ChainHiddenState)
    }
}

impl Hook {
    /// After the part has run and its variables are gone, also when backward runs it again.
    pub fn see(&self, output: &Tensor) {
        match self {
            Self::None => {}
            // What was there before is freed once the new one is.
            Self::Attribute(attribute) => drop(attribute.replace(Some(output.shallow_clone()))),
            Self::List(list) => list.borrow_mut().push(output.shallow_clone()),
        }
    }
}
