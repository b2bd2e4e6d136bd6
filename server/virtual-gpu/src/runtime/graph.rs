//! Creates and launches graphs, of whose operations only host functions do anything.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use super::{give, status, stream};
use crate::error::{Error, Result};
use crate::ffi::{Handle, Out, text};
use crate::state::capture::{Graph, Node};
use crate::state::handle::Kind;
use crate::state::work::UserObject;
use crate::state::{machine, thread};
use crate::stub::{functions, harmless, unmodelled};
use crate::versions::versions;

harmless! { cudaGraphUpload, cudaDeviceGraphMemTrim }

unmodelled! {
    "cudart", 801 =>
    cudaGraphAddChildGraphNode,
    cudaGraphAddDependencies,
    cudaGraphAddEmptyNode,
    cudaGraphAddEventRecordNode,
    cudaGraphAddEventWaitNode,
    cudaGraphAddHostNode,
    cudaGraphAddKernelNode,
    cudaGraphAddMemAllocNode,
    cudaGraphAddMemFreeNode,
    cudaGraphAddMemcpyNode,
    cudaGraphAddMemcpyNode1D,
    cudaGraphAddMemsetNode,
    cudaGraphAddNode,
    cudaGraphConditionalHandleCreate,
    cudaGraphExecKernelNodeSetParams,
    cudaGraphExecUpdate,
    cudaGraphKernelNodeGetParams,
    cudaGraphKernelNodeSetParams,
    cudaGraphMemcpyNodeGetParams,
    cudaGraphMemsetNodeGetParams,
}

/// `cudaGraphNodeTypeKernel`.
const TYPE_KERNEL: c_int = 0;

/// `cudaGraphNodeTypeHost`.
const TYPE_HOST: c_int = 3;

/// Number of operations per graph for which handles have room.
const NODES_OF_A_GRAPH: usize = 1 << 20;

fn graph_number(graph: Handle) -> Result<usize> {
    Kind::Graph.number(graph).map_err(|_| Error::InvalidValue)
}

functions! {
    cudaGraphCreate(graph: Out<Handle>, _flags: c_uint) =>
        give(graph, Kind::Graph.handle(machine()?.work().add_graph(Graph::default())));
    cudaGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: Out<usize>) =
        cudaGraphGetNodes(graph, nodes, count);
    cudaGraphNodeGetDependencies(_node: Handle, _dependencies: *mut Handle, edges: Out<usize>, count: Out<usize>) =
        no_edges(edges, count);
    cudaGraphNodeGetDependentNodes(_node: Handle, _dependents: *mut Handle, edges: Out<usize>, count: Out<usize>) =
        no_edges(edges, count);
    cudaGraphGetEdges(_graph: Handle, _from: *mut Handle, _to: *mut Handle, edges: Out<usize>, count: Out<usize>) =
        no_edges(edges, count);
    cudaGraphInstantiate(executable: Out<Handle>, graph: Handle, flags: c_ulonglong) =
        cudaGraphInstantiateWithFlags(executable, graph, flags);
    cudaGraphExecGetFlags(_executable: Handle, flags: Out<c_ulonglong>) => give(flags, 0);
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphClone(clone: Out<Handle>, graph: Handle) -> c_int {
    status(|| {
        let mut work = machine()?.work();
        let nodes = work.graph(graph_number(graph)?)?.nodes.clone();
        give(clone, Kind::Graph.handle(work.add_graph(Graph { nodes, user_objects: Vec::new() })))
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphDestroy(graph: Handle) -> c_int {
    status(|| {
        let released = machine()?.work().remove_graph(graph_number(graph)?)?;
        released.into_iter().for_each(destroy);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphGetNodes(graph: Handle, nodes: *mut Handle, count: Out<usize>) -> c_int {
    status(|| {
        let number = graph_number(graph)?;
        let held = machine()?.work().graph(number)?.nodes.len();
        if !nodes.is_null() {
            let wanted = count.get().ok_or(Error::InvalidValue)?.min(held);
            for index in 0..wanted {
                // SAFETY: the caller guarantees that there is room for as many handles as `count` says.
                unsafe { nodes.add(index).write(Kind::Node.handle(number * NODES_OF_A_GRAPH + index)) };
            }
        }
        give(count, held)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphNodeGetType(node: Handle, kind: Out<c_int>) -> c_int {
    status(|| {
        let number = Kind::Node.number(node).map_err(|_| Error::InvalidValue)?;
        let work = machine()?.work();
        let node = work.graph(number / NODES_OF_A_GRAPH)?.nodes.get(number % NODES_OF_A_GRAPH);
        give(kind, if matches!(node, Some(Node::Host(..))) { TYPE_HOST } else { TYPE_KERNEL })
    })
}

/// Writes that there are no edges: dependencies between nodes are not kept.
///
/// In CUDA 13 the count is the last parameter; CUDA 12 has it in the place of the data about edges, and no more after it.
fn no_edges(edges: Out<usize>, count: Out<usize>) -> c_int {
    status(|| give(if versions().cuda[0] < 13 { edges } else { count }, 0))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphInstantiateWithFlags(
    executable: Out<Handle>,
    graph: Handle,
    _flags: c_ulonglong,
) -> c_int {
    status(|| {
        let mut work = machine()?.work();
        let nodes = work.graph(graph_number(graph)?)?.nodes.clone();
        let number = work.add_graph(Graph { nodes, user_objects: Vec::new() });
        give(executable, Kind::Executable.handle(number))
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphExecDestroy(executable: Handle) -> c_int {
    status(|| {
        let number = Kind::Executable.number(executable).map_err(|_| Error::InvalidValue)?;
        machine()?.work().remove_graph(number).map(|_| ())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphLaunch(executable: Handle, stream: Handle) -> c_int {
    status(|| {
        let machine = machine()?;
        let number = Kind::Executable.number(executable).map_err(|_| Error::InvalidValue)?;
        let nodes = machine.work().graph(number)?.nodes.clone();
        thread::set_last_kernel(std::ptr::null());
        for node in nodes {
            if let (true, Node::Host(function, argument)) = (machine.put(stream, node)?, node) {
                stream::call(function, argument);
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphDebugDotPrint(graph: Handle, path: *const c_char, _flags: c_uint) -> c_int {
    status(|| {
        let number = graph_number(graph)?;
        let count = machine()?.work().graph(number)?.nodes.len();
        let nodes: String = (0..count).map(|index| format!("  node_{index};\n")).collect();
        std::fs::write(text(path), format!("digraph graph_{number} {{\n{nodes}}}\n")).map_err(|_| Error::InvalidValue)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaUserObjectCreate(
    object: Out<Handle>,
    content: *mut c_void,
    destroy: *const c_void,
    references: c_uint,
    _flags: c_uint,
) -> c_int {
    status(|| {
        let mut work = machine()?.work();
        work.user_objects.push(UserObject { object: content as usize, destroy: destroy as usize, references });
        give(object, Kind::UserObject.handle(work.user_objects.len() - 1))
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaUserObjectRetain(object: Handle, count: c_uint) -> c_int {
    status(|| {
        let number = Kind::UserObject.number(object).map_err(|_| Error::InvalidValue)?;
        let mut work = machine()?.work();
        let object = work.user_objects.get_mut(number).filter(|object| object.references > 0);
        object.ok_or(Error::InvalidValue)?.references += count;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaUserObjectRelease(object: Handle, count: c_uint) -> c_int {
    status(|| {
        let number = Kind::UserObject.number(object).map_err(|_| Error::InvalidValue)?;
        let released = machine()?.work().release_object(number, count)?;
        released.into_iter().for_each(destroy);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphRetainUserObject(
    graph: Handle,
    object: Handle,
    count: c_uint,
    flags: c_uint,
) -> c_int {
    /// `cudaGraphUserObjectMove`: the caller's references become the graph's.
    const MOVE: c_uint = 1;
    status(|| {
        let number = Kind::UserObject.number(object).map_err(|_| Error::InvalidValue)?;
        let mut work = machine()?.work();
        let object = work.user_objects.get_mut(number).ok_or(Error::InvalidValue)?;
        if flags & MOVE == 0 {
            object.references += count;
        }
        work.graph_mut(graph_number(graph)?)?.user_objects.push((number, count));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphReleaseUserObject(graph: Handle, object: Handle, count: c_uint) -> c_int {
    status(|| {
        let number = Kind::UserObject.number(object).map_err(|_| Error::InvalidValue)?;
        let released = {
            let mut work = machine()?.work();
            let held = &mut work.graph_mut(graph_number(graph)?)?.user_objects;
            let place = held.iter().position(|&held| held == (number, count)).ok_or(Error::InvalidValue)?;
            held.remove(place);
            work.release_object(number, count)?
        };
        released.into_iter().for_each(destroy);
        Ok(())
    })
}

/// Destroys a user object by calling its function.
///
/// No lock may be held, because the function may call CUDA.
fn destroy(object: UserObject) {
    if object.destroy != 0 {
        stream::call(object.destroy, object.object);
    }
}
