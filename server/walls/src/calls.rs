//! Seccomp: which calls of the kernel a process may not make.
//!
//! A list of what is refused, not of what is allowed: CUDA's driver is closed, and changes what it calls.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that neither libtorch nor CUDA nor a decoder makes, whatever they are given.
const REFUSED: &[c_long] = &[
    // Other programs.
    libc::SYS_execve,
    libc::SYS_execveat,
    // Other processes: their memory, their files.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Another view of the file tree, or none at all.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_by_handle_at,
    libc::SYS_setns,
    libc::SYS_unshare,
    // The kernel itself, where it has had many faults.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // What it does for a ring of requests passes by this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes, by calls that not every processor has.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Subsystems of netlink that say what the machine has: CUDA's libraries may ask for interfaces and devices.
const NETLINK_READ: [i32; 2] = [libc::NETLINK_ROUTE, libc::NETLINK_KOBJECT_UEVENT];

/// Refuses calls to this thread; returns in a sentence why that can't be.
pub(crate) fn refuse() -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("seccomp does not hold calls back: {error}");
    let forbidden = rules().and_then(|rules| program(rules, libc::EPERM));
    // `clone3` keeps its flags where no filter sees them; told that there is no such call, libraries take `clone`.
    let absent = program(Rules::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS);
    for program in [forbidden, absent] {
        apply_filter(&program.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// A filter that answers the calls of `rules` with an error.
fn program(rules: Rules, error: i32) -> Result<BpfProgram, BackendError> {
    let refused = SeccompAction::Errno(error.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, refused, std::env::consts::ARCH.try_into()?)?.try_into()
}

fn rules() -> Result<Rules, BackendError> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, sockets()?);
    rules.insert(libc::SYS_clone, processes()?);
    rules.insert(libc::SYS_ioctl, terminals()?);
    Ok(rules)
}

/// Sockets that lead out of this machine, or to the parts of its kernel that change the network.
fn sockets() -> Result<Vec<SeccompRule>, BackendError> {
    let family = |is: SeccompCmpOp, family: i32| argument(0, is, family);
    let protocol = |is: SeccompCmpOp, protocol: i32| argument(2, is, protocol);
    let [route, devices] = NETLINK_READ;
    Ok(vec![
        SeccompRule::new(vec![family(SeccompCmpOp::Ne, libc::AF_UNIX)?, family(SeccompCmpOp::Ne, libc::AF_NETLINK)?])?,
        SeccompRule::new(vec![
            family(SeccompCmpOp::Eq, libc::AF_NETLINK)?,
            protocol(SeccompCmpOp::Ne, route)?,
            protocol(SeccompCmpOp::Ne, devices)?,
        ])?,
    ])
}

/// New processes; threads have this flag.
fn processes() -> Result<Vec<SeccompRule>, BackendError> {
    let thread = u64::from(libc::CLONE_THREAD.cast_unsigned());
    let is_process = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), 0)?;
    Ok(vec![SeccompRule::new(vec![is_process])?])
}

/// Letters typed into the terminal that Snapscope was started from.
fn terminals() -> Result<Vec<SeccompRule>, BackendError> {
    let requests = [libc::TIOCSTI, libc::TIOCLINUX];
    let is = |request: libc::Ioctl| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request);
    requests.into_iter().map(|request| SeccompRule::new(vec![is(request)?])).collect()
}

fn argument(index: u8, is: SeccompCmpOp, value: i32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, is, u64::from(value.cast_unsigned()))
}
