// The operations that PyTorch's optimizers are made of, and that tch leaves out.
#include "shim.h"

#include <optional>
#include <vector>

#include <ATen/ATen.h>

using at::Tensor;
using snapscope::guarded;
using snapscope::vec;

namespace {

std::vector<at::Scalar> scalars(const double* values, size_t count) { return {values, values + count}; }

std::optional<Tensor> optional(const Tensor* tensor) {
  return tensor == nullptr ? std::nullopt : std::optional(*tensor);
}

// Hands tensors over to the caller, who has made room for as many pointers.
void give(const std::vector<Tensor>& tensors, Tensor** out) {
  for (const Tensor& tensor : tensors) *out++ = new Tensor(tensor);
}

}  // namespace

SNAPSCOPE_API char* snapscope_foreach_add(SnapscopeList list, SnapscopeList other, double alpha, Tensor** out) {
  return guarded([&] { give(at::_foreach_add(vec(list), vec(other), alpha), out); });
}

SNAPSCOPE_API char* snapscope_foreach_add_(SnapscopeList list, SnapscopeList other, double alpha) {
  return guarded([&] { at::_foreach_add_(vec(list), vec(other), alpha); });
}

SNAPSCOPE_API char* snapscope_foreach_add_scalar_(SnapscopeList list, double scalar) {
  return guarded([&] { at::_foreach_add_(vec(list), scalar); });
}

SNAPSCOPE_API char* snapscope_foreach_sub_(SnapscopeList list, SnapscopeList other) {
  return guarded([&] { at::_foreach_sub_(vec(list), vec(other)); });
}

SNAPSCOPE_API char* snapscope_foreach_mul_scalar_(SnapscopeList list, double scalar) {
  return guarded([&] { at::_foreach_mul_(vec(list), scalar); });
}

SNAPSCOPE_API char* snapscope_foreach_mul_tensor_(SnapscopeList list, const Tensor* factor) {
  return guarded([&] { at::_foreach_mul_(vec(list), *factor); });
}

SNAPSCOPE_API char* snapscope_foreach_div_(SnapscopeList list, const double* divisors) {
  return guarded([&] { at::_foreach_div_(vec(list), scalars(divisors, list.count)); });
}

SNAPSCOPE_API char* snapscope_foreach_sqrt(SnapscopeList list, Tensor** out) {
  return guarded([&] { give(at::_foreach_sqrt(vec(list)), out); });
}

SNAPSCOPE_API char* snapscope_foreach_norm(SnapscopeList list, Tensor** out) {
  return guarded([&] { give(at::_foreach_norm(vec(list), 2.0), out); });
}

SNAPSCOPE_API char* snapscope_foreach_zero_(SnapscopeList list) {
  return guarded([&] { at::_foreach_zero_(vec(list)); });
}

SNAPSCOPE_API char* snapscope_foreach_lerp_(SnapscopeList list, SnapscopeList end, double weight) {
  return guarded([&] { at::_foreach_lerp_(vec(list), vec(end), weight); });
}

SNAPSCOPE_API char* snapscope_foreach_addcmul_(SnapscopeList list, SnapscopeList a, SnapscopeList b, double value) {
  return guarded([&] { at::_foreach_addcmul_(vec(list), vec(a), vec(b), value); });
}

SNAPSCOPE_API char* snapscope_foreach_addcdiv_(SnapscopeList list, SnapscopeList a, SnapscopeList b,
                                               const double* values) {
  return guarded([&] { at::_foreach_addcdiv_(vec(list), vec(a), vec(b), scalars(values, list.count)); });
}

// What the fused kernels know besides their lists; the layouts are those of lists.rs.
struct SnapscopeFusedAdam {
  bool decoupled;
  double learning_rate, beta1, beta2, weight_decay, epsilon;
  const Tensor* grad_scale;
  const Tensor* found_inf;
};

SNAPSCOPE_API char* snapscope_fused_adam_(SnapscopeList weights, SnapscopeList gradients, SnapscopeList averages,
                                          SnapscopeList squares, SnapscopeList steps, const SnapscopeFusedAdam* with) {
  return guarded([&] {
    const auto call = [&](const auto& function) {
      function(vec(weights), vec(gradients), vec(averages), vec(squares), {}, vec(steps), with->learning_rate,
               with->beta1, with->beta2, with->weight_decay, with->epsilon, /*amsgrad=*/false, /*maximize=*/false,
               optional(with->grad_scale), optional(with->found_inf));
    };
    using Function = void(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                          at::TensorList, double, double, double, double, double, bool, bool,
                          const std::optional<Tensor>&, const std::optional<Tensor>&);
    call(with->decoupled ? static_cast<Function*>(at::_fused_adamw_) : static_cast<Function*>(at::_fused_adam_));
  });
}

struct SnapscopeFusedSgd {
  bool nesterov, first_step;
  double learning_rate, momentum, weight_decay;
  const Tensor* grad_scale;
  const Tensor* found_inf;
};

SNAPSCOPE_API char* snapscope_fused_sgd_(SnapscopeList weights, SnapscopeList gradients, SnapscopeList buffers,
                                         const SnapscopeFusedSgd* with) {
  return guarded([&] {
    at::_fused_sgd_(vec(weights), vec(gradients), vec(buffers), with->weight_decay, with->momentum,
                    with->learning_rate, /*dampening=*/0.0, with->nesterov, /*maximize=*/false, with->first_step,
                    optional(with->grad_scale), optional(with->found_inf));
  });
}

// Multiplies gradients by `inverse_scale`, and sets `found_inf` to 1 where one is not finite.
SNAPSCOPE_API char* snapscope_unscale_(SnapscopeList gradients, Tensor* found_inf, const Tensor* inverse_scale) {
  return guarded([&] {
    at::_amp_foreach_non_finite_check_and_unscale_(vec(gradients), *found_inf, *inverse_scale);
  });
}

SNAPSCOPE_API char* snapscope_clone(const Tensor* tensor, Tensor** out) {
  return guarded([&] { *out = new Tensor(tensor->clone()); });
}

// The Euclidean norm of all elements.
SNAPSCOPE_API char* snapscope_norm(const Tensor* tensor, Tensor** out) {
  return guarded([&] { *out = new Tensor(at::linalg_vector_norm(*tensor, 2.0)); });
}

SNAPSCOPE_API char* snapscope_add(const Tensor* tensor, const Tensor* other, double alpha, Tensor** out) {
  return guarded([&] { *out = new Tensor(at::add(*tensor, *other, alpha)); });
}

SNAPSCOPE_API char* snapscope_add_(Tensor* tensor, const Tensor* other, double alpha) {
  return guarded([&] { tensor->add_(*other, alpha); });
}

SNAPSCOPE_API char* snapscope_addcmul_(Tensor* tensor, const Tensor* a, const Tensor* b, double value) {
  return guarded([&] { tensor->addcmul_(*a, *b, value); });
}

SNAPSCOPE_API char* snapscope_addcdiv_(Tensor* tensor, const Tensor* a, const Tensor* b, double value) {
  return guarded([&] { tensor->addcdiv_(*a, *b, value); });
}

// Takes the gradient away from a parameter: `parameter.grad = None`.
SNAPSCOPE_API void snapscope_reset_gradient(Tensor* parameter) { parameter->mutable_grad().reset(); }
