// The operations that PyTorch's optimizers are made of, and that tch leaves out.
#include "shim.h"

#include <optional>
#include <vector>

#include <ATen/ATen.h>

using at::Tensor;

namespace {

std::vector<at::Scalar> scalars(const double* values, size_t count) { return {values, values + count}; }

std::optional<Tensor> optional(const Tensor* tensor) { return tensor == nullptr ? std::nullopt : std::optional(*tensor); }

// Hands tensors over to the caller, who has made room for as many pointers.
void give(const std::vector<Tensor>& tensors, Tensor** out) {
  for (const Tensor& tensor : tensors) *out++ = new Tensor(tensor);
}

}  // namespace

SNAPSCOPE_API char* snapscope_foreach_add(SnapscopeList list, SnapscopeList other, double alpha, Tensor** out) {
  return snapscope::guarded([&] { give(at::_foreach_add(snapscope::vec(list), snapscope::vec(other), alpha), out); });
}

SNAPSCOPE_API char* snapscope_foreach_add_(SnapscopeList list, SnapscopeList other, double alpha) {
  return snapscope::guarded([&] { at::_foreach_add_(snapscope::vec(list), snapscope::vec(other), alpha); });
}

SNAPSCOPE_API char* snapscope_foreach_add_scalar_(SnapscopeList list, double scalar) {
  return snapscope::guarded([&] { at::_foreach_add_(snapscope::vec(list), scalar); });
}

SNAPSCOPE_API char* snapscope_foreach_sub_(SnapscopeList list, SnapscopeList other) {
  return snapscope::guarded([&] { at::_foreach_sub_(snapscope::vec(list), snapscope::vec(other)); });
}

SNAPSCOPE_API char* snapscope_foreach_mul_scalar_(SnapscopeList list, double scalar) {
  return snapscope::guarded([&] { at::_foreach_mul_(snapscope::vec(list), scalar); });
}

SNAPSCOPE_API char* snapscope_foreach_mul_tensor_(SnapscopeList list, const Tensor* factor) {
  return snapscope::guarded([&] { at::_foreach_mul_(snapscope::vec(list), *factor); });
}

SNAPSCOPE_API char* snapscope_foreach_div_(SnapscopeList list, const double* divisors) {
  return snapscope::guarded([&] { at::_foreach_div_(snapscope::vec(list), scalars(divisors, list.count)); });
}

SNAPSCOPE_API char* snapscope_foreach_sqrt(SnapscopeList list, Tensor** out) {
  return snapscope::guarded([&] { give(at::_foreach_sqrt(snapscope::vec(list)), out); });
}

SNAPSCOPE_API char* snapscope_foreach_norm(SnapscopeList list, Tensor** out) {
  return snapscope::guarded([&] { give(at::_foreach_norm(snapscope::vec(list), 2.0), out); });
}

SNAPSCOPE_API char* snapscope_foreach_zero_(SnapscopeList list) {
  return snapscope::guarded([&] { at::_foreach_zero_(snapscope::vec(list)); });
}

SNAPSCOPE_API char* snapscope_foreach_lerp_(SnapscopeList list, SnapscopeList end, double weight) {
  return snapscope::guarded([&] { at::_foreach_lerp_(snapscope::vec(list), snapscope::vec(end), weight); });
}

SNAPSCOPE_API char* snapscope_foreach_addcmul_(SnapscopeList list, SnapscopeList a, SnapscopeList b, double value) {
  return snapscope::guarded([&] { at::_foreach_addcmul_(snapscope::vec(list), snapscope::vec(a), snapscope::vec(b), value); });
}

SNAPSCOPE_API char* snapscope_foreach_addcdiv_(SnapscopeList list, SnapscopeList a, SnapscopeList b,
                                               const double* values) {
  return snapscope::guarded([&] { at::_foreach_addcdiv_(snapscope::vec(list), snapscope::vec(a), snapscope::vec(b), scalars(values, list.count)); });
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
  return snapscope::guarded([&] {
    const auto call = [&](const auto& function) {
      function(snapscope::vec(weights), snapscope::vec(gradients), snapscope::vec(averages), snapscope::vec(squares), {}, snapscope::vec(steps), with->learning_rate,
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
  return snapscope::guarded([&] {
    at::_fused_sgd_(snapscope::vec(weights), snapscope::vec(gradients), snapscope::vec(buffers), with->weight_decay, with->momentum,
                    with->learning_rate, /*dampening=*/0.0, with->nesterov, /*maximize=*/false, with->first_step,
                    optional(with->grad_scale), optional(with->found_inf));
  });
}

// Multiplies gradients by `inverse_scale`, and sets `found_inf` to 1 where one is not finite.
SNAPSCOPE_API char* snapscope_unscale_(SnapscopeList gradients, Tensor* found_inf, const Tensor* inverse_scale) {
  return snapscope::guarded([&] {
    at::_amp_foreach_non_finite_check_and_unscale_(snapscope::vec(gradients), *found_inf, *inverse_scale);
  });
}

SNAPSCOPE_API char* snapscope_clone(const Tensor* tensor, Tensor** out) {
  return snapscope::guarded([&] { *out = new Tensor(tensor->clone()); });
}

// The Euclidean norm of all elements.
SNAPSCOPE_API char* snapscope_norm(const Tensor* tensor, Tensor** out) {
  return snapscope::guarded([&] { *out = new Tensor(at::linalg_vector_norm(*tensor, 2.0)); });
}

SNAPSCOPE_API char* snapscope_add(const Tensor* tensor, const Tensor* other, double alpha, Tensor** out) {
  return snapscope::guarded([&] { *out = new Tensor(at::add(*tensor, *other, alpha)); });
}

SNAPSCOPE_API char* snapscope_add_(Tensor* tensor, const Tensor* other, double alpha) {
  return snapscope::guarded([&] { tensor->add_(*other, alpha); });
}

SNAPSCOPE_API char* snapscope_addcmul_(Tensor* tensor, const Tensor* a, const Tensor* b, double value) {
  return snapscope::guarded([&] { tensor->addcmul_(*a, *b, value); });
}

SNAPSCOPE_API char* snapscope_addcdiv_(Tensor* tensor, const Tensor* a, const Tensor* b, double value) {
  return snapscope::guarded([&] { tensor->addcdiv_(*a, *b, value); });
}

// Takes the gradient away from a parameter: `parameter.grad = None`.
SNAPSCOPE_API void snapscope_reset_gradient(Tensor* parameter) { parameter->mutable_grad().reset(); }
