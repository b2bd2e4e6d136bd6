// `nn.parallel.DistributedDataParallel` of one process: c10d's own reducer, and what Python's class does around it.
//
// Follows torch/nn/parallel/distributed.py of PyTorch 2.11.
#include "shim.h"

#include <limits>
#include <optional>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

using at::Tensor;
using torch::autograd::Node;
using torch::autograd::variable_list;

// The group has one process that runs: what the others would send is what it has itself. It allocates what
// ProcessGroupNCCL of PyTorch 2.11 does, which needs the other processes: nothing, but for `allgather`.
namespace {

// A collective that is done.
struct Done final : c10d::Work {
  // `result` is what the caller's tensors hold then; `scratch` is freed with this.
  explicit Done(std::vector<Tensor> result, Tensor scratch = {})
      : outputs(std::move(result)), scratch(std::move(scratch)) {}

  bool isCompleted() override { return true; }
  bool isSuccess() const override { return true; }
  bool wait(std::chrono::milliseconds) override { return true; }
  void synchronize() override {}
  std::vector<Tensor> result() override { return outputs; }

  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    const std::vector<c10::Device> devices{outputs.front().device()};
    auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()), devices);
    future->markCompleted(c10::IValue(outputs));
    return future;
  }

  std::vector<Tensor> outputs;
  Tensor scratch;
};

// The collectives that data parallelism asks for.
struct Alone final : c10d::Backend {
  using c10d::Backend::Backend;
  using Result = c10::intrusive_ptr<c10d::Work>;

  const std::string getBackendName() const override { return "alone"; }

  Result broadcast(std::vector<Tensor>& tensors, const c10d::BroadcastOptions&) override {
    return c10::make_intrusive<Done>(tensors);
  }

  Result allreduce(std::vector<Tensor>& tensors, const c10d::AllreduceOptions&) override {
    return c10::make_intrusive<Done>(tensors);
  }

  // Gathers into one tensor first, as NCCL does.
  Result allgather(std::vector<std::vector<Tensor>>& outputs, std::vector<Tensor>& inputs,
                   const c10d::AllgatherOptions&) override {
    const Tensor& input = inputs.front();
    std::vector<int64_t> shape = input.sizes().vec();
    shape.insert(shape.begin(), getSize());
    const Tensor gathered = at::empty(shape, input.options());
    for (int rank = 0; rank < getSize(); ++rank) {
      gathered[rank].copy_(input, true);
      outputs.front()[rank].copy_(gathered[rank], true);
    }
    return c10::make_intrusive<Done>(outputs.front(), gathered);
  }
};

// The group that a process with this number belongs to; the others are taken to have what this one has.
c10::intrusive_ptr<c10d::ProcessGroup> process_group(int rank, int ranks) {
  constexpr auto kBackend = c10d::ProcessGroup::BackendType::CUSTOM;
  auto group = c10::make_intrusive<c10d::ProcessGroup>(c10::make_intrusive<c10d::HashStore>(), rank, ranks);
  group->setBackend(c10::DeviceType::CUDA, kBackend, c10::make_intrusive<Alone>(rank, ranks));
  group->setDefaultBackend(kBackend);
  return group;
}

}  // namespace

SNAPSCOPE_API const void* snapscope_enter(uint32_t module);
SNAPSCOPE_API void snapscope_leave(const void* before);

struct SnapscopeDdpOptions {
  int rank;
  int ranks;
  // 0 for PyTorch's own sizes.
  int64_t bucket_bytes;
  bool gradient_as_bucket_view;
  bool static_graph;
  bool find_unused_parameters;
  // The module of the bucket with this number.
  uint32_t (*bucket_module)(uint32_t);
};

struct SnapscopeDdp {
  SnapscopeDdpOptions options;
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  std::shared_ptr<c10d::Reducer> reducer;
  std::vector<Tensor> buffers;
  // `require_forward_param_sync`
  bool buffers_due = true;
  // `_static_graph_delay_allreduce_enqueued`
  bool reduction_delayed = false;
};

namespace {

// `broadcast_bucket_size`
constexpr size_t kBroadcastBytes = 250 * 1024 * 1024;

// While it lives, each bucket that the reducer makes on this thread is a module of its own.
//
// Buckets are all that a reducer makes room for by `at::empty` on the device and in floating point.
class BucketNames {
 public:
  explicit BucketNames(uint32_t (*bucket_module)(uint32_t)) : module_(bucket_module) {
    current_ = this;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(on_operation).scopes({at::RecordScope::FUNCTION}).needsInputs(true));
  }

  ~BucketNames() {
    at::removeCallback(handle_);
    current_ = nullptr;
    if (before_.has_value()) snapscope_leave(*before_);
  }

  BucketNames(const BucketNames&) = delete;

 private:
  static std::unique_ptr<at::ObserverContext> on_operation(const at::RecordFunction& function) {
    if (is_bucket(function)) {
      const void* before = snapscope_enter(current_->module_(current_->made_++));
      if (!current_->before_.has_value()) current_->before_ = before;
    }
    return nullptr;
  }

  static bool is_bucket(const at::RecordFunction& function) {
    constexpr size_t kFormat = 1, kDevice = 3;
    if (std::string_view(function.name()) != "aten::empty") return false;
    const auto inputs = function.inputs();
    if (inputs.size() <= kDevice || !inputs[kFormat].isInt() || !inputs[kDevice].isDevice()) return false;
    return c10::isFloatingType(inputs[kFormat].toScalarType()) && inputs[kDevice].toDevice().is_cuda();
  }

  static thread_local BucketNames* current_;
  uint32_t (*module_)(uint32_t);
  uint32_t made_ = 0;
  std::optional<const void*> before_;
  at::CallbackHandle handle_;
};

thread_local BucketNames* BucketNames::current_ = nullptr;

// `_ddp_init_helper`
std::shared_ptr<c10d::Reducer> reducer_of(const std::vector<Tensor>& parameters, const SnapscopeDdp& ddp) {
  const SnapscopeDdpOptions& options = ddp.options;
  const bool own_sizes = options.bucket_bytes == 0;
  const int64_t bytes = own_sizes ? c10d::kDefaultBucketBytesCap : options.bucket_bytes;
  const int64_t first_bytes = own_sizes ? c10d::kDefaultFirstBucketBytes : bytes;
  std::vector<size_t> limits;
  if (options.static_graph || !options.find_unused_parameters) {
    // One bucket, until the first backward has shown in which order gradients come.
    limits = {static_cast<size_t>(std::numeric_limits<int64_t>::max())};
  } else {
    if (own_sizes) limits.push_back(first_bytes);
    limits.push_back(bytes);
  }
  const std::vector<bool> sparse(parameters.size(), false);
  auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(parameters, limits, sparse));
  std::reverse(buckets.begin(), buckets.end());
  const BucketNames names(options.bucket_module);
  return std::make_shared<c10d::Reducer>(
      parameters, std::move(buckets), ddp.group, sparse, bytes, options.find_unused_parameters,
      options.gradient_as_bucket_view, std::unordered_map<size_t, std::string>{}, first_bytes,
      /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false, std::vector<int64_t>{});
}

// `_DDPSink`: passes gradients on, and delays the reduction in the first backward of a static graph.
struct DDPSinkBackward final : Node {
  explicit DDPSinkBackward(SnapscopeDdp* ddp) : ddp(ddp) {}

  std::string name() const override { return "DDPSinkBackward"; }

  variable_list apply(variable_list&& gradients) override {
    if (ddp->options.static_graph && !ddp->reduction_delayed) {
      const auto reducer = ddp->reducer;
      torch::autograd::Engine::get_default_engine().queue_callback([reducer] { reducer->delay_all_reduce(); });
      ddp->reduction_delayed = true;
    }
    return std::move(gradients);
  }

  SnapscopeDdp* ddp;
};

// Copies of the outputs whose gradients come through a sink; one without a graph stays itself, its copy is lost.
std::vector<Tensor> through_sink(SnapscopeDdp* ddp, const std::vector<Tensor>& outputs) {
  RECORD_FUNCTION("DDPSink", c10::ArrayRef<const c10::IValue>{}, static_cast<int64_t>(at::sequence_number::peek()));
  std::shared_ptr<Node> sink;
  if (at::GradMode::is_enabled()) {
    sink = std::shared_ptr<Node>(new DDPSinkBackward(ddp), torch::autograd::deleteNode);
    sink->set_next_edges(torch::autograd::collect_next_edges(outputs));
  }
  std::vector<Tensor> copies;
  {
    const at::NoGradGuard no_grad;
    for (const Tensor& output : outputs) copies.push_back(output.clone());
  }
  for (Tensor& copy : copies) {
    if (sink != nullptr) torch::autograd::set_history(copy, sink);
  }
  std::vector<Tensor> results;
  for (size_t index = 0; index < outputs.size(); ++index) {
    results.push_back(outputs[index].grad_fn() == nullptr ? outputs[index] : copies[index]);
  }
  return results;
}

bool has_sink(const SnapscopeDdp& ddp) {
  return ddp.options.static_graph ? !ddp.reduction_delayed : ddp.options.find_unused_parameters;
}

}  // namespace

// Wraps a model: checks and sends what it has, and makes the buckets of its gradients.
SNAPSCOPE_API char* snapscope_ddp_new(SnapscopeList parameters, SnapscopeList buffers, SnapscopeDdpOptions options,
                                      SnapscopeDdp** out) {
  return snapscope::guarded([&] {
    auto ddp = std::make_unique<SnapscopeDdp>();
    ddp->options = options;
    ddp->group = process_group(options.rank, options.ranks);
    ddp->buffers = snapscope::vec(buffers);
    const std::vector<Tensor> trained = snapscope::vec(parameters);
    c10d::verify_params_across_processes(ddp->group, trained, std::nullopt);
    std::vector<Tensor> states;
    for (const Tensor& parameter : trained) states.push_back(parameter.detach());
    states.insert(states.end(), ddp->buffers.begin(), ddp->buffers.end());
    c10d::broadcast_coalesced(ddp->group, states, kBroadcastBytes, 0);
    ddp->reducer = reducer_of(trained, *ddp);
    if (options.static_graph) ddp->reducer->set_static_graph();
    *out = ddp.release();
  });
}

SNAPSCOPE_API void snapscope_ddp_free(SnapscopeDdp* ddp) { delete ddp; }

// `_pre_forward`; `synchronize` is false under `no_sync()`.
SNAPSCOPE_API char* snapscope_ddp_before_forward(SnapscopeDdp* ddp, bool synchronize) {
  return snapscope::guarded([&] {
    if (at::GradMode::is_enabled()) {
      const BucketNames names(ddp->options.bucket_module);
      if (synchronize) ddp->reducer->prepare_for_forward();
      ddp->reducer->rebuild_buckets();
    }
    if (!ddp->buffers_due || ddp->buffers.empty()) return;
    const at::NoGradGuard no_grad;
    c10d::broadcast_coalesced(ddp->group, ddp->buffers, kBroadcastBytes, 0);
  });
}

// `_post_forward`; `out` gets as many tensors as there are `outputs`: these, or what stands for them.
SNAPSCOPE_API char* snapscope_ddp_after_forward(SnapscopeDdp* ddp, bool synchronize, SnapscopeList outputs,
                                                Tensor** out) {
  return snapscope::guarded([&] {
    std::vector<Tensor> results = snapscope::vec(outputs);
    ddp->buffers_due = at::GradMode::is_enabled() && synchronize;
    if (ddp->buffers_due) {
      const bool find_unused = ddp->options.find_unused_parameters && !ddp->options.static_graph;
      ddp->reducer->prepare_for_backward(find_unused ? results : std::vector<Tensor>{});
    }
    if (has_sink(*ddp)) results = through_sink(ddp, results);
    for (Tensor& result : results) *out++ = new Tensor(std::move(result));
  });
}
