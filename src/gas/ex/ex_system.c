/* ex_system.c: the job as a whole: ranks, and which of them share memory (neighbourhood) or a machine (host). */
#include "gas/ex/ex.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/settings.h"

struct place_list {
    struct gasnetc_rank_info *ranks;
    gex_Rank_t count, mine; /* `mine`: this process in the list */
    gex_Rank_t sets, set;   /* number of such groups in the job; the one of this process */
};

static struct place_list neighbours, machine;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Ranks with the same number form a group. Groups are numbered by the order of their first ranks. */
static void place_list_fill(struct place_list *list, const gasnet_node_t *group, gasnet_node_t size) {
    gasnet_node_t own = group[gas_job.rank], before = 0;
    list->ranks = malloc(size * sizeof *list->ranks);
    bool *seen = calloc(size, sizeof *seen); /* groups are named by numbers below `size` */
    if (!list->ranks || !seen)
        gas_fail("gex_System_QueryHostInfo", "no memory for a list of %u processes", size);
    for (gasnet_node_t i = 0; i < size; i++) {
        if (!seen[group[i]] && group[i] == own)
            list->set = before;
        before += !seen[group[i]];
        seen[group[i]] = true;
        if (group[i] != own)
            continue;
        if ((int)i == gas_job.rank)
            list->mine = list->count;
        list->ranks[list->count++].gex_jobrank = i;
    }
    list->sets = before;
    free(seen);
}

/* With segments in pages no process can load from the segment of another. */
static void place_lists_make(void) {
    gasnet_node_t size = (gasnet_node_t)gas_job.size;
    gasnet_nodeinfo_t *info = malloc(size * sizeof *info);
    gasnet_node_t *group = calloc(size, sizeof *group);
    if (!info || !group)
        gas_fail("gex_System_QueryHostInfo", "no memory for a table of %u processes", size);
    gas_job_nodes(info, (int)size);
    for (gasnet_node_t i = 0; i < size; i++)
        group[i] = info[i].host;
    place_list_fill(&machine, group, size);
    for (gasnet_node_t i = 0; i < size; i++)
        group[i] = settings_get()->nvm ? i : info[i].supernode;
    place_list_fill(&neighbours, group, size);
    free(info);
    free(group);
}

static void place_list_tell(const char *call, const struct place_list *list, gex_RankInfo_t **info_p,
                            gex_Rank_t *info_count_p, gex_Rank_t *my_info_index_p) {
    gas_need(call, 0);
    pthread_once(&once, place_lists_make);
    if (info_p)
        *info_p = list->ranks;
    if (info_count_p)
        *info_count_p = list->count;
    if (my_info_index_p)
        *my_info_index_p = list->mine;
}

void gex_System_QueryNbrhdInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
                               gex_Rank_t *my_info_index_p) {
    place_list_tell("gex_System_QueryNbrhdInfo", &neighbours, info_p, info_count_p, my_info_index_p);
}

void gex_System_QueryHostInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
                              gex_Rank_t *my_info_index_p) {
    place_list_tell("gex_System_QueryHostInfo", &machine, info_p, info_count_p, my_info_index_p);
}

void gex_System_QueryMyPosition(gex_Rank_t *nbrhd_set_size, gex_Rank_t *nbrhd_set_rank,
                                gex_Rank_t *host_set_size, gex_Rank_t *host_set_rank) {
    gas_need("gex_System_QueryMyPosition", 0);
    pthread_once(&once, place_lists_make);
    if (nbrhd_set_size)
        *nbrhd_set_size = neighbours.sets;
    if (nbrhd_set_rank)
        *nbrhd_set_rank = neighbours.set;
    if (host_set_size)
        *host_set_size = machine.sets;
    if (host_set_rank)
        *host_set_rank = machine.set;
}

gex_Rank_t gex_System_QueryJobRank(void) {
    gas_need("gex_System_QueryJobRank", 0);
    return (gex_Rank_t)gas_job.rank;
}

gex_Rank_t gex_System_QueryJobSize(void) {
    gas_need("gex_System_QueryJobSize", 0);
    return (gex_Rank_t)gas_job.size;
}

uint64_t gex_System_QueryMaxThreads(void) {
    return UINT16_MAX; /* the library has no limit */
}

int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int *count_p,
                                    const gex_ProgressThreadInfo_t **info_p, gex_Flags_t flags) {
    const char *call = "gex_System_QueryProgressThreads";
    gas_ex_check_client(call, client);
    gas_ex_flags(call, flags, 0);
    if (!count_p || !info_p)
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "count_p %p, info_p %p", (void *)count_p,
                          (const void *)info_p);
    *count_p = 0;
    *info_p = NULL;
    return GASNET_OK;
}

int gex_System_GetVerboseErrors(void) {
    return atomic_load(&gas_verbose);
}

void gex_System_SetVerboseErrors(int enable) {
    atomic_store(&gas_verbose, enable != 0);
}
