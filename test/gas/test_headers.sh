#!/bin/sh
# Compiles each public header by itself, with others in any order, twice, inside extern "C" and outside, as old and
# new C and C++, in each of the three thread modes; and checks the error of a program that includes gasnet.h without a
# mode. test_headers.sh MPI TREE; quick: openmpi; coverage: no; timeout: 100
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
warn='-Wall -Wextra -pedantic -Werror -Iinclude/hearth -Iinclude/hearth/gasnet -fsyntax-only'

try() { # compiler and options; the source is on stdin
    # shellcheck disable=SC2086 # several options
    "$@" $warn - 2>&1
}

includes() { printf '#include <%s>\n' "$@"; }

modes='GASNET_SEQ GASNET_PARSYNC GASNET_PAR' c='c99 c11' cxx='c++98 c++17'
check() { # headers, separated by blanks
    for mode in $modes; do
        for standard in $c; do
            # shellcheck disable=SC2086 # several headers
            { echo "#define $mode" && includes $1 $1; } | try gcc -x c -std=$standard || { echo "not in $standard, $mode: $1" && bad=1; }
        done
        command -v g++ >/dev/null || continue
        for standard in $cxx; do
            # shellcheck disable=SC2086
            { echo "#define $mode" && includes $1 $1; } | try g++ -x c++ -std=$standard || { echo "not in $standard, $mode: $1" && bad=1; }
            # shellcheck disable=SC2086
            { echo "#define $mode" && echo 'extern "C" {' && includes $1 && echo '}' && includes $1; } | try g++ -x c++ -std=$standard ||
                { echo "not inside extern \"C\" in $standard, $mode: $1" && bad=1; }
        done
    done
}

# The same in one mode, by other compilers and standards.
check_more() {
    for compiler in 'g++ -std=c++11' 'clang++ -std=c++11' 'clang++ -std=c++17'; do
        command -v "${compiler%% *}" >/dev/null || continue
        # shellcheck disable=SC2086
        { echo '#define GASNET_PAR' && includes $1; } | try $compiler -x c++ || { echo "not by $compiler: $1" && bad=1; }
    done
}

# In the quick tier each of the two that include the others is compiled by two of the standards, the others in one mode, by the oldest standards,
# which take the least.
quick=''
[ "${HEARTH_TEST_TIER:-}" != quick ] || quick=yes
[ -z "$quick" ] || c=c11 cxx=c++98
check gasnet.h
[ -z "$quick" ] || c=c99 cxx=c++17
check gasnetex.h
check_more gasnetex.h
[ -z "$quick" ] || modes=GASNET_PAR c=c99 cxx=c++98
check vgasnet.h
check gasnet_tools.h
check gasnet_fwd.h
check 'gasnet_fwd.h gasnetex.h gasnet_tools.h gasnet_portable_platform.h'
check gasnet_vis.h
check 'gasnet.h gasnet_tools.h gasnet_coll.h gasnet_handler.h gasnet_vis.h'
check 'gasnet_ratomic.h gasnet.h gasnet_tools.h gasnet_coll.h gasnet_vis.h gasnetex.h gasnet_mk.h vgasnet.h'
check 'gasnet_tools.h gasnet.h gasnet_handler.h gasnet_coll.h vgasnet.h'
check 'vgasnet.h gasnet_coll.h gasnet_handler.h gasnet_tools.h gasnet.h'

# Names that programs use from the headers of GASNet 1.32, in each language.
program() {
    cat <<'END'
#define GASNET_PAR 1
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_tools.h>
#include <gasnet_vis.h>
#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
GASNETT_IDENT(names_ident, "core " TEXT(GASNET_CORE_NAME) " " TEXT(GASNET_CORE_VERSION) " " GASNETT_SYSTEM_TUPLE);
GASNETT_THREADKEY_DEFINE(names_key);
GASNETT_NORETURN void names_end(void);
void names_end(void) { gasnett_fatalerror("%s: %d", gasnett_current_loc, 1); }
GASNETT_FORMAT_PRINTF(names_print, 1, 2, extern void names_print(const char *format, ...));
GASNETT_ALWAYS_INLINE(names_add) int names_add(int a, int b) { return a + b; }
GASNETT_NEVER_INLINE(names_wait, static int names_wait(int n)) { return n; }
gasnett_strongatomic_t names_count = gasnett_strongatomic_init(0);
gasnett_rwlock_t names_lock = GASNETT_RWLOCK_INITIALIZER;
int names(gasnet_token_t token, void *data);
int names(gasnet_token_t token, void *data) {
    gasnet_memvec_t list;
    size_t count[2] = {8, 2}, strides[1] = {16};
    int id = GASNET_NULL_ARGV_OK + GASNETT_MAX_THREADS;
    char *text = gasnett_getenv_withdefault("NAMES", "none"), buffer[40];
    list.addr = data, list.len = 8;
    if_pf (gasnet_barrier(1, 0) != GASNET_OK) names_end();
    if_pt (!gasnet_barrier_result(&id)) id++;
    id += gasnet_AMRequestShort(0, 200, 2, 1, 2) + gasnet_AMRequestMedium(0, 200, data, 8, 0);
    id += gasnet_AMReplyLong(token, 200, data, 8, data, 1, 3);
    gasnet_putv_bulk(0, 1, &list, 1, &list);
    gasnet_wait_syncnb(gasnet_gets_nb_bulk(data, strides, 0, data, strides, count, 1));
    gasnet_puti_nbi_bulk(0, 1, &data, 8, 1, &data, 8);
    gasnet_coll_barrier(GASNET_TEAM_ALL, 0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnete_coll_barrier_notify(GASNET_TEAM_ALL, 0, 0 GASNETE_THREAD_GET);
    gasnet_coll_set_tree_kind(GASNET_TEAM_ALL, 0, 2, GASNET_COLL_REDUCEM_OP);
    gasnet_coll_dumpTuningState((char *)0, GASNET_TEAM_ALL);
    gasnett_rwlock_rdlock(&names_lock);
    gasnett_format_number(gasnett_parse_int(text, 1), buffer, sizeof buffer, 1);
    return id + names_add(1, names_wait(2)) + (int)gasnett_count0s(data, 8) + (int)gasnett_checksum(data, 8);
}
END
}
for mode in 'gcc -x c -std=c99' 'gcc -x c -std=c11' 'g++ -x c++ -std=c++98' 'g++ -x c++ -std=c++17' 'clang++ -x c++ -std=c++11'; do
    command -v "${mode%% *}" >/dev/null || continue
    # shellcheck disable=SC2086 # compiler and options
    program | try $mode || { echo "the names are not all there: $mode" && bad=1; }
done

# Names that programs use from the headers of GASNet-EX.
program_ex() {
    cat <<'END'
#define GASNET_SEQ 1
#include <gasnet.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_coll.h>
#include <gasnet_vis.h>
#if GASNET_RELEASE_VERSION_MAJOR < 2000 || GEX_SPEC_VERSION_MAJOR * 100 + GEX_SPEC_VERSION_MINOR < 14
#error "not GASNet-EX"
#endif
#if !GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM || GASNET_MAXEPS < 1 || SIZEOF_GEX_RMA_VALUE_T < 8 || GEX_AM_INDEX_BASE > 128
#error "limits"
#endif
static void names_handler(gex_Token_t token, gex_AM_Arg_t a) { (void)token, (void)a; }
gex_HSL_t names_lock = GEX_HSL_INITIALIZER;
int names(gex_TM_t tm, gex_EP_t ep, void *data);
int names(gex_TM_t tm, gex_EP_t ep, void *data) {
    gex_AM_Entry_t entry = {0, (gex_AM_Fn_t)names_handler, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 1, 0, "names"};
    gex_EP_Location_t at = gex_TM_TranslateRankToEP(tm, 0, 0);
    gex_Memvec_t list;
    gex_Event_t leaf, root = gex_RMA_PutNB(tm, 1, data, data, 8, &leaf, GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_NBRHD);
    gex_RankInfo_t *near;
    gex_Rank_t count, mine;
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(tm, 1, 0, 1, 8, 0, 0, 1);
    const gex_ProgressThreadInfo_t *threads;
    unsigned int thread_count;
    gex_EP_Capabilities_t capable = GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_AM;
    gex_MK_t kind = GEX_MK_HOST;
    gex_Segment_t segment;
    list.gex_addr = data, list.gex_len = 8;
    if (gex_EP_Create(&ep, gex_EP_QueryClient(ep), capable, GEX_FLAG_HINT_ACCEL_ALL) == GASNET_OK &&
        gex_Segment_Create(&segment, gex_EP_QueryClient(ep), data, 8, kind, 0) == GASNET_OK)
        return gex_EP_BindSegment(ep, segment, 0);
    gex_System_QueryProgressThreads(gex_EP_QueryClient(ep), &thread_count, &threads, 0);
    if (thread_count > 0 && threads[0].gex_thread_roles & GEX_THREAD_ROLE_RCV)
        threads[0].gex_progress_fn(threads[0].gex_progress_arg);
    gex_TM_Create(&tm, 1, tm, &at, 1, &data, 8, GEX_FLAG_TM_LOCAL_SCRATCH);
    gex_VIS_SetPeerCompletionHandler(200, data, gex_System_QueryMaxThreads() > 1 ? GEX_VIS_MAX_PEERCOMPLETION : 0, 0);
    gex_System_QueryNbrhdInfo(&near, &count, &mine);
    if (sd == GEX_AM_SRCDESC_NO_OP || root == GEX_EVENT_NO_OP) return GASNET_ERR_RESOURCE;
    gex_AM_CommitRequestMedium1(sd, entry.gex_index, 8, (gex_AM_Arg_t)at.gex_rank);
    gex_Event_Wait(leaf), gex_Event_Wait(root);
    gex_VIS_VectorPutNBI(tm, 1, 1, &list, 1, &list, GEX_FLAG_ENABLE_LEAF_LC);
    gex_NBI_Wait(GEX_EC_LC | GEX_EC_PUT, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
    return gex_EP_RegisterHandlers(ep, &entry, 1) + gex_AM_RequestShort2(gex_TM_Pair(ep, 0), near[0].gex_jobrank, 200, 0, 1, 2);
}
END
}
for mode in 'gcc -x c -std=c99' 'gcc -x c -std=c11' 'g++ -x c++ -std=c++98' 'g++ -x c++ -std=c++17' 'clang++ -x c++ -std=c++11'; do
    command -v "${mode%% *}" >/dev/null || continue
    # shellcheck disable=SC2086 # compiler and options
    program_ex | try $mode || { echo "the names of GASNet-EX are not all there: $mode" && bad=1; }
done

# The header of the MPI may define names of the platform too: before and after.
for order in 'mpi.h gasnetex.h gasnet_tools.h' 'gasnetex.h gasnet_tools.h mpi.h'; do
    # shellcheck disable=SC2086
    { echo '#define GASNET_PAR' && includes $order && echo 'int n[PLATFORM_OS_LINUX + PLATFORM_ARCH_64];'; } | "$(packaging/mpis.sh "$1")" -x c -std=c11 $warn - 2>&1 ||
        { echo "not together: $order" && bad=1; }
done

# gasnet_fwd.h has no functions, and its constants are of use to the preprocessor.
printf '#include <gasnet_fwd.h>\n#if GEX_FLAG_IMMEDIATE != 1 || GEX_OP_ADD != 8 || GEX_DT_U64 != 8\n#error "values"\n#endif\n' | try gcc -x c -std=c99 ||
    { echo 'constants of gasnet_fwd.h' && bad=1; }
[ -z "$(printf '#include <gasnet_fwd.h>\n' | gcc -Iinclude/hearth/gasnet -E -P -x c - | grep 'gex_.*(')" ] || { echo 'gasnet_fwd.h declares functions' && bad=1; }

{ echo '#define GASNET_SEQ' && echo '#define GASNET_PAR' && includes gasnet.h; } | try gcc -x c >/dev/null && echo 'two modes are taken' && bad=1
includes gasnet.h | try gcc -x c | grep -q 'define one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR' || { echo 'no mode is taken' && bad=1; }
[ $bad = 0 ] && echo 'all headers compile'
exit $bad
