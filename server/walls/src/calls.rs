//! Refuses system calls with seccomp filters.
//!
//! The filters list what is refused instead of what is allowed, because CUDA's driver is closed source and the calls
//! that it makes change from version to version.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter, sock_filter,
};

use crate::{Programs, Walls};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// System calls that are refused whatever their arguments; neither libtorch nor CUDA nor a decoder makes them.
const REFUSED: &[c_long] = &[
    // Reaching the memory and the open files of other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Changing the process's view of the file tree.
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
    // Parts of the kernel that have had many vulnerabilities, and the administration of the machine.
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
    // Requests in an io_uring ring bypass this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Loading a kernel and reaching I/O ports, by calls that exist on x86-64 only.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Calls that execute a program in place of this one.
const EXECUTING: &[c_long] = &[libc::SYS_execve, libc::SYS_execveat];

/// Calls that start processes on x86-64, besides `clone`.
#[cfg(target_arch = "x86_64")]
const STARTING: &[c_long] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const STARTING: &[c_long] = &[];

/// What could be changed of files outside, since Landlock does not cover it; a driver may set the mode of shared memory.
const CHANGING: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    // `fchmodat2`, `setxattrat` and `removexattrat`, by the numbers that all systems share.
    452,
    463,
    466,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// What foreign code could do to processes of the same user.
const REFUSED_TO_FOREIGN: &[c_long] = &[
    libc::SYS_tkill,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
];

/// Calls whose first argument names a process, of which foreign code may name itself, also by 0 where that means itself.
const OF_A_PROCESS: &[(c_long, bool)] = &[
    // 0 is the group, in which others may be.
    (libc::SYS_kill, false),
    (libc::SYS_tgkill, false),
    (libc::SYS_rt_sigqueueinfo, false),
    (libc::SYS_rt_tgsigqueueinfo, false),
    (libc::SYS_prlimit64, true),
    (libc::SYS_sched_setscheduler, true),
    (libc::SYS_sched_setparam, true),
    (libc::SYS_sched_setattr, true),
    (libc::SYS_setpgid, true),
];

/// Netlink protocols that stay allowed, because CUDA's libraries may list network interfaces and devices.
const NETLINK_READ: [i32; 2] = [libc::NETLINK_ROUTE, libc::NETLINK_KOBJECT_UEVENT];

/// Installs the filters on this thread.
///
/// # Errors
/// Returns a sentence with the reason if seccomp is not available.
pub(crate) fn refuse(walls: &Walls) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("seccomp cannot restrict system calls: {error}");
    let forbidden = rules(walls).and_then(|rules| program(rules, libc::EPERM));
    // `clone3` passes its flags in memory, which a filter cannot read; on `ENOSYS` libraries fall back to `clone`.
    let absent = program(Rules::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS);
    for program in [forbidden, absent, Ok(x32())] {
        apply_filter(&program.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Refuses the calls of the x32 ABI, which some kernels of x86-64 have: their numbers carry a bit of their own, so the
/// other filters do not know them. No other system has numbers as large.
fn x32() -> BpfProgram {
    const BIT: u32 = 1 << 30;
    let instruction = |code: u32, jf, k| sock_filter { code: code as u16, jt: 0, jf, k };
    vec![
        // The number of the call is the first field of what a filter reads.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, BIT),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned()),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Compiles a filter that makes the calls of `rules` fail with `error`.
fn program(rules: Rules, error: i32) -> Result<BpfProgram, BackendError> {
    let refused = SeccompAction::Errno(error.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, refused, std::env::consts::ARCH.try_into()?)?.try_into()
}

fn rules(walls: &Walls) -> Result<Rules, BackendError> {
    let always = |calls: &[c_long]| calls.iter().map(|call| (*call, Vec::new())).collect::<Rules>();
    let mut rules = always(REFUSED);
    // Only a driver needs sockets: by the path of one, a process could reach the services of the machine.
    rules.insert(libc::SYS_socket, if walls.has_driver { sockets()? } else { Vec::new() });
    if !walls.has_driver {
        rules.insert(libc::SYS_socketpair, datagrams()?);
    }
    // A supervisor copies files with their modes.
    if !walls.has_driver && walls.programs != Programs::Supervised {
        rules.extend(always(CHANGING));
    }
    rules.insert(libc::SYS_ioctl, terminals()?);
    if walls.programs == Programs::None {
        rules.extend(always(EXECUTING));
    }
    if walls.programs != Programs::Supervised {
        rules.extend(always(STARTING));
        // A `clone` that starts a process; threads are started with `CLONE_THREAD`.
        let thread = u64::from(libc::CLONE_THREAD.cast_unsigned());
        let is_process = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), 0)?;
        rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![is_process])?]);
    }
    if walls.programs == Programs::Foreign {
        rules.extend(always(REFUSED_TO_FOREIGN));
        let own = std::process::id().cast_signed();
        for (call, is_itself_at_0) in OF_A_PROCESS {
            let mut names_another = vec![argument(0, SeccompCmpOp::Ne, own)?];
            if *is_itself_at_0 {
                names_another.push(argument(0, SeccompCmpOp::Ne, 0)?);
            }
            rules.insert(*call, vec![SeccompRule::new(names_another)?]);
        }
        // Without a path, the file is one that this process has opened.
        let has_path = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
        rules.insert(libc::SYS_utimensat, vec![SeccompRule::new(vec![has_path])?]);
    }
    Ok(rules)
}

/// Matches sockets that are neither Unix sockets nor one of the netlink protocols in [`NETLINK_READ`].
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

/// Matches pairs of sockets that can be connected to another one by its path; those of a stream cannot.
fn datagrams() -> Result<Vec<SeccompRule>, BackendError> {
    // The upper bits are flags. A raw Unix socket is one of datagrams.
    let is = |kind: i32| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(0xf), kind as u64);
    [libc::SOCK_DGRAM, libc::SOCK_RAW].into_iter().map(|kind| SeccompRule::new(vec![is(kind)?])).collect()
}

/// Matches `ioctl` requests that type characters into the terminal from which Snapscope was started.
fn terminals() -> Result<Vec<SeccompRule>, BackendError> {
    let requests = [libc::TIOCSTI, libc::TIOCLINUX];
    let is = |request: libc::Ioctl| {
        SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, u64::from(request as u32))
    };
    requests.into_iter().map(|request| SeccompRule::new(vec![is(request)?])).collect()
}

fn argument(index: u8, is: SeccompCmpOp, value: i32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, is, u64::from(value.cast_unsigned()))
}
