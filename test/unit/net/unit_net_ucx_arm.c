/* unit_net_ucx_arm.c: a helper that sleeps on UCX's descriptor misses no message, on a network that loses every event that it may lose: a
 * message that arrives before the worker is armed makes the descriptor readable never, as over RDMA. */
#include "test.h"

#include <errno.h>

#include "base/random.h"
#include "net/ucx/ucx.h"

/* ---- the network ---- */

static unsigned arrived; /* messages that no progress has taken */
static unsigned handled;
static bool is_armed, is_readable;
static ucs_status_t arm_status = UCS_OK;
static bool arrives_before_arm; /* a message, once */

static void arrive(void) {
    arrived++;
    is_readable |= is_armed;
}

unsigned ucp_worker_progress(ucp_worker_h worker) {
    unsigned happened = arrived;
    (void)worker;
    is_armed = false;
    handled += arrived;
    arrived = 0;
    return happened;
}

ucs_status_t ucp_worker_arm(ucp_worker_h worker) {
    (void)worker;
    if (arrives_before_arm)
        arrive();
    arrives_before_arm = false;
    is_armed = arm_status == UCS_OK;
    is_readable = false;
    return arm_status;
}

/* The rest of the file under test needs these. */
void ucp_request_free(void *request) {
    (void)request;
}
void net_ucx_report_failures(struct ucx_port *p) {
    (void)p;
}

/* ---- the tests ---- */

static struct ucx_port port;
static struct ucx_peer peer;

static int arm(void) {
    return net_ucx_arm(&port.base);
}

TEST(a_message_before_the_arming_is_found)
{
    arrives_before_arm = true;
    handled = 0;
    expect_eq(arm(), -EAGAIN);
    expect_eq(handled, 1);
    expect_eq(arm(), 0);
}

TEST(nothing_has_arrived)
{ expect_eq(arm(), 0); }

TEST(work_that_is_left_is_done_first)
{
    arm_status = UCS_ERR_BUSY;
    expect_eq(arm(), -EAGAIN);
    arm_status = UCS_OK;
    port.failing = &peer;
    expect_eq(arm(), -EAGAIN);
    port.failing = NULL;
}

/* A helper: it makes progress until nothing happens, arms, and sleeps until the descriptor is readable. A message may arrive at each
 * step; nobody wakes it but the network. */
TEST(it_never_sleeps_over_a_message)
{
    struct random r;
    random_seed(&r, 7);
    for (int i = 0; i < 100000; i++) {
        if (random_below(&r, 3) == 0)
            arrive();
        while (net_ucx_progress(&port.base) > 0)
            if (random_below(&r, 4) == 0)
                arrive();
        arrives_before_arm = random_below(&r, 3) == 0;
        if (arm() == 0 && !is_readable)
            expect_eq(arrived, 0);
    }
}
