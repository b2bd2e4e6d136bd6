//! Defines the structure of device properties, field by field as in CUDA 12.
//!
//! CUDA 12 has some fields more than CUDA 13: clock rates, and properties that CUDA 13 has only as attributes.

use std::ffi::{c_char, c_int, c_uint};

use super::properties::Properties;
use super::{give, status};
use crate::ffi::Out;
use crate::state::device::Device;
use crate::state::machine;

/// `cudaDeviceProp` of CUDA 12.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct PropertiesOf12 {
    name: [u8; 256],
    uuid: [u8; 16],
    luid: [c_char; 8],
    luid_device_node_mask: c_uint,
    total_global_mem: usize,
    shared_mem_per_block: usize,
    regs_per_block: c_int,
    warp_size: c_int,
    mem_pitch: usize,
    max_threads_per_block: c_int,
    max_threads_dim: [c_int; 3],
    max_grid_size: [c_int; 3],
    clock_rate: c_int,
    total_const_mem: usize,
    capability: [c_int; 2],
    texture_alignment: usize,
    texture_pitch_alignment: usize,
    device_overlap: c_int,
    multi_processor_count: c_int,
    kernel_exec_timeout_enabled: c_int,
    integrated: c_int,
    can_map_host_memory: c_int,
    compute_mode: c_int,
    textures_and_surfaces: [c_int; 40],
    surface_alignment: usize,
    concurrent_kernels: c_int,
    ecc_enabled: c_int,
    pci: [c_int; 3],
    tcc_driver: c_int,
    async_engine_count: c_int,
    unified_addressing: c_int,
    memory_clock_rate: c_int,
    memory_bus_width: c_int,
    l2_cache_size: c_int,
    persisting_l2_cache_max_size: c_int,
    max_threads_per_multi_processor: c_int,
    stream_priorities_supported: c_int,
    l1_cache_supported: [c_int; 2],
    shared_mem_per_multiprocessor: usize,
    regs_per_multiprocessor: c_int,
    managed_memory: c_int,
    multi_gpu_board: [c_int; 2],
    host_native_atomic_supported: c_int,
    single_to_double_precision_ratio: c_int,
    pageable_memory_access: c_int,
    concurrent_managed_access: c_int,
    compute_preemption_supported: c_int,
    can_use_host_pointer_for_registered_mem: c_int,
    cooperative_launch: [c_int; 2],
    shared_mem_per_block_optin: usize,
    pageable_memory_access_uses_host_page_tables: c_int,
    direct_managed_mem_access_from_host: c_int,
    max_blocks_per_multi_processor: c_int,
    access_policy_max_window_size: c_int,
    reserved_shared_mem_per_block: usize,
    /// The fields from `hostRegisterSupported` to `unifiedFunctionPointers`, which are the same in CUDA 13.
    last: [c_int; 13],
    reserved: [c_int; 63],
}

impl PropertiesOf12 {
    /// Returns the properties of a device, with the same values as those of CUDA 13.
    fn of(device: &Device) -> Self {
        let of = |attribute| device.attribute(attribute).unwrap_or(0);
        let new = Properties::of(device);
        Self {
            name: new.name,
            uuid: new.uuid,
            luid: [0; 8],
            luid_device_node_mask: new.luid_device_node_mask,
            total_global_mem: new.total_global_mem,
            shared_mem_per_block: new.shared_mem_per_block,
            regs_per_block: new.regs_per_block,
            warp_size: new.warp_size,
            mem_pitch: new.mem_pitch,
            max_threads_per_block: new.max_threads_per_block,
            max_threads_dim: new.max_threads_dim,
            max_grid_size: new.max_grid_size,
            clock_rate: of(13),
            total_const_mem: new.total_const_mem,
            capability: [new.major, new.minor],
            texture_alignment: new.texture_alignment,
            texture_pitch_alignment: new.texture_pitch_alignment,
            device_overlap: of(15),
            multi_processor_count: new.multi_processor_count,
            kernel_exec_timeout_enabled: of(17),
            integrated: new.integrated,
            can_map_host_memory: new.can_map_host_memory,
            compute_mode: of(20),
            textures_and_surfaces: [0; 40],
            surface_alignment: new.surface_alignment,
            concurrent_kernels: new.concurrent_kernels,
            ecc_enabled: new.ecc_enabled,
            pci: [new.pci_bus_id, new.pci_device_id, new.pci_domain_id],
            tcc_driver: new.tcc_driver,
            async_engine_count: new.async_engine_count,
            unified_addressing: new.unified_addressing,
            memory_clock_rate: of(36),
            memory_bus_width: new.memory_bus_width,
            l2_cache_size: new.l2_cache_size,
            persisting_l2_cache_max_size: new.persisting_l2_cache_max_size,
            max_threads_per_multi_processor: new.max_threads_per_multi_processor,
            stream_priorities_supported: new.stream_priorities_supported,
            l1_cache_supported: [new.global_l1_cache_supported, new.local_l1_cache_supported],
            shared_mem_per_multiprocessor: new.shared_mem_per_multiprocessor,
            regs_per_multiprocessor: new.regs_per_multiprocessor,
            managed_memory: new.managed_memory,
            multi_gpu_board: [new.is_multi_gpu_board, new.multi_gpu_board_group_id],
            host_native_atomic_supported: new.host_native_atomic_supported,
            single_to_double_precision_ratio: of(87),
            pageable_memory_access: new.pageable_memory_access,
            concurrent_managed_access: new.concurrent_managed_access,
            compute_preemption_supported: new.compute_preemption_supported,
            can_use_host_pointer_for_registered_mem: new.can_use_host_pointer_for_registered_mem,
            cooperative_launch: [new.cooperative_launch, of(96)],
            shared_mem_per_block_optin: new.shared_mem_per_block_optin,
            pageable_memory_access_uses_host_page_tables: new.pageable_memory_access_uses_host_page_tables,
            direct_managed_mem_access_from_host: new.direct_managed_mem_access_from_host,
            max_blocks_per_multi_processor: new.max_blocks_per_multi_processor,
            access_policy_max_window_size: new.access_policy_max_window_size,
            reserved_shared_mem_per_block: new.reserved_shared_mem_per_block,
            last: new.last(),
            reserved: [0; 63],
        }
    }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGetDeviceProperties_v2(properties: Out<PropertiesOf12>, device: c_int) -> c_int {
    status(|| give(properties, PropertiesOf12::of(machine()?.device(device)?)))
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    #[test]
    fn the_structure_is_laid_out_as_in_cuda_12() {
        assert_eq!(size_of::<PropertiesOf12>(), 1032);
        assert_eq!(offset_of!(PropertiesOf12, total_global_mem), 288);
        assert_eq!(offset_of!(PropertiesOf12, clock_rate), 348);
        assert_eq!(offset_of!(PropertiesOf12, multi_processor_count), 388);
        assert_eq!(offset_of!(PropertiesOf12, surface_alignment), 568);
        assert_eq!(offset_of!(PropertiesOf12, shared_mem_per_block_optin), 696);
        assert_eq!(offset_of!(PropertiesOf12, reserved_shared_mem_per_block), 720);
    }
}
