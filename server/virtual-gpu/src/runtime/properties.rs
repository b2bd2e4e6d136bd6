//! Defines the structure of device properties, field by field as in CUDA 13.

use std::ffi::{c_int, c_uint};

use crate::state::device::Device;

/// `cudaDeviceProp` of CUDA 13.0.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Properties {
    name: [u8; 256],
    uuid: [u8; 16],
    luid: [u8; 8],
    luid_device_node_mask: c_uint,
    total_global_mem: usize,
    shared_mem_per_block: usize,
    regs_per_block: c_int,
    warp_size: c_int,
    mem_pitch: usize,
    max_threads_per_block: c_int,
    max_threads_dim: [c_int; 3],
    max_grid_size: [c_int; 3],
    total_const_mem: usize,
    major: c_int,
    minor: c_int,
    texture_alignment: usize,
    texture_pitch_alignment: usize,
    multi_processor_count: c_int,
    integrated: c_int,
    can_map_host_memory: c_int,
    textures_and_surfaces: [c_int; 39],
    surface_alignment: usize,
    concurrent_kernels: c_int,
    ecc_enabled: c_int,
    pci_bus_id: c_int,
    pci_device_id: c_int,
    pci_domain_id: c_int,
    tcc_driver: c_int,
    async_engine_count: c_int,
    unified_addressing: c_int,
    memory_bus_width: c_int,
    l2_cache_size: c_int,
    persisting_l2_cache_max_size: c_int,
    max_threads_per_multi_processor: c_int,
    stream_priorities_supported: c_int,
    global_l1_cache_supported: c_int,
    local_l1_cache_supported: c_int,
    shared_mem_per_multiprocessor: usize,
    regs_per_multiprocessor: c_int,
    managed_memory: c_int,
    is_multi_gpu_board: c_int,
    multi_gpu_board_group_id: c_int,
    host_native_atomic_supported: c_int,
    pageable_memory_access: c_int,
    concurrent_managed_access: c_int,
    compute_preemption_supported: c_int,
    can_use_host_pointer_for_registered_mem: c_int,
    cooperative_launch: c_int,
    shared_mem_per_block_optin: usize,
    pageable_memory_access_uses_host_page_tables: c_int,
    direct_managed_mem_access_from_host: c_int,
    max_blocks_per_multi_processor: c_int,
    access_policy_max_window_size: c_int,
    reserved_shared_mem_per_block: usize,
    host_register_supported: c_int,
    sparse_cuda_array_supported: c_int,
    host_register_read_only_supported: c_int,
    timeline_semaphore_interop_supported: c_int,
    memory_pools_supported: c_int,
    gpu_direct_rdma_supported: c_int,
    gpu_direct_rdma_flush_writes_options: c_uint,
    gpu_direct_rdma_writes_ordering: c_int,
    memory_pool_supported_handle_types: c_uint,
    deferred_mapping_cuda_array_supported: c_int,
    ipc_event_supported: c_int,
    cluster_launch: c_int,
    unified_function_pointers: c_int,
    device_numa_config: c_int,
    device_numa_id: c_int,
    mps_enabled: c_int,
    host_numa_id: c_int,
    gpu_pci_device_id: c_uint,
    gpu_pci_subsystem_id: c_uint,
    host_numa_multinode_ipc_supported: c_int,
    reserved: [c_int; 56],
}

impl Properties {
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
