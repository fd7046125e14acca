/* windows_echo.c: see windows_echo.h. */
#include "windows_echo.h"

#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/net.h"
#include "windows_each.h"

static int wire = -1; /* of rank 0, or of the thread */
static pthread_t thread;
static bool has_thread;

static void *echo_run(void *arg) {
    uint64_t word;
    net_sched_slice_shorten();
    while (recv(wire, &word, sizeof word, MSG_WAITALL) == sizeof word)
        if (send(wire, &word, sizeof word, MSG_NOSIGNAL) != sizeof word)
            break;
    return arg;
}

/* Returns the port, or 0. */
static int echo_listen(int listener) {
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof own;
    bool ok = listener >= 0 && bind(listener, (struct sockaddr *)&own, sizeof own) == 0 &&
              listen(listener, 1) == 0 && getsockname(listener, (struct sockaddr *)&own, &bytes) == 0;
    return ok ? ntohs(own.sin_port) : 0;
}

static void echo_accept(void) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = echo_listen(listener);
    MPI_Send(&port, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    if (port)
        wire = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (listener >= 0)
        close(listener);
    has_thread = wire >= 0 && pthread_create(&thread, NULL, echo_run, NULL) == 0;
}

static void echo_connect(void) {
    int port;
    MPI_Recv(&port, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    struct sockaddr_in there = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    wire = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (port && connect(wire, (struct sockaddr *)&there, sizeof there) == 0)
        return;
    close(wire);
    wire = -1;
}

bool echo_open(int own) {
    int on = 1, all = 0;
    if (own == 1)
        echo_accept();
    else
        echo_connect();
    int mine = wire >= 0 && (own == 0 || has_thread) &&
               setsockopt(wire, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all)
        echo_close();
    return all;
}

void echo_close(void) {
    if (wire >= 0)
        shutdown(wire, SHUT_RDWR);
    if (has_thread)
        pthread_join(thread, NULL);
    if (wire >= 0)
        close(wire);
    has_thread = false;
    wire = -1;
}

double echo_once(void) {
    uint64_t sent = 1, got = 0;
    double start = now();
    check(send(wire, &sent, sizeof sent, MSG_NOSIGNAL) == sizeof sent, "a message to a bare thread");
    while (recv(wire, &got, sizeof got, MSG_DONTWAIT) != sizeof got)
        check(now() - start < 10, "a message to a bare thread: no answer for 10 s");
    return ns_since(start, 1);
}
