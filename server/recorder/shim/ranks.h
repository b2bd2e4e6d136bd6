// The processes that train together, of which one runs.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace snapscope {

// The group that a process with this number belongs to; the others are taken to have what this one has.
c10::intrusive_ptr<c10d::ProcessGroup> process_group(int rank, int ranks);

}  // namespace snapscope
