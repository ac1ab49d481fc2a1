/* Makes the n-th write, fsync or rename below one folder fail, or cuts every write short. Loaded by LD_PRELOAD;
   armed from inside the process by fault_arm() and read back by fault_fired(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NONE, WRITE, FSYNC, RENAME };

static char root[4096];
static int armed_call, countdown, armed_errno, fired;
static size_t longest;

void fault_arm(const char *folder, int call, int nth, int error, size_t most)
{
    snprintf(root, sizeof root, "%s", folder);
    armed_call = call;
    countdown = nth;
    armed_errno = error;
    longest = most;
    fired = 0;
}

int fault_fired(void) { return fired; }

static int below_root(int fd)
{
    char name[64], path[4096];
    if (!root[0]) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strncmp(path, root, strlen(root)) == 0;
}

static int fails(int call)
{
    if (armed_call != call || --countdown != 0) return 0;
    fired = 1;
    errno = armed_errno;
    return 1;
}

ssize_t write(int fd, const void *data, size_t size)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (below_root(fd)) {
        if (fails(WRITE)) return -1;
        if (longest && size > longest) { fired = 1; size = longest; }
    }
    return real(fd, data, size);
}

int fsync(int fd)
{
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fsync");
    if (below_root(fd) && fails(FSYNC)) return -1;
    return real(fd);
}

int rename(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);
    if (!real) real = dlsym(RTLD_NEXT, "rename");
    if (root[0] && fails(RENAME)) return -1;
    return real(from, to);
}

int renameat(int fromfd, const char *from, int tofd, const char *to)
{
    static int (*real)(int, const char *, int, const char *);
    if (!real) real = dlsym(RTLD_NEXT, "renameat");
    if (root[0] && fails(RENAME)) return -1;
    return real(fromfd, from, tofd, to);
}

int renameat2(int fromfd, const char *from, int tofd, const char *to, unsigned int flags)
{
    static int (*real)(int, const char *, int, const char *, unsigned int);
    if (!real) real = dlsym(RTLD_NEXT, "renameat2");
    if (root[0] && fails(RENAME)) return -1;
    return real(fromfd, from, tofd, to, flags);
}

int linkat(int fromfd, const char *from, int tofd, const char *to, int flags)
{
    static int (*real)(int, const char *, int, const char *, int);
    if (!real) real = dlsym(RTLD_NEXT, "linkat");
    if (root[0] && fails(RENAME)) return -1;
    return real(fromfd, from, tofd, to, flags);
}
