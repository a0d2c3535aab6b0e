/* Forces TCP_NODELAY on every stream socket of a program that does not set it itself. Stock SST stalls 40 ms on small
 * steps, and beating that alone proves nothing. LD_PRELOAD=nodelay.so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static void force(int fd) {
    int on = 1;
    /* Sockets that are not tcp say no: that is as well. */
    if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int connect(int fd, const struct sockaddr *address, socklen_t len) {
    static int (*next)(int, const struct sockaddr *, socklen_t);
    if (!next) next = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
    if (address->sa_family == AF_INET || address->sa_family == AF_INET6) force(fd);
    return next(fd, address, len);
}

int accept(int fd, struct sockaddr *address, socklen_t *len) {
    static int (*next)(int, struct sockaddr *, socklen_t *);
    if (!next) next = (int (*)(int, struct sockaddr *, socklen_t *))dlsym(RTLD_NEXT, "accept");
    int accepted = next(fd, address, len);
    force(accepted);
    return accepted;
}

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags) {
    static int (*next)(int, struct sockaddr *, socklen_t *, int);
    if (!next) next = (int (*)(int, struct sockaddr *, socklen_t *, int))dlsym(RTLD_NEXT, "accept4");
    int accepted = next(fd, address, len, flags);
    force(accepted);
    return accepted;
}
