//! Defines the structure of device properties, field by field as in CUDA 13.

use std::ffi::{c_int, c_uint};

use crate::state::device::Device;

/// `cudaDeviceProp` of CUDA 13.0.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Properties {
    pub(super) name: [u8; 256],
    pub(super) uuid: [u8; 16],
    pub(super) luid: [u8; 8],
    pub(super) luid_device_node_mask: c_uint,
    pub(super) total_global_mem: usize,
    pub(super) shared_mem_per_block: usize,
    pub(super) regs_per_block: c_int,
    pub(super) warp_size: c_int,
    pub(super) mem_pitch: usize,
    pub(super) max_threads_per_block: c_int,
    pub(super) max_threads_dim: [c_int; 3],
    pub(super) max_grid_size: [c_int; 3],
    pub(super) total_const_mem: usize,
    pub(super) major: c_int,
    pub(super) minor: c_int,
    pub(super) texture_alignment: usize,
    pub(super) texture_pitch_alignment: usize,
    pub(super) multi_processor_count: c_int,
    pub(super) integrated: c_int,
    pub(super) can_map_host_memory: c_int,
    pub(super) textures_and_surfaces: [c_int; 39],
    pub(super) surface_alignment: usize,
    pub(super) concurrent_kernels: c_int,
    pub(super) ecc_enabled: c_int,
    pub(super) pci_bus_id: c_int,
    pub(super) pci_device_id: c_int,
    pub(super) pci_domain_id: c_int,
    pub(super) tcc_driver: c_int,
    pub(super) async_engine_count: c_int,
    pub(super) unified_addressing: c_int,
    pub(super) memory_bus_width: c_int,
    pub(super) l2_cache_size: c_int,
    pub(super) persisting_l2_cache_max_size: c_int,
    pub(super) max_threads_per_multi_processor: c_int,
    pub(super) stream_priorities_supported: c_int,
    pub(super) global_l1_cache_supported: c_int,
    pub(super) local_l1_cache_supported: c_int,
    pub(super) shared_mem_per_multiprocessor: usize,
    pub(super) regs_per_multiprocessor: c_int,
    pub(super) managed_memory: c_int,
    pub(super) is_multi_gpu_board: c_int,
    pub(super) multi_gpu_board_group_id: c_int,
    pub(super) host_native_atomic_supported: c_int,
    pub(super) pageable_memory_access: c_int,
    pub(super) concurrent_managed_access: c_int,
    pub(super) compute_preemption_supported: c_int,
    pub(super) can_use_host_pointer_for_registered_mem: c_int,
    pub(super) cooperative_launch: c_int,
    pub(super) shared_mem_per_block_optin: usize,
    pub(super) pageable_memory_access_uses_host_page_tables: c_int,
    pub(super) direct_managed_mem_access_from_host: c_int,
    pub(super) max_blocks_per_multi_processor: c_int,
    pub(super) access_policy_max_window_size: c_int,
    pub(super) reserved_shared_mem_per_block: usize,
    pub(super) host_register_supported: c_int,
    pub(super) sparse_cuda_array_supported: c_int,
    pub(super) host_register_read_only_supported: c_int,
    pub(super) timeline_semaphore_interop_supported: c_int,
    pub(super) memory_pools_supported: c_int,
    pub(super) gpu_direct_rdma_supported: c_int,
    pub(super) gpu_direct_rdma_flush_writes_options: c_uint,
    pub(super) gpu_direct_rdma_writes_ordering: c_int,
    pub(super) memory_pool_supported_handle_types: c_uint,
    pub(super) deferred_mapping_cuda_array_supported: c_int,
    pub(super) ipc_event_supported: c_int,
    pub(super) cluster_launch: c_int,
    pub(super) unified_function_pointers: c_int,
    pub(super) device_numa_config: c_int,
    pub(super) device_numa_id: c_int,
    pub(super) mps_enabled: c_int,
    pub(super) host_numa_id: c_int,
    pub(super) gpu_pci_device_id: c_uint,
    pub(super) gpu_pci_subsystem_id: c_uint,
    pub(super) host_numa_multinode_ipc_supported: c_int,
    reserved: [c_int; 56],
}

impl Properties {
    /// Returns the fields from `hostRegisterSupported` to `unifiedFunctionPointers`.
    pub(super) fn last(&self) -> [c_int; 13] {
        [
            self.host_register_supported,
            self.sparse_cuda_array_supported,
            self.host_register_read_only_supported,
            self.timeline_semaphore_interop_supported,
            self.memory_pools_supported,
            self.gpu_direct_rdma_supported,
            self.gpu_direct_rdma_flush_writes_options.cast_signed(),
            self.gpu_direct_rdma_writes_ordering,
            self.memory_pool_supported_handle_types.cast_signed(),
            self.deferred_mapping_cuda_array_supported,
            self.ipc_event_supported,
            self.cluster_launch,
            self.unified_function_pointers,
        ]
    }

    /// Returns the properties of a device; the limits of textures and surfaces, which are not modelled, are 0.
    pub(super) fn of(device: &Device) -> Self {
        let of = |attribute| device.attribute(attribute).unwrap_or(0);
        let size = |attribute| usize::try_from(of(attribute)).unwrap_or(0);
        let mut name = [0; 256];
        for (place, byte) in name.iter_mut().zip(device.card.product.bytes().take(255)) {
            *place = byte;
        }
        Self {
            name,
            uuid: device.uuid(),
            luid: [0; 8],
            luid_device_node_mask: 0,
            total_global_mem: usize::try_from(device.card.memory_bytes).unwrap_or(usize::MAX),
            shared_mem_per_block: size(8),
            regs_per_block: of(12),
            warp_size: of(10),
            mem_pitch: size(11),
            max_threads_per_block: of(1),
            max_threads_dim: [of(2), of(3), of(4)],
            max_grid_size: [of(5), of(6), of(7)],
            total_const_mem: size(9),
            major: of(75),
            minor: of(76),
            texture_alignment: size(14),
            texture_pitch_alignment: size(51),
            multi_processor_count: of(16),
            integrated: of(18),
            can_map_host_memory: of(19),
            textures_and_surfaces: [0; 39],
            surface_alignment: size(30),
            concurrent_kernels: of(31),
            ecc_enabled: of(32),
            pci_bus_id: of(33),
            pci_device_id: of(34),
            pci_domain_id: of(50),
            tcc_driver: of(35),
            async_engine_count: of(40),
            unified_addressing: of(41),
            memory_bus_width: of(37),
            l2_cache_size: of(38),
            persisting_l2_cache_max_size: of(108),
            max_threads_per_multi_processor: of(39),
            stream_priorities_supported: of(78),
            global_l1_cache_supported: of(79),
            local_l1_cache_supported: of(80),
            shared_mem_per_multiprocessor: size(81),
            regs_per_multiprocessor: of(82),
            managed_memory: of(83),
            is_multi_gpu_board: of(84),
            multi_gpu_board_group_id: of(85),
            host_native_atomic_supported: of(86),
            pageable_memory_access: of(88),
            concurrent_managed_access: of(89),
            compute_preemption_supported: of(90),
            can_use_host_pointer_for_registered_mem: of(91),
            cooperative_launch: of(95),
            shared_mem_per_block_optin: size(97),
            pageable_memory_access_uses_host_page_tables: of(100),
            direct_managed_mem_access_from_host: of(101),
            max_blocks_per_multi_processor: of(106),
            access_policy_max_window_size: of(109),
            reserved_shared_mem_per_block: size(111),
            host_register_supported: of(99),
            sparse_cuda_array_supported: of(112),
            host_register_read_only_supported: of(113),
            timeline_semaphore_interop_supported: of(114),
            memory_pools_supported: of(115),
            gpu_direct_rdma_supported: of(116),
            gpu_direct_rdma_flush_writes_options: 0,
            gpu_direct_rdma_writes_ordering: of(118),
            memory_pool_supported_handle_types: 0,
            deferred_mapping_cuda_array_supported: of(121),
            ipc_event_supported: of(125),
            cluster_launch: of(120),
            unified_function_pointers: 0,
            device_numa_config: of(130),
            device_numa_id: of(131),
            mps_enabled: of(133),
            host_numa_id: of(134),
            gpu_pci_device_id: 0,
            gpu_pci_subsystem_id: 0,
            host_numa_multinode_ipc_supported: 0,
            reserved: [0; 56],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    #[test]
    fn the_structure_is_laid_out_as_in_cuda_13() {
        assert_eq!(size_of::<Properties>(), 1008);
        assert_eq!(offset_of!(Properties, total_global_mem), 288);
        assert_eq!(offset_of!(Properties, multi_processor_count), 384);
        assert_eq!(offset_of!(Properties, shared_mem_per_block_optin), 672);
        assert_eq!(offset_of!(Properties, memory_pool_supported_handle_types), 736);
    }
}
