/* tools.c: gasnet_tools.h: time, bytes, the machine and memory. */
#include "gas/process/process.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "hearth/gasnet/gasnet_tools.h"

/* ---- time ---- */

uint64_t gasnett_ticks_now(void) {
    return clock_ns();
}

uint64_t gasnett_ticks_to_ns(uint64_t ticks) {
    return ticks;
}

double gasnett_tick_granularity(void) {
    struct timespec unit;
    clock_getres(CLOCK_MONOTONIC, &unit);
    return ((double)unit.tv_sec * 1e9 + (double)unit.tv_nsec) / 1e3;
}

double gasnett_tick_overhead(void) {
    enum { READINGS = 1000 };
    uint64_t start = clock_ns();
    for (int i = 0; i < READINGS; i++)
        gasnett_ticks_now();
    return (double)(clock_ns() - start) / READINGS / 1e3;
}

int64_t gasnett_gettimeofday_us(void) {
    struct timeval now;
    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * 1000000 + now.tv_usec;
}

int gasnett_nsleep(uint64_t nanoseconds) {
    struct timespec left = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    while (nanosleep(&left, &left) != 0)
        if (errno != EINTR)
            return -1;
    return 0;
}

/* ---- versions ---- */

#define VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define VERSION_TEXT(major, minor, patch)  VERSION_TEXT_(major, minor, patch)

const char *gasnett_release_version_str(void) {
    return VERSION_TEXT(GASNET_RELEASE_VERSION_MAJOR, GASNET_RELEASE_VERSION_MINOR,
                        GASNET_RELEASE_VERSION_PATCH);
}

uint64_t gasnett_release_version(void) {
    return GASNET_RELEASE_VERSION_MAJOR * 10000u + GASNET_RELEASE_VERSION_MINOR * 100u +
           GASNET_RELEASE_VERSION_PATCH;
}

/* ---- bytes ---- */

/* FNV-1a, of 64 bits. */
uint64_t gasnett_checksum(const void *data, int nbytes) {
    const unsigned char *bytes = data;
    uint64_t sum = 0xcbf29ce484222325u;
    for (int i = 0; i < nbytes; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

size_t gasnett_count0s(const void *src, size_t nbytes) {
    const char *bytes = src;
    size_t count = 0, i = 0;
    for (uint64_t word; i + sizeof word <= nbytes; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        count += (size_t)gasnett_count0s_uint64_t(word);
    }
    for (; i < nbytes; i++)
        count += bytes[i] == 0;
    return count;
}

size_t gasnett_count0s_copy(void *dst, const void *src, size_t nbytes) {
    memcpy(dst, src, nbytes);
    return gasnett_count0s(dst, nbytes);
}

int gasnett_isLittleEndian(void) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

/* ---- the machine ---- */

int gasnett_cpu_count(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 0;
}

static char host_name[HOST_NAME_MAX + 1];

static void find_host_name(void) {
    if (gethostname(host_name, sizeof host_name) != 0)
        gasnett_fatalerror("gasnett_gethostname: cannot get the name of this machine");
    host_name[HOST_NAME_MAX] = '\0';
}

const char *gasnett_gethostname(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_host_name);
    return host_name;
}

static char exe_name[PATH_MAX];

static void find_exe_name(void) {
    ssize_t length = readlink("/proc/self/exe", exe_name, sizeof exe_name - 1);
    exe_name[length > 0 ? length : 0] = '\0';
}

const char *gasnett_exe_name(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_exe_name);
    return exe_name[0] ? exe_name : NULL;
}

uint64_t gasnett_getPhysMemSz(int failure_is_fatal) {
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0)
        return (uint64_t)pages * (uint64_t)bytes;
    if (failure_is_fatal)
        gasnett_fatalerror("gasnett_getPhysMemSz: cannot get the size of physical memory");
    return 0;
}

void gasnett_flush_streams(void) {
    fflush(NULL);
}

void gasnett_close_streams(void) {
    fflush(NULL);
    fclose(stdin);
    fclose(stdout);
    fclose(stderr);
}

const char *gasnett_performance_warning_str(void) {
    return "";
}

/* ---- memory ---- */

void *gasnett_mmap(uintptr_t nbytes) {
    void *memory = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        gasnett_fatalerror("gasnett_mmap: no memory for %llu bytes", (unsigned long long)nbytes);
    return memory;
}

void *gasnett_malloc_aligned(size_t alignment, size_t nbytes) {
    void *memory = NULL;
    size_t least = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    if (posix_memalign(&memory, least, nbytes > 0 ? nbytes : 1) != 0)
        gasnett_fatalerror("gasnett_malloc_aligned: no memory for %zu bytes at a multiple of %zu", nbytes,
                           alignment);
    return memory;
}

void gasnett_free_aligned(void *memory) {
    free(memory);
}
