/* windows_ucx.c: requests of 8 bytes as UCX active messages, and answers of any length, which are received where the caller
 * wants them. Both ranks poll. UCX's own settings, except that the network is TCP unless UCX_TLS says otherwise. The endpoints
 * report the loss of the peer, as Hearth's do: with UCX 1.13 this takes one copy more of long messages. */
#include "windows_ucx.h"

#ifdef HEARTH_UCX
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>

#include "sample.h"

enum { ASK = 1, ANSWER = 2, MOST_ADDRESS = 1024, LARGEST = 1 << 20 };

static int rank;
static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h peer;
static char *source, *target; /* of rank 1's answers, and where rank 0 wants the current one */
static uint64_t asked;        /* bytes of the next answer; 0: none; UINT64_MAX: the end */
static bool arrived;

static void bare_free(void *request, ucs_status_t status, void *arg) {
    (void)status, (void)arg;
    ucp_request_free(request);
}

static void bare_send(unsigned kind, const void *data, size_t bytes) {
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = bare_free};
    ucp_am_send_nbx(peer, kind, NULL, 0, data, bytes, &param);
}

static ucs_status_t was_asked(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes,
                              const ucp_am_recv_param_t *param) {
    (void)arg, (void)header, (void)header_bytes, (void)param;
    memcpy(&asked, data, bytes < sizeof asked ? bytes : sizeof asked);
    return UCS_OK;
}

static void has_data(void *request, ucs_status_t status, size_t bytes, void *arg) {
    (void)status, (void)bytes, (void)arg;
    arrived = true;
    ucp_request_free(request);
}

static ucs_status_t was_answered(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes,
                                 const ucp_am_recv_param_t *param) {
    (void)arg, (void)header, (void)header_bytes;
    if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        memcpy(target, data, bytes);
        arrived = true;
        return UCS_OK;
    }
    ucp_request_param_t receive = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.recv_am = has_data};
    if (!UCS_PTR_IS_PTR(ucp_am_recv_data_nbx(worker, data, target, bytes, &receive)))
        arrived = true;
    return UCS_OK;
}

static void bare_handle(unsigned kind, ucp_am_recv_callback_t call) {
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB, .id = kind, .cb = call};
    ucp_worker_set_am_recv_handler(worker, &param);
}

/* Rank 0 may close first. */
static void is_gone(void *arg, ucp_ep_h ep, ucs_status_t status) {
    (void)arg, (void)ep, (void)status;
}

static bool bare_connect(void) {
    struct {
        uint64_t bytes;
        char address[MOST_ADDRESS];
    } mine = {0}, all[2];
    ucp_address_t *address;
    size_t bytes;
    if (ucp_worker_get_address(worker, &address, &bytes) != UCS_OK)
        return false;
    mine.bytes = bytes;
    memcpy(mine.address, address, bytes < MOST_ADDRESS ? bytes : MOST_ADDRESS);
    ucp_worker_release_address(worker, address);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .address = (const ucp_address_t *)all[1 - rank].address,
                              .err_handler.cb = is_gone,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER};
    return bytes <= MOST_ADDRESS && ucp_ep_create(worker, &params, &peer) == UCS_OK;
}

bool bare_open(int own) {
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM};
    ucp_worker_params_t single = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_config_t *config;
    rank = own;
    source = need(malloc(LARGEST));
    memset(
        source, 1,
        LARGEST); /* memory that was never written is one page of zeros for all addresses, and faster than any other */
    if (ucp_config_read(NULL, NULL, &config) != UCS_OK)
        return false;
    if (!getenv("UCX_TLS"))
        ucp_config_modify(config, "TLS", "tcp,self");
    bool ok = ucp_init(&params, config, &context) == UCS_OK &&
              ucp_worker_create(context, &single, &worker) == UCS_OK;
    ucp_config_release(config);
    int mine = ok, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all)
        return false;
    bare_handle(ASK, was_asked);
    bare_handle(ANSWER, was_answered);
    return bare_connect();
}

static void answer_all(void) {
    for (;;) {
        asked = 0;
        while (asked == 0)
            ucp_worker_progress(worker);
        if (asked == UINT64_MAX)
            return;
        bare_send(ANSWER, source, asked);
    }
}

static void ask_once(size_t bytes) {
    static uint64_t question;
    question = bytes;
    arrived = false;
    bare_send(ASK, &question, sizeof question);
    while (!arrived)
        ucp_worker_progress(worker);
}

double bare_get(void *into, size_t bytes, int executions) {
    static const uint64_t end = UINT64_MAX;
    struct timespec from, to;
    if (rank == 1) {
        answer_all();
        return 0;
    }
    target = into;
    ask_once(bytes);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < executions; i++)
        ask_once(bytes);
    clock_gettime(CLOCK_MONOTONIC, &to);
    bare_send(ASK, &end, sizeof end);
    for (int i = 0; i < 100; i++)
        ucp_worker_progress(worker);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / executions;
}

/* Rank 1 still makes progress while rank 0 closes, and the other way round. */
void bare_close(void) {
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    MPI_Barrier(MPI_COMM_WORLD);
    void *request = ucp_ep_close_nbx(peer, &param);
    while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS)
        ucp_worker_progress(worker);
    if (UCS_PTR_IS_PTR(request))
        ucp_request_free(request);
    MPI_Barrier(MPI_COMM_WORLD);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    free(source);
}

#else
bool bare_open(int rank) {
    (void)rank;
    return false;
}

void bare_close(void) {
}

double bare_get(void *into, size_t bytes, int executions) {
    (void)into, (void)bytes, (void)executions;
    return 0;
}
#endif
