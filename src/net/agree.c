/* agree.c: all fail or none.
 *
 * A collective call in which one fails and the others go on ends with the others waiting for ever. So whoever
 * fails logs its line, takes part in the next meeting all the same, and says there that it failed. */
#include "net/agree.h"

#include <errno.h>
#include <stdbool.h>

/* Numbers of errors are small; what is not is still an error. */
static unsigned char code(int status) {
    return status == 0 ? 0 : status < 0 && status > -256 ? (unsigned char)-status : EIO;
}

static bool is_worse(int status, int than) {
    return status && (!than || (than == -EEXIST && status != -EEXIST));
}

int net_agree(const struct net_boot *boot, int status) {
    unsigned char mine = code(status), all[boot->size];
    int worst = 0, err = net_boot_gather(boot, &mine, all, 1);
    if (err)
        return err;
    for (int i = 0; i < boot->size; i++)
        if (is_worse(-all[i], worst))
            worst = -all[i];
    return worst;
}
