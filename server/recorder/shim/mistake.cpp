// What only mistakes need of PyTorch.
#include "shim.h"

#include <memory>

#include <ATen/ATen.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <torch/csrc/autograd/function.h>

// `tensor.backward(retain_graph=True)`
SNAPSCOPE_API char* snapscope_backward_retaining(at::Tensor* tensor) {
  return snapscope::guarded([&] { tensor->backward({}, /*retain_graph=*/true); });
}

// `tensor.grad_fn`; it keeps the graph until it is dropped.
SNAPSCOPE_API char* snapscope_grad_fn(const at::Tensor* tensor, void** out) {
  return snapscope::guarded([&] { *out = new std::shared_ptr<torch::autograd::Node>(tensor->grad_fn()); });
}

SNAPSCOPE_API void snapscope_drop_grad_fn(void* node) {
  delete static_cast<std::shared_ptr<torch::autograd::Node>*>(node);
}

// `torch.cuda.empty_cache()`
SNAPSCOPE_API char* snapscope_empty_cache() {
  return snapscope::guarded([] { c10::cuda::CUDACachingAllocator::emptyCache(); });
}
