/*
 * Ends with 0 if a process can read its own memory by process_vm_readv, as the agent does where it must not crash: qemu-user
 * 11.1 does not have this call.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
    char from[8] = "memory", to[8];
    struct iovec local = {to, sizeof to}, remote = {from, sizeof from};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof to) {
        return 0;
    }
    perror("process_vm_readv");
    return 1;
}
