// Backward of a pipeline's stage, which begins with a gradient that the stage behind has sent.
#include "shim.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

using at::Tensor;

SNAPSCOPE_API char* snapscope_backward_from(const Tensor* output, const Tensor* gradient) {
  return snapscope::guarded([&] { torch::autograd::backward({*output}, {*gradient}); });
}
