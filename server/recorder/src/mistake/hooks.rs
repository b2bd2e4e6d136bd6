//! Mistakes inside a model: tensors that its layers keep from each pass.

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

/// Place where a script keeps the output of a part of the model, besides the model's own use of it.
#[derive(Debug, Default)]
pub enum Hook {
    #[default]
    None,
    /// `self.attended = attended`: an attribute holds it until the next pass.
    Attribute(RefCell<Option<Tensor>>),
    /// `features.append(output)`: a list of the script holds it for the rest of the run.
    List(Rc<RefCell<Vec<Tensor>>>),
}

impl Inside {
    /// Creates the hooks of a job's mistakes; mistakes of the training loop have no effect here.
    pub fn new(made: &[Mistake]) -> Self {
        Self { made: made.into(), features: Rc::default() }
    }

    /// Returns the hook of one layer.
    pub fn hook_of_layer(&self) -> Hook {
        let makes = self.made.contains(&Mistake::HookActivations);
        if makes { Hook::List(Rc::clone(&self.features)) } else { Hook::None }
    }

    /// Returns the hook of one layer's attention.
    pub fn hook_of_attention(&self) -> Hook {
        let makes = self.made.contains(&Mistake::CacheActivations);
        if makes { Hook::Attribute(RefCell::default()) } else { Hook::None }
    }

    /// Returns true if a hidden state is passed from batch to batch with its graph.
    pub fn chains_hidden_state(&self) -> bool {
        self.made.contains(&Mistake::ChainHiddenState)
    }
}

impl Hook {
    /// Runs the hook, after the part has returned and its variables are gone, and also when backward recomputes the
    /// part.
    pub fn see(&self, output: &Tensor) {
        match self {
            Self::None => {}
            // The previous output is freed once the new one is in its place.
            Self::Attribute(attribute) => drop(attribute.replace(Some(output.shallow_clone()))),
            Self::List(list) => list.borrow_mut().push(output.shallow_clone()),
        }
    }
}
