#include "grade_confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined __x86_64__
#define THIS_MACHINE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define THIS_MACHINE AUDIT_ARCH_AARCH64
#endif

#if defined THIS_MACHINE

#define LOAD(field)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what)        BPF_STMT(BPF_RET | BPF_K, what)
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define ON(call, what)      UNLESS(SYS_##call, 1), RETURN(what)
#define MAY(call)           ON(call, SECCOMP_RET_ALLOW)
#define FAILS(call)         ON(call, SECCOMP_RET_ERRNO | EACCES)

void grade_confine(void)
{
    static struct sock_filter filter[] = {
        LOAD(arch),
        UNLESS(THIS_MACHINE, 1),
        BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        MAY(read), /* of what is open: its output, and the lines of the source */
        MAY(write),
        MAY(mmap),
        MAY(munmap),
        MAY(mremap),
        MAY(mprotect),
        MAY(madvise),
        MAY(brk),
        MAY(futex),
        MAY(rt_sigaction),
        MAY(rt_sigprocmask),
        MAY(rt_sigreturn),
        MAY(sigaltstack),
        MAY(setitimer),
        MAY(clock_gettime),
        MAY(sysinfo),
        MAY(gettid),
        MAY(getpid),
        MAY(exit),
        MAY(exit_group),
        MAY(fstat),
        MAY(newfstatat),
        FAILS(openat),
        FAILS(ioctl),
        FAILS(tgkill), /* abort() then ends itself */
        RETURN(SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

void grade_confine(void)
{
}

#endif
