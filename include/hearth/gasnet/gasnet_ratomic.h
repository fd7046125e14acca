/* gasnet_ratomic.h: atomic operations on words in segments, of GASNet-EX.
 *
 * A domain is for one type and a set of operators. Its operations on a word are atomic with respect to each other, and
 * to loads of the process whose segment has the word; while they are used on a word, nothing else may write it. Part of
 * gasnetex.h. */
#ifndef GASNET_RATOMIC_H
#define GASNET_RATOMIC_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- domains ---- */

typedef struct gasnetc_domain *gex_AD_t;
#define GEX_AD_INVALID ((gex_AD_t)0)

/* Collective over the team. ops: the operators that will be used, combined by |. flags: GEX_FLAG_AD_FAVOR_* and
 * GEX_FLAG_*_SEG_*, which have no effect here, or 0. Does not synchronise. */
void gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags);

/* Collective; the operations of all members must be complete. Does not synchronise. */
void gex_AD_Destroy(gex_AD_t ad);

/* The arguments of gex_AD_Create, and a pointer of the program with each domain. */
gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad);
gex_TM_t gex_AD_QueryTM(gex_AD_t ad);
gex_DT_t gex_AD_QueryDT(gex_AD_t ad);
gex_OP_t gex_AD_QueryOps(gex_AD_t ad);
void gex_AD_SetCData(gex_AD_t ad, const void *val);
void *gex_AD_QueryCData(gex_AD_t ad);

/* ---- operations ---- */

/* Applies one operator of the domain to the aligned word at tgt_addr in the segment of tgt_rank, a rank in the domain's
 * team, or in the job with GEX_FLAG_RANK_IS_JOBRANK. *result_p receives the previous value if the operator fetches.
 * Operands that the operator does not have are ignored. NB: the event is synchronised. NBI: gex_NBI_Wait with GEX_EC_PUT
 * for GEX_OP_SET, GEX_EC_GET for GEX_OP_GET, else GEX_EC_RMW. GEX_FLAG_IMMEDIATE has no effect: all return 0, or an event
 * other than GEX_EVENT_NO_OP. GEX_FLAG_AD_ACQ and GEX_FLAG_AD_REL are implied. The process that owns the word need not
 * poll. */
gex_Event_t gex_AD_OpNB_I32(gex_AD_t ad, int32_t *result_p, gex_Rank_t tgt_rank, void *tgt_addr,
                            gex_OP_t opcode, int32_t operand1, int32_t operand2, gex_Flags_t flags);
gex_Event_t gex_AD_OpNB_U32(gex_AD_t ad, uint32_t *result_p, gex_Rank_t tgt_rank, void *tgt_addr,
                            gex_OP_t opcode, uint32_t operand1, uint32_t operand2, gex_Flags_t flags);
gex_Event_t gex_AD_OpNB_I64(gex_AD_t ad, int64_t *result_p, gex_Rank_t tgt_rank, void *tgt_addr,
                            gex_OP_t opcode, int64_t operand1, int64_t operand2, gex_Flags_t flags);
gex_Event_t gex_AD_OpNB_U64(gex_AD_t ad, uint64_t *result_p, gex_Rank_t tgt_rank, void *tgt_addr,
                            gex_OP_t opcode, uint64_t operand1, uint64_t operand2, gex_Flags_t flags);
gex_Event_t gex_AD_OpNB_FLT(gex_AD_t ad, float *result_p, gex_Rank_t tgt_rank, void *tgt_addr,
                            gex_OP_t opcode, float operand1, float operand2, gex_Flags_t flags);
gex_Event_t gex_AD_OpNB_DBL(gex_AD_t ad, double *result_p, gex_Rank_t tgt_rank, void *tgt_addr,
                            gex_OP_t opcode, double operand1, double operand2, gex_Flags_t flags);
int gex_AD_OpNBI_I32(gex_AD_t ad, int32_t *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode,
                     int32_t operand1, int32_t operand2, gex_Flags_t flags);
int gex_AD_OpNBI_U32(gex_AD_t ad, uint32_t *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode,
                     uint32_t operand1, uint32_t operand2, gex_Flags_t flags);
int gex_AD_OpNBI_I64(gex_AD_t ad, int64_t *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode,
                     int64_t operand1, int64_t operand2, gex_Flags_t flags);
int gex_AD_OpNBI_U64(gex_AD_t ad, uint64_t *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode,
                     uint64_t operand1, uint64_t operand2, gex_Flags_t flags);
int gex_AD_OpNBI_FLT(gex_AD_t ad, float *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode,
                     float operand1, float operand2, gex_Flags_t flags);
int gex_AD_OpNBI_DBL(gex_AD_t ad, double *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode,
                     double operand1, double operand2, gex_Flags_t flags);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
