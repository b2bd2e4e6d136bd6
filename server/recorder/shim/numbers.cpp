// Operations of a tensor and a number.
//
// tch has them, but frees the number before it looks for an exception, and panics when it finds one there.
#include "shim.h"

#include <ATen/ATen.h>

using at::Tensor;

// A whole number where `is_whole`, else a real one: the result's number format depends on which.
struct SnapscopeNumber {
  int64_t whole;
  double real;
  bool is_whole;
};

namespace {

// The order is that of `Operation` in numbers.rs.
enum Operation : int {
  kAdd,
  kAddInPlace,
  kSubtract,
  kMultiply,
  kMultiplyInPlace,
  kDivide,
  kPower,
  kAtMost,
  kEqual,
  kNotEqual,
  kLerpInPlace,
  kWhere,
  kFillInPlace,
};

Tensor compute(int operation, Tensor& tensor, const Tensor* other, const at::Scalar& number) {
  switch (operation) {
    case kAdd: return at::add(tensor, number);
    case kAddInPlace: return tensor.add_(number);
    case kSubtract: return at::sub(tensor, number);
    case kMultiply: return at::mul(tensor, number);
    case kMultiplyInPlace: return tensor.mul_(number);
    case kDivide: return at::div(tensor, number);
    case kPower: return at::pow(tensor, number);
    case kAtMost: return at::clamp_max(tensor, number);
    case kEqual: return at::eq(tensor, number);
    case kNotEqual: return at::ne(tensor, number);
    case kLerpInPlace: return tensor.lerp_(*other, number);
    case kWhere: return at::where(*other, tensor, number);
    case kFillInPlace: return tensor.fill_(number);
    default: TORCH_CHECK(false, "there is no operation ", operation);
  }
}

}  // namespace

// `other` is null where the operation reads one tensor only.
SNAPSCOPE_API char* snapscope_number(int operation, Tensor* tensor, const Tensor* other, SnapscopeNumber number,
                                     Tensor** out) {
  return snapscope::guarded([&] {
    const at::Scalar scalar = number.is_whole ? at::Scalar(number.whole) : at::Scalar(number.real);
    *out = new Tensor(compute(operation, *tensor, other, scalar));
  });
}

// The whole numbers below `end`, as 64-bit integers on a GPU, or in host memory where `device` is -1.
SNAPSCOPE_API char* snapscope_range(int64_t end, int device, Tensor** out) {
  return snapscope::guarded([&] {
    const auto index = static_cast<c10::DeviceIndex>(device);
    const at::Device place = device < 0 ? at::Device(at::kCPU) : at::Device(at::kCUDA, index);
    *out = new Tensor(at::arange(end, at::TensorOptions(place).dtype(at::kLong)));
  });
}
