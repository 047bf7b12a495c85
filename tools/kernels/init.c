/*
 * The first process of a kernel under test: loads the modules in /m, mounts the host's root (9p, read-only), runs /bin/sh there on the
 * script that the kernel's line names (run=PATH), and ends the machine with its status: QEMU's own is 2 * status + 1.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The port of QEMU's isa-debug-exit. */
#define EXIT_PORT 0xf4
/* A module may need one that comes later in the folder, in as many steps as there are modules. */
#define ROUNDS 12

static void load_modules(void) {
    for (int round = 0; round < ROUNDS; round++) {
        DIR *folder = opendir("/m");
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            char path[300];
            snprintf(path, sizeof path, "/m/%s", entry->d_name);
            int module = open(path, O_RDONLY);
            if (module >= 0 && (!syscall(SYS_finit_module, module, "", 0) || errno == EEXIST)) {
                unlink(path);
            }
            close(module);
        }
        closedir(folder);
    }
}

/* The host has these files itself; what is written goes to memory. */
static void mount_root(void) {
    mkdir("/r", 0755);
    if (mount("root", "/r", "9p", MS_RDONLY, "trans=virtio,version=9p2000.L,msize=524288,cache=loose")) {
        perror("the host's root");
    }
    mount("proc", "/r/proc", "proc", 0, 0);
    mount("sysfs", "/r/sys", "sysfs", 0, 0);
    mount("/dev", "/r/dev", 0, MS_BIND, 0);
    mount("tmpfs", "/r/dev/shm", "tmpfs", 0, 0);
    mount("tmpfs", "/r/run", "tmpfs", 0, 0);
    mount("tmpfs", "/r/tmp", "tmpfs", 0, "mode=1777");
}

int main(void) {
    mount("proc", "/proc", "proc", 0, 0);
    mount("devtmpfs", "/dev", "devtmpfs", 0, 0);
    mkdir("/dev/shm", 01777);
    load_modules();
    mount_root();
    char line[4096] = {0}, *run;
    int file = open("/proc/cmdline", O_RDONLY);
    int status = 127 << 8;
    if (read(file, line, sizeof line - 1) > 0 && (run = strstr(line, "run="))) {
        run[strcspn(run, " \n")] = 0;
        pid_t child = fork();
        if (!child) {
            if (!chroot("/r") && !chdir("/tmp")) {
                char *words[] = {"sh", run + strlen("run="), 0};
                char *settings[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", 0};
                execve("/bin/sh", words, settings);
            }
            _exit(127);
        }
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    sync();
    /* What was printed last has to leave. */
    sleep(1);
    if (!iopl(3)) {
        outl(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), EXIT_PORT);
    }
    reboot(RB_POWER_OFF);
}
