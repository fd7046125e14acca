/* gasnet.h: the GASNet-1 interface (specification 1.8) of vGASNet. A program for GASNet runs after it is recompiled and
 * relinked. As in releases of GASNet-EX, this header also includes gasnetex.h.
 *
 * The program defines one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR before it includes this header, as for GASNet.
 * The library is the same for all three, and any thread may call it at any time. For C and C++; may be included inside
 * extern "C". */
#ifndef GASNET_H
#define GASNET_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(GASNET_SEQ) + defined(GASNET_PARSYNC) + defined(GASNET_PAR) != 1
#error "define one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR before gasnet.h is included"
#endif
/* Programs test the mode by #if too, however they have defined it. */
#if defined(GASNET_SEQ)
#undef GASNET_SEQ
#define GASNET_SEQ 1
#elif defined(GASNET_PARSYNC)
#undef GASNET_PARSYNC
#define GASNET_PARSYNC 1
#else
#undef GASNET_PAR
#define GASNET_PAR 1
#endif
#if !defined(GASNET_DEBUG) && !defined(GASNET_NDEBUG)
#define GASNET_NDEBUG 1 /* checks depend on HEARTH_CHECK_ARGS alone */
#endif

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- constants ---- */

#define GASNET_SPEC_VERSION_MAJOR    1
#define GASNET_SPEC_VERSION_MINOR    8
#define GASNET_VERSION               GASNET_SPEC_VERSION_MAJOR
#define GASNET_RELEASE_VERSION_MAJOR 2021 /* the release of GASNet-EX that first had specification 0.14 */
#define GASNET_RELEASE_VERSION_MINOR 9
#define GASNET_RELEASE_VERSION_PATCH 0

#define GASNET_CORE_NAME            HEARTH
#define GASNET_CORE_NAME_STR        "HEARTH"
#define GASNET_CORE_VERSION         0.1
#define GASNET_CORE_VERSION_STR     "0.1"
#define GASNET_EXTENDED_NAME        HEARTH
#define GASNET_EXTENDED_NAME_STR    "HEARTH"
#define GASNET_EXTENDED_VERSION     0.1
#define GASNET_EXTENDED_VERSION_STR "0.1"
#define GASNET_CONDUIT_NAME         HEARTH
#define GASNET_CONDUIT_NAME_STR     "HEARTH"
#define GASNET_CONDUIT_HEARTH       1
#define GASNET_CONDUIT_MPI          1 /* as in mpi-conduit, MPI starts the job, and is initialised by the first call */
#ifdef GASNET_SEQ
#define GASNETC_THREADS_STR "SEQ"
#elif defined(GASNET_PARSYNC)
#define GASNETC_THREADS_STR "PARSYNC"
#else
#define GASNETC_THREADS_STR "PAR"
#endif
#define GASNET_CONFIG_STRING                                                                                 \
    "SPEC=1.8,CONDUIT=HEARTH(HEARTH-0.1/HEARTH-0.1),THREADMODEL=" GASNETC_THREADS_STR                        \
    ",SEGMENT=LARGE,PTR=64bit,noalign"

#undef GASNET_SEGMENT_LARGE
#define GASNET_SEGMENT_LARGE    1
#define GASNET_ALIGNED_SEGMENTS 0 /* segments of different nodes have different addresses */
#define GASNET_PAGESIZE         4096
#define GASNET_NULL_ARGV_OK     1 /* gasnet_init(NULL, NULL) */
#define GASNET_MAXNODES         0x7fffffffu
#ifdef GASNET_SEQ
#define GASNETI_MAX_THREADS 1 /* the name that Chapel takes */
#else
#define GASNETI_MAX_THREADS 1024 /* limit for the program; the library itself has none */
#endif
#define GASNET_PSHM 0 /* segments of other nodes cannot be accessed by loads */

#define GASNET_OK                   0
#define GASNET_ERR_NOT_INIT         10001
#define GASNET_ERR_RESOURCE         10002
#define GASNET_ERR_BAD_ARG          10003
#define GASNET_ERR_NOT_READY        10004
#define GASNET_ERR_BARRIER_MISMATCH 10005

#define GASNET_BARRIERFLAG_ANONYMOUS 1
#define GASNET_BARRIERFLAG_MISMATCH  2
#define GASNET_BARRIERFLAG_IMAGES    4 /* gasnet_coll_barrier: called by every image of the node */
#define GASNET_BARRIERFLAG_UNNAMED   9 /* anonymous on all nodes */

#define GASNET_WAIT_SPIN      0
#define GASNET_WAIT_BLOCK     1
#define GASNET_WAIT_SPINBLOCK 2

/* ---- types ---- */

typedef uint32_t gasnet_node_t;
typedef uint8_t gasnet_handler_t;
typedef void *gasnet_token_t;
typedef int32_t gasnet_handlerarg_t;
typedef void *gasnet_threadinfo_t;

#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes" /* handlers have various argument types */
#endif
typedef struct gasnet_handlerentry {
    gasnet_handler_t index; /* 128 to 255; 0: gasnet_attach assigns one and stores it here */
#ifdef GASNET_USE_STRICT_PROTOTYPES
    void *fnptr;
#else
    void (*fnptr)();
#endif
} gasnet_handlerentry_t;
#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC diagnostic pop
#endif

typedef struct gasnet_seginfo {
    void *addr;
    uintptr_t size;
} gasnet_seginfo_t;

typedef struct gasnet_nodeinfo {
    gasnet_node_t host;      /* equal on nodes of the same machine */
    gasnet_node_t supernode; /* equal on nodes that share memory */
} gasnet_nodeinfo_t;

/* An entry of a list of memory (gasnet_vis.h). */
typedef struct gasnet_memvec {
    void *addr;
    size_t len;
} gasnet_memvec_t;

/* A lock that handlers may take. Its holder must not poll, wait or communicate, but may reply. */
typedef struct gasnet_hsl {
    pthread_mutex_t mutex;
    void *holder; /* the thread; NULL: none */
} gasnet_hsl_t;
#define GASNET_HSL_INITIALIZER                                                                               \
    { PTHREAD_MUTEX_INITIALIZER, 0 }

/* ---- the job ---- */

/* Joins the job; must be the first call. NULL, NULL is allowed. Initialises MPI unless the program has done so. */
int gasnet_init(int *argc, char ***argv);

/* Collective. Sets the handlers of this node, and creates its segment of `segsize` bytes, a multiple of
 * GASNET_PAGESIZE, or 0. `minheapoffset` must be the same on all nodes, and is ignored here. */
int gasnet_attach(gasnet_handlerentry_t *table, int numentries, uintptr_t segsize, uintptr_t minheapoffset);

/* Ends the job. Nodes that have not called it are notified by a message, which they receive when they poll, and by
 * SIGQUIT. If some still do not leave, the job is aborted after some seconds. With exitcode 0 the timeout is
 * HEARTH_EXIT_TIMEOUT, and if segments have names (HEARTH_NVM_NAME), the other nodes are not notified. */
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void gasnet_exit(int exitcode);

gasnet_node_t gasnet_mynode(void); /* number of the calling node, which is a process */
gasnet_node_t gasnet_nodes(void);  /* number of nodes */

/* The largest segment that this node may request in gasnet_attach, and the largest that all nodes may. */
uintptr_t gasnet_getMaxLocalSegmentSize(void);
uintptr_t gasnet_getMaxGlobalSegmentSize(void);

/* Fill a table with one entry per node: the location of its segment; the machine it runs on. A shorter table gets the
 * first entries. */
int gasnet_getSegmentInfo(gasnet_seginfo_t *table, int numentries);
int gasnet_getNodeInfo(gasnet_nodeinfo_t *table, int numentries);

char *gasnet_getenv(const char *name);  /* from this node's environment, or NULL */
const char *gasnet_ErrorName(int code); /* such as GASNET_ERR_BAD_ARG */
const char *gasnet_ErrorDesc(int code); /* description in words */

/* Sets how threads wait: GASNET_WAIT_SPIN, GASNET_WAIT_BLOCK (sleep immediately), or GASNET_WAIT_SPINBLOCK, the
 * default. */
int gasnet_set_waitmode(int mode);

/* ---- active messages; the calls themselves are in gasnet_am.h ---- */

/* Maximum number of arguments of a message, and maximum size of its payload. */
size_t gasnet_AMMaxArgs(void);
size_t gasnet_AMMaxMedium(void);
size_t gasnet_AMMaxLongRequest(void);
size_t gasnet_AMMaxLongReply(void);

int gasnet_AMPoll(void); /* runs handlers of arrived messages, as do calls that wait */
int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t *srcindex); /* inside a handler: the sender */

/* Between the two calls no handler runs in this thread, which must not poll, wait or communicate. */
void gasnet_hold_interrupts(void);
void gasnet_resume_interrupts(void);

/* Locks that handlers may take. The holder must not poll, wait or communicate, but may reply. */
void gasnet_hsl_init(gasnet_hsl_t *hsl);
void gasnet_hsl_destroy(gasnet_hsl_t *hsl);
void gasnet_hsl_lock(gasnet_hsl_t *hsl);
int gasnet_hsl_trylock(gasnet_hsl_t *hsl); /* GASNET_OK, or GASNET_ERR_NOT_READY */
void gasnet_hsl_unlock(gasnet_hsl_t *hsl);

/* Polls, and if nothing arrives waits according to the wait mode; `round` is 0 at first. */
void gasnetc_wait_round(unsigned *round);

#define GASNET_BLOCKUNTIL(condition)                                                                         \
    do {                                                                                                     \
        unsigned gasnetc_round = 0;                                                                          \
        gasnet_AMPoll();                                                                                     \
        while (!(condition))                                                                                 \
            gasnetc_wait_round(&gasnetc_round);                                                              \
        __atomic_thread_fence(__ATOMIC_ACQUIRE);                                                             \
    } while (0)

/* ---- barrier ---- */

/* Barrier of all nodes in two steps: notify announces the arrival of this node, wait returns when all have arrived. try
 * is the same as wait if all have arrived, else it returns GASNET_ERR_NOT_READY. GASNET_ERR_BARRIER_MISMATCH: the ids
 * that nodes passed to notify differ, or that of wait differs from them; with the flag GASNET_BARRIERFLAG_ANONYMOUS a
 * call matches any id. The flags of wait may differ from those of notify. */
void gasnet_barrier_notify(int id, int flags);
int gasnet_barrier_wait(int id, int flags);
int gasnet_barrier_try(int id, int flags);

/* Notify and wait in one call. */
int gasnet_barrier(int id, int flags);

/* Of the last barrier that this node has waited for: returns 0 and the id that the nodes agreed on, or nonzero if all
 * were anonymous. */
int gasnet_barrier_result(int *id);

/* ---- macros for programs ---- */

#define GASNET_INLINE_MODIFIER(name) static inline
#ifndef if_pf /* conditions that rarely hold, and that mostly hold */
#define if_pf(condition) if (__builtin_expect(!!(condition), 0))
#define if_pt(condition) if (__builtin_expect(!!(condition), 1))
#endif

/* The calling thread: a value that differs between the threads of a process. The calls need none of these macros. */
gasnet_threadinfo_t gasnetc_threadinfo(void);
#define GASNET_BEGIN_FUNCTION()      ((void)0)
#define GASNET_POST_THREADINFO(info) ((void)(info))
#define GASNET_GET_THREADINFO()      gasnetc_threadinfo()

/* Realm takes the address of this function of GASNet's releases. */
static inline void _gasneti_threadkey_init(void) {
}
#define GASNET_SAFE(call)                                                                                    \
    do {                                                                                                     \
        int gasnetc_code = (call);                                                                           \
        if (gasnetc_code != GASNET_OK) {                                                                     \
            fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call,                               \
                    gasnet_ErrorName(gasnetc_code), gasnet_ErrorDesc(gasnetc_code));                         \
            fflush(stderr);                                                                                  \
            gasnet_exit(gasnetc_code);                                                                       \
        }                                                                                                    \
    } while (0)

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#include "gasnet_am.h"
#include "gasnet_extended.h"
#include "gasnetex.h"

#endif
