/*
 * Becomes the command that it is given, under a filter that answers system calls of these kinds as a file system does that has no such
 * operation. The first word names them: rename (with hard links), noreplace, nolink, sync, lock, or several with commas.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 64

static struct sock_filter rules[MOST];
static unsigned short count;

static void add(struct sock_filter rule) {
    rules[count++] = rule;
}

static void refuse(int number, int error) {
    add((struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    add((struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
}

int main(int words, char **word) {
    if (words < 3) {
        return 1;
    }
    add((struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    if (strstr(word[1], "rename")) {
#ifdef SYS_rename
        refuse(SYS_rename, ENOSYS);
        refuse(SYS_link, ENOSYS);
#endif
        refuse(SYS_renameat, ENOSYS);
        refuse(SYS_renameat2, ENOSYS);
        refuse(SYS_linkat, ENOSYS);
    }
    if (strstr(word[1], "noreplace")) {
        refuse(SYS_renameat2, EINVAL);
    }
    if (strstr(word[1], "nolink")) {
#ifdef SYS_link
        refuse(SYS_link, EPERM);
#endif
        refuse(SYS_linkat, EPERM);
    }
    if (strstr(word[1], "sync")) {
        refuse(SYS_fsync, EINVAL);
        refuse(SYS_fdatasync, EINVAL);
    }
    if (strstr(word[1], "lock")) {
        refuse(SYS_flock, ENOLCK);
    }
    add((struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    struct sock_fprog filter = {count, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("refusing");
        return 1;
    }
    execvp(word[2], word + 2);
    perror(word[2]);
    return 1;
}
