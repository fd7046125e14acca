/* flow.pml: Spin model of the flow control protocol of src/net/rpc/flow.h, for a few clients and one helper.
 *
 * Each client has OPS operations, each of 1 ... UNITS units, that send or fetch. An own buffer holds one unit, and so
 * does each of the two buffers of the credit pool (spares). Blocks of a client may arrive in any order, and so may
 * acknowledgements. A note, the message by which a client gives spares back, may overtake blocks. The order in which
 * the helper serves clients is nondeterministic, so deferred service is covered as well.
 *
 * The helper grants none, one or two spares with any acknowledgement, if they are free, and may acknowledge only to grant. This
 * covers every sequence of size hints that clients can send. Sequence numbers do not wrap here.
 *
 * Properties
 *      a buffer never holds two blocks, and a spare holds none while an answer is leaving from it  (assert)
 *      a spare is granted only if no client has it                                                 (assert)
 *      no message is sent that the other side would refuse                                         (assert)
 *      it never deadlocks: when no step is possible, all operations are done and
 *      acknowledged, and all spares are free                                         (no invalid end state)
 *      every execution terminates                                                    (ltl completes)
 *
 * -DCLIENTS= -DB= -DOPS= -DUNITS=     sizes: OPS * UNITS at most 8
 * -DMUTANT=n                          inserts one of the faults marked below; Spin must find each
 * -DLIVENESS                          checks the formula `completes` */
#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef B
#define B 1
#endif
#ifndef OPS
#define OPS 1
#endif
#ifndef UNITS
#define UNITS 3
#endif
#ifndef MUTANT
#define MUTANT 0
#endif

#define SPARES 2
#define ALL    3
#define BLOCKS 8 /* most blocks that a client can send */

#define OWN  1
#define LAST 2
#define ASKS 4 /* a fetch: a reply is sent, which acknowledges */

#define LOWEST(set)     (set & (8 - set))
#define COUNT(set)      ((set & 1) + (set >> 1))
#define BIT(n)          (1 << (n))
#define IN_SPARES       (sent - done - (B - credits)) /* blocks of a client in flight to spares */
#define WITHIN(part, s) (((part) & (255 - (s))) == 0)

chan blocks[CLIENTS] = [B + SPARES] of {byte, byte, byte, byte}; /* number, flags, own, spares */
chan acks[CLIENTS] = [BLOCKS] of {byte, byte}; /* done, granted; one for each block at most */
byte notes[CLIENTS]; /* under way: spares given back */

/* The actual state of the buffers, which neither side can observe. */
byte own_full[CLIENTS]; /* by buffer: from sending until it is done */
byte loaded;            /* spares: the same, and while an answer that has not left is in it */
byte out;               /* spares: granted, and neither used nor given back by the client */

byte complete; /* clients that are finished */
byte started;  /* clients that have started: in the order of their numbers, as all other orders are symmetric */

/* ---- a client ---- */

proctype client(byte me) {
    byte sent, done, next_own, grant, left, operations = OPS;
    byte credits = B;
    byte kinds; /* bit n: block n is in an own buffer */
    bool fetch, asking; /* asking: the last block had a size hint, and the operation goes on */
    byte flags, own, spares, number; /* scratch, 0 between steps */

    do
    :: atomic { /* sends the next block, of a new operation if needed: net_flow_take */
#if MUTANT == 1 /* a fetch that has a grant does not wait for a credit */
           (left > 0 || (operations > 0 && started >= me)) && (grant || credits > 0) ->
#else
           (left > 0 || (operations > 0 && started >= me)) && (credits > 0 || (grant && !fetch)) &&
               (!asking || fetch || grant || IN_SPARES == 0) -> /* expects_grant */
#endif
           if
           :: left == 0 ->
              operations--;
              started = (started == me -> me + 1 : started);
              if
              :: credits > 0 || MUTANT == 1 -> fetch = true
              :: fetch = false
              fi;
              if
              :: left = 1
#if UNITS > 1
              :: left = 2
#endif
#if UNITS > 2
              :: left = 3
#endif
              fi
           :: else
           fi;
           if
           :: fetch || grant == 0 ->
              flags = (fetch -> OWN | ASKS : OWN);
              own = next_own;
#if MUTANT != 2 /* always the same buffer */
              next_own = (next_own + 1) % B;
#endif
              credits--;
              kinds = kinds | BIT(sent);
              assert(!(own_full[me] & BIT(own)));
              own_full[me] = own_full[me] | BIT(own)
           :: else
           fi;
           if
           :: grant && fetch ->
              flags = flags | LAST;
              spares = grant;
              assert(!(loaded & spares));
              loaded = loaded | spares;
              left = (left > COUNT(grant) -> left - COUNT(grant) : 0)
           :: grant && !fetch ->
              assert(!(loaded & LOWEST(grant)));
              loaded = loaded | LOWEST(grant);
              if
              :: left == 1 || grant == LOWEST(grant) ->
#if MUTANT != 3 /* the last block is not marked */
                 flags = LAST;
#endif
                 spares = grant
              :: else -> spares = LOWEST(grant)
              fi;
              left--
           :: else -> left--
           fi;
           out = out & (255 - spares);
#if MUTANT == 4 /* the rest of the grant is returned with the last block, and kept */
           grant = grant & (255 - LOWEST(spares));
#else
           grant = grant & (255 - spares);
#endif
           fetch = fetch && left;
           if
           :: left -> asking = true
           :: asking = false
           fi;
           assert(nfull(blocks[me]));
           blocks[me]!sent, flags, own, spares;
           sent++;
           flags = 0; own = 0; spares = 0
       }
    :: atomic { /* net_flow_acknowledge: any acknowledgement under way */
           if
           :: acks[me]??[1, _] -> number = 1
           :: acks[me]??[2, _] -> number = 2
           :: acks[me]??[3, _] -> number = 3
           :: acks[me]??[4, _] -> number = 4
           :: acks[me]??[5, _] -> number = 5
           :: acks[me]??[6, _] -> number = 6
           :: acks[me]??[7, _] -> number = 7
           :: acks[me]??[8, _] -> number = 8
           fi;
           acks[me]??eval(number), spares;
           assert(number <= sent);
#if MUTANT == 5 /* an acknowledgement that was overtaken decreases `done` */
           done = (number < done -> number : done);
#endif
           do
           :: done < number ->
              if
              :: kinds & BIT(done) -> credits++
              :: else
              fi;
#if MUTANT == 17 /* a credit is returned twice */
              if
              :: kinds & BIT(done) -> credits++
              :: else
              fi;
#endif
#if MUTANT == 6 /* a credit for a block in a spare as well */
              if
              :: !(kinds & BIT(done)) -> credits++
              :: else
              fi;
#endif
              kinds = kinds & (255 - BIT(done));
              done++
           :: else -> break
           od;
           assert(credits <= B);
           if
           :: spares ->
              assert(!(grant & spares));
              grant = grant | spares;
              assert(IN_SPARES + COUNT(grant) <= SPARES) /* each has one block in flight at most */
           :: else
           fi;
           number = 0; spares = 0
       }
    :: atomic { /* net_flow_give_back */
           left == 0 && grant ->
#if MUTANT != 7 /* the client does not send the note */
           notes[me] = notes[me] | grant;
#endif
           out = out & (255 - grant);
           grant = 0
       }
    :: atomic {
           left == 0 && operations == 0 && sent == done && grant == 0 && empty(acks[me]) ->
           assert(credits == B && own_full[me] == 0);
           complete++;
           break
       }
    od
}

/* ---- the helper ---- */

byte free = ALL;

/* The helper's state for one client. All helper processes together model one thread, so each step is atomic. */
proctype helper(byte whose) {
    byte done, undone, waiting, grant;
    byte pooled;    /* blocks in spares that have arrived and are not done */
    bool last_waits;
    byte here;      /* bit n: block n has arrived and is not done */
    byte in_use;    /* own buffers */
    byte leaving;   /* spares for the answer of a block that is done */
    byte flags[BLOCKS], place[BLOCKS], answer[BLOCKS]; /* answer: spares, of a block that has arrived */
    byte number, f, own, spares; /* scratch, 0 between steps */

end:
    do
    :: atomic { /* net_flow_arrive: any block under way */
           if
           :: blocks[whose]??[0, _, _, _] -> number = 0
           :: blocks[whose]??[1, _, _, _] -> number = 1
           :: blocks[whose]??[2, _, _, _] -> number = 2
           :: blocks[whose]??[3, _, _, _] -> number = 3
           :: blocks[whose]??[4, _, _, _] -> number = 4
           :: blocks[whose]??[5, _, _, _] -> number = 5
           :: blocks[whose]??[6, _, _, _] -> number = 6
           :: blocks[whose]??[7, _, _, _] -> number = 7
           fi;
           blocks[whose]??eval(number), f, own, spares;
           assert(number >= done && number - done < B + SPARES && !(here & BIT(number)));
           assert(WITHIN(spares, grant));
           if
           :: f & OWN ->
              assert(!(in_use & BIT(own)));
              in_use = in_use | BIT(own);
              place[number] = own;
              answer[number] = spares
           :: else ->
              assert(spares && (f & LAST || spares == LOWEST(spares)));
              place[number] = LOWEST(spares);
              pooled++;
#if MUTANT != 10 /* the spares that the last block returns are lost */
              free = free | (spares & (255 - LOWEST(spares)))
#endif
           fi;
           grant = grant & (255 - spares);
#if MUTANT == 8 /* the rest of the grant is free once the last block has arrived, although earlier blocks may not have */
           free = (f & LAST -> free | grant : free);
           grant = (f & LAST -> 0 : grant);
#endif
           here = here | BIT(number);
           flags[number] = f;
           undone++;
           number = 0; f = 0; own = 0; spares = 0
       }
    :: atomic { /* net_flow_turn and net_flow_done */
#if MUTANT == 9 /* out of order */
           if
           :: here & BIT(done) -> number = done
           :: here & BIT(done + 1) -> number = done + 1
           fi;
#else
           here & BIT(done) -> number = done;
#endif
           f = flags[number];
           if
           :: f & OWN ->
              in_use = in_use & (255 - BIT(place[number]));
              own_full[whose] = own_full[whose] & (255 - BIT(place[number]));
              waiting++
           :: else ->
              loaded = loaded & (255 - place[number]);
              free = free | place[number];
              pooled--
           fi;
#if MUTANT == 11 /* spares of an answer are free when the block is done */
           free = free | answer[number];
#endif
           leaving = leaving | answer[number];
           last_waits = last_waits || (f & LAST);
           here = here & (255 - BIT(number));
           flags[number] = 0;
           place[number] = 0;
           answer[number] = 0;
           done++;
           undone--;
#if MUTANT == 12 /* only blocks in own buffers are acknowledged */
           last_waits = false;
#endif
           if
           :: free -> spares = LOWEST(free)
           :: free == ALL -> spares = ALL
           :: true
           fi;
           if
#if MUTANT == 13 /* deferred until half wait, even if nothing is left to do */
           :: spares || f & ASKS || waiting * 2 >= B ->
#elif B >= 4
           :: spares || f & ASKS || ((waiting || last_waits) && (undone == 0 || waiting * 2 >= B)) ->
#else
           :: spares || f & ASKS || waiting || (last_waits && pooled == 0) ->
#endif
              waiting = 0;
              last_waits = false;
#if MUTANT == 14 /* the spare of the next block is granted before this block is done */
              spares = (here & BIT(done) && !(flags[done] & OWN) -> place[done] : spares);
#endif
              if
              :: spares ->
                 assert(!(spares & (loaded | out)));
                 out = out | spares;
                 grant = grant | spares;
#if MUTANT != 15 /* granted, and still free */
                 free = free & (255 - spares)
#endif
              :: else
              fi;
              assert(nfull(acks[whose]));
#if MUTANT == 16 /* acknowledges one more than is done */
              acks[whose]!done + 1, spares
#elif MUTANT == 18 /* a grant does not acknowledge the block that has left the spare */
              acks[whose]!(spares && done > 1 -> done - 1 : done), spares
#else
              acks[whose]!done, spares
#endif
           :: else
           fi;
           number = 0; f = 0; spares = 0
       }
    :: atomic { /* net_flow_release: the replies have left */
           leaving ->
           loaded = loaded & (255 - LOWEST(leaving));
           free = free | LOWEST(leaving);
           leaving = leaving & (255 - LOWEST(leaving))
       }
    :: atomic { /* net_flow_returned */
           notes[whose] ->
           assert(WITHIN(notes[whose], grant));
           free = free | notes[whose];
           grant = grant & (255 - notes[whose]);
           notes[whose] = 0
       }
    od
}

init {
    byte i;
    atomic {
        do
        :: i < CLIENTS ->
           run client(i);
           run helper(i);
           i++
        :: else -> break
        od
    };
    /* If something is lost, init blocks here forever, which Spin reports as an invalid end state. */
    complete == CLIENTS && free == ALL && loaded == 0 && out == 0
}

#ifdef LIVENESS
ltl completes { <> (complete == CLIENTS) }
#endif
