//! Embeddings of images as tokens: `ViTEmbeddings`.

use shared::job;
use tch::Tensor;

use crate::Result;
use crate::builder::{Builder, Init};
use crate::model::layer::{Dropout, INITIALIZER_RANGE, Patches};
use crate::pass::Pass;
use crate::place::Module;

/// Number of colour channels.
pub(super) const COLOURS: i64 = 3;

/// Patches, the class token, and positions.
#[derive(Debug)]
pub(super) struct Embeddings {
    module: Module,
    patches: Patches,
    class: Tensor,
    positions: Tensor,
    dropout: Dropout,
}

impl Embeddings {
    pub(super) fn new(builder: &Builder, config: &job::Vit) -> Result<Self> {
        let hidden = config.encoder.hidden.cast_signed();
        let patch_size = config.patch_size.cast_signed();
        let patches = || Patches::new(&builder.child("patches"), [COLOURS, hidden], patch_size, INITIALIZER_RANGE);
        let own = || -> Result<(Tensor, Tensor)> {
            let own = |name, tokens| builder.parameter(name, &[1, tokens, hidden], Init::Normal(INITIALIZER_RANGE));
            Ok((own("class", 1)?, own("position", config.tokens().cast_signed())?))
        };
        let (patches, (class, positions)) = builder.inside_first(patches, own)?;
        let dropout = Dropout::new(&builder.child("dropout"), config.encoder.residual_dropout);
        Ok(Self { module: builder.module(), patches, class, positions, dropout })
    }

    /// Returns features of shape (samples, tokens, features).
    pub(super) fn forward(&self, images: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let mut tokens = self.patches.forward(images)?;
            let class = self.class.f_expand([images.size()[0], -1, -1], false)?;
            tokens = Tensor::f_cat(&[&class, &tokens], 1)?;
            tokens = tokens.f_add(&self.positions)?;
            self.dropout.forward(&tokens, pass)
        })
    }
}
