/* pages.pml: Spin model of the protocol of src/pages/protocol/protocol.h, for a few nodes and pages.
 *
 * Every node performs OPS operations: read, write, prefetch, remote get or remote put, of any page. It drops copies at
 * any time, and has to if it has fewer FRAMES than there are PAGES. The home is one of the nodes, and its cache a
 * client like the others: the model does not depend on which. Messages arrive in any order. At most one message of a
 * kind is under way between two parties for a page, so each kind is a variable. The choice of the serving holder (F),
 * and whether an owner that drops its copy hands over or writes back, are nondeterministic, so that all policies are
 * covered. I/O takes any time.
 *
 * The only property of data that is modelled is whether a copy is fresh, that is, the same as the last write. A write
 * makes all other copies stale. A write under a pin happens when the pin is released.
 *
 * Properties
 *      no stale copy is read or written; a writer has the only copy                                (assert)
 *      no message arrives unexpectedly, or before the previous one of its kind was taken            (assert)
 *      the latest data exists somewhere                                                             (assert)
 *      it terminates, with nothing under way and a correct directory                (no invalid end state)
 *
 * -DNODES= -DPAGES= -DFRAMES= -DOPS=     sizes
 * -DCOOP=0                               pages come from the home only
 * -DWISHES=                              bits: read 1, write 2, prefetch 4, remote get 8, remote put 16
 * -DMUTANT=n                             breaks it in one of the ways marked below; each must be found */
#ifndef NODES
#define NODES 2
#endif
#ifndef PAGES
#define PAGES 1
#endif
#ifndef FRAMES
#define FRAMES PAGES
#endif
#ifndef OPS
#define OPS 2
#endif
#ifndef COOP
#define COOP 1
#endif
#ifndef WISHES
#define WISHES 31
#endif
#ifndef MUTANT
#define MUTANT 0
#endif

#define XS (NODES * PAGES) /* possible copies: page * NODES + node */

/* States of copies. */
#define I 0
#define S 1
#define E 2
#define M 3
#define O 4

/* States of pages in the directory. */
#define UNCACHED  0
#define SHARED    1
#define EXCLUSIVE 2
#define OWNED     3

/* Requests. */
#define GETS      1
#define GETX      2
#define PUT       3
#define SMALL_GET 4
#define SMALL_PUT 5

/* Forwarded messages. */
#define FWD_S     1
#define FWD_X     2
#define FWD_GET   3 /* a remote operation */
#define FWD_PUT   4
#define INV       5
#define OWN       6
#define WRITEBACK_REQ      7
#define RECALL_S  8
#define RECALL_X  9

/* I/O. */
#define READ  1
#define WRITE 2
#define APPLY 3

/* Events that a transaction waits for, apart from acknowledgements and I/O. */
#define WRITEBACK_DATA    1
#define UNBLOCK 2
#define DONE    3 /* OWNED or APPLIED */

/* Asserts about the home's bookkeeping only: a mutant must be found by its effect on the data. */
#define BOOKS(holds) assert(MUTANT || (holds))

#define BIT(n)       (1 << (n))
#define DIRTY(state) (state == M || state == O)

/* ---- the network: by copy, 0 is none ---- */

byte request[XS], small[XS];                    /* to the home */
byte forwarded[XS], peer[XS];                   /* to a cache */
bool alone[XS];                                 /* FWD_X: passes the grant on */
byte data[XS];                                  /* the page, in this state */
bool data_dirty[XS], data_granted[XS], data_fresh[XS];
bool granted[XS], put_ack[XS], answer[XS];
bool iack[XS], done[XS];                        /* to the home */
byte back[XS], unblock[XS];                     /* 1 clean, 2 dirty */
bool back_fresh[XS];

/* ---- caches ---- */

byte state[XS], open[XS];
bool fresh[XS], has_data[XS], has_grant[XS];
bool wanted[XS];   /* a pin is taken when the open request completes */
byte pin[XS];      /* 1 to read, 2 to write */
bool put_off[XS];  /* the forwarded message waits for the pin; no new pins are given */
bool asking[NODES];
byte wishes[NODES], frames[NODES];

/* ---- the home ---- */

byte known[PAGES], owner[PAGES], holders[PAGES];
byte kind[PAGES], requester[PAGES], source[PAGES], acks[PAGES], awaits[PAGES], io[PAGES];
bool nvm[PAGES], buffer[PAGES];
chan queue[PAGES] = [2 * NODES] of {byte, byte};

byte t, u, n; /* scratch, 0 between steps */

/* A write to copy x, or to the NVM if x is XS. */
inline wrote(p, x) {
    t = 0;
    do
    :: t < NODES ->
       u = p * NODES + t;
       assert(u == x || state[u] == I || open[u] == PUT);
       fresh[u] = (u == x);
       data_fresh[u] = false;
       back_fresh[u] = false;
       t++
    :: else -> break
    od;
    buffer[p] = false;
    nvm[p] = (x == XS);
    t = 0;
    u = 0
}

/* The latest data exists somewhere; every readable copy is fresh. */
inline check(p) {
    t = 0;
    n = nvm[p] || buffer[p];
    do
    :: t < NODES ->
       u = p * NODES + t;
#if MUTANT == 4
       assert(state[u] == I || fresh[u]);
#else
       assert(state[u] == I || open[u] == PUT || fresh[u]);
#endif
       n = n || fresh[u] || (data[u] && data_fresh[u]) || (back[u] == 2 && back_fresh[u]);
       t++
    :: else -> break
    od;
    assert(n);
    t = 0;
    u = 0;
    n = 0
}

/* ---- a cache serves forwarded messages ---- */

inline send_data(x, to, as, is_dirty, is_granted, is_fresh) {
    assert(data[to] == 0);
    data[to] = as;
    data_dirty[to] = is_dirty;
    data_granted[to] = is_granted;
    data_fresh[to] = is_fresh
}

inline lose(i, x) {
    state[x] = I;
    fresh[x] = false;
    if
    :: open[x] == 0 -> frames[i]--
    :: else
    fi
}

inline bring_back(x) {
    assert(back[x] == 0);
    back[x] = (DIRTY(state[x]) -> 2 : 1);
    back_fresh[x] = DIRTY(state[x]) && fresh[x]
}

inline serve(i, p, x) {
    n = p * NODES + peer[x];
    if
    :: forwarded[x] == FWD_S ->
       assert(state[x] != I);
#if MUTANT == 7 /* an owner does not report that the page is dirty */
       send_data(x, n, S, state[x] == M, false, fresh[x]);
#else
       send_data(x, n, S, DIRTY(state[x]), false, fresh[x]);
#endif
       state[x] = (DIRTY(state[x]) -> O : S)
    :: forwarded[x] == FWD_X ->
       assert(state[x] != I);
       send_data(x, n, M, false, alone[x], fresh[x]);
       alone[x] = false;
#if MUTANT != 15 /* a holder that passes its copy on keeps it */
       lose(i, x)
#endif
    :: forwarded[x] == INV ->
       assert(state[x] == S || state[x] == O);
       assert(!iack[x]);
       iack[x] = true;
       lose(i, x)
    :: forwarded[x] == OWN ->
       assert(state[x] == S && !done[x]);
       state[x] = O;
       done[x] = true
    :: forwarded[x] == WRITEBACK_REQ ->
       assert(open[x] == PUT && state[x] != I && state[x] != S);
       bring_back(x);
       open[x] = 0;
       lose(i, x)
    :: forwarded[x] == RECALL_S ->
       assert(state[x] == E || state[x] == M);
       bring_back(x);
       state[x] = S
    :: forwarded[x] == RECALL_X ->
       assert(state[x] == E || state[x] == M);
       bring_back(x);
       lose(i, x)
    :: forwarded[x] == FWD_GET ->
       assert(state[x] != I && fresh[x] && !answer[n] && !done[x]);
       answer[n] = true;
       done[x] = true
    :: forwarded[x] == FWD_PUT ->
       assert(state[x] != I && fresh[x] && !answer[n] && !done[x]);
       state[x] = M;
       wrote(p, x);
       n = p * NODES + peer[x];
       answer[n] = true;
       done[x] = true
    fi;
    forwarded[x] = 0;
    peer[x] = 0;
    put_off[x] = false;
    n = 0
}

/* The forwarded message revokes the access that the pin guarantees. */
#define GENTLE(x)  (forwarded[x] == FWD_S || forwarded[x] == RECALL_S)
#define PATIENT(x) (forwarded[x] == FWD_X || forwarded[x] == INV || forwarded[x] == RECALL_X)
#if MUTANT == 11 /* pins are ignored */
#define IN_THE_WAY(x) false
#else
#define IN_THE_WAY(x) ((pin[x] == 2 && (GENTLE(x) || PATIENT(x))) || (pin[x] && PATIENT(x)))
#endif

/* ---- the home ---- */

inline forward(p, what, to) {
    u = p * NODES + to;
    assert(forwarded[u] == 0);
    forwarded[u] = what;
    peer[u] = requester[p];
    source[p] = to;
    u = 0
}

inline any_holder(p, but, found) {
    if
    :: (holders[p] & 1) && 0 != but -> found = 0
    :: (holders[p] & 2) && 1 != but -> found = 1
#if NODES > 2
    :: (holders[p] & 4) && 2 != but -> found = 2
#endif
    fi
}

inline invalidate(p, but, nor) {
    t = 0;
    do
    :: t < NODES ->
       if
       :: (holders[p] & BIT(t)) && t != but && t != nor ->
          u = p * NODES + t;
          assert(forwarded[u] == 0);
          forwarded[u] = INV;
          acks[p]++
       :: else
       fi;
       t++
    :: else -> break
    od;
    t = 0;
    u = 0
}

inline finish(p, now_known) {
    known[p] = now_known;
    if
    :: known[p] == UNCACHED || known[p] == SHARED -> owner[p] = 0
    :: else
    fi;
    kind[p] = 0;
    requester[p] = 0;
    source[p] = 0;
    awaits[p] = 0
}

#define MANY(p) (holders[p] & (holders[p] - 1))

inline acknowledge_put(p) {
    u = p * NODES + requester[p];
    assert(!put_ack[u]);
    put_ack[u] = true;
    u = 0;
    holders[p] = holders[p] & (255 - BIT(requester[p]));
    if
    :: known[p] >= EXCLUSIVE && MANY(p) -> finish(p, OWNED)
    :: known[p] >= EXCLUSIVE && !MANY(p) -> finish(p, EXCLUSIVE)
    :: known[p] < EXCLUSIVE && holders[p] -> finish(p, SHARED)
    :: known[p] < EXCLUSIVE && !holders[p] -> finish(p, UNCACHED)
    fi
}

inline grant(p) {
    u = p * NODES + requester[p];
    assert(!granted[u]);
    granted[u] = true;
    u = 0;
    awaits[p] = UNBLOCK
}

inline send_from_home(p, as) {
    u = p * NODES + requester[p];
    send_data(XS, u, as, false, as == M, buffer[p]);
    u = 0;
    buffer[p] = false;
#if MUTANT == 10 /* the next transaction starts before the page has arrived */
    holders[p] = holders[p] | BIT(requester[p]);
    owner[p] = requester[p];
    finish(p, (as == S -> SHARED : EXCLUSIVE))
#else
    awaits[p] = UNBLOCK
#endif
}

inline start_gets(p) {
    assert(!(holders[p] & BIT(requester[p])));
    if
    :: known[p] == UNCACHED || (!COOP && known[p] == SHARED) -> io[p] = READ
    :: known[p] == EXCLUSIVE && COOP ->
       forward(p, FWD_S, owner[p]);
       awaits[p] = UNBLOCK
    :: known[p] == EXCLUSIVE && !COOP ->
       forward(p, RECALL_S, owner[p]);
       awaits[p] = WRITEBACK_DATA
    :: COOP && (known[p] == SHARED || known[p] == OWNED) ->
       any_holder(p, 255, n);
       forward(p, FWD_S, n);
       n = 0;
       awaits[p] = UNBLOCK
    fi
}

inline start_getx(p) {
    if
    :: holders[p] & BIT(requester[p]) ->
       invalidate(p, requester[p], 255);
       if
#if MUTANT == 3 /* granted before all have acknowledged */
       :: true -> grant(p)
#else
       :: acks[p] == 0 -> grant(p)
       :: else
#endif
       fi
    :: !(holders[p] & BIT(requester[p])) && holders[p] && COOP ->
       if
       :: known[p] == EXCLUSIVE -> n = owner[p]
       :: else -> any_holder(p, 255, n)
       fi;
       forward(p, FWD_X, n);
       invalidate(p, n, 255);
       if
#if MUTANT == 3
       :: true ->
#else
       :: acks[p] == 0 ->
#endif
          alone[p * NODES + n] = true;
          awaits[p] = UNBLOCK
       :: acks[p] -> awaits[p] = 0
       fi;
       n = 0
    :: !(holders[p] & BIT(requester[p])) && known[p] == EXCLUSIVE && !COOP ->
       forward(p, RECALL_X, owner[p]);
       awaits[p] = WRITEBACK_DATA
    :: !(holders[p] & BIT(requester[p])) && (known[p] == UNCACHED || (known[p] == SHARED && !COOP)) ->
       invalidate(p, 255, 255);
       io[p] = READ
    fi
}

inline start_put(p) {
    if
    :: !(holders[p] & BIT(requester[p])) || known[p] == SHARED || owner[p] != requester[p] ->
       acknowledge_put(p)
#if MUTANT == 1 /* an Owned page is dropped silently */
    :: (holders[p] & BIT(requester[p])) && known[p] == OWNED && owner[p] == requester[p] ->
       known[p] = SHARED;
       acknowledge_put(p)
#else
    :: (holders[p] & BIT(requester[p])) && known[p] == OWNED && owner[p] == requester[p] ->
       any_holder(p, requester[p], n);
       forward(p, OWN, n);
#if MUTANT == 12 /* the new owner is not waited for */
       owner[p] = n;
       acknowledge_put(p);
#else
       awaits[p] = DONE;
#endif
       n = 0
#endif
#if MUTANT != 1
    :: (holders[p] & BIT(requester[p])) && known[p] >= EXCLUSIVE && owner[p] == requester[p] ->
#else
    :: (holders[p] & BIT(requester[p])) && known[p] == EXCLUSIVE && owner[p] == requester[p] ->
#endif
       forward(p, WRITEBACK_REQ, requester[p]);
       awaits[p] = WRITEBACK_DATA
    fi
}

inline forward_small(p, to) {
    forward(p, (kind[p] == SMALL_PUT -> FWD_PUT : FWD_GET), to);
    awaits[p] = DONE
}

inline start_small(p) {
    if
#if MUTANT == 9 /* the home applies it itself, even if other nodes have copies */
    :: true -> io[p] = APPLY
#else
    :: known[p] == UNCACHED || (known[p] == SHARED && kind[p] == SMALL_GET && !COOP) -> io[p] = APPLY
    :: known[p] == EXCLUSIVE -> forward_small(p, owner[p])
    :: kind[p] == SMALL_GET && (known[p] == OWNED || (known[p] == SHARED && COOP)) ->
       any_holder(p, 255, n);
       forward_small(p, n);
       n = 0
    :: kind[p] == SMALL_PUT && known[p] == SHARED && !COOP -> invalidate(p, 255, 255)
    :: kind[p] == SMALL_PUT && known[p] == SHARED && COOP -> /* one sharer becomes the owner */
       any_holder(p, 255, n);
       owner[p] = n;
       n = 0;
       if
       :: holders[p] == BIT(owner[p]) ->
          known[p] = EXCLUSIVE;
          forward_small(p, owner[p])
       :: else ->
          known[p] = OWNED;
          invalidate(p, owner[p], 255);
#if MUTANT == 8
          forward_small(p, owner[p])
#endif
       fi
    :: kind[p] == SMALL_PUT && known[p] == OWNED ->
       invalidate(p, owner[p], 255);
#if MUTANT == 8 /* the owner applies it while others may still read */
       forward_small(p, owner[p])
#endif
#endif
    fi
}

inline start(p) {
    if
    :: kind[p] == GETS -> start_gets(p)
    :: kind[p] == GETX -> start_getx(p)
    :: kind[p] == PUT -> start_put(p)
    :: kind[p] >= SMALL_GET -> start_small(p)
    fi
}

inline all_acknowledged(p) {
    if
#if MUTANT == 8
    :: kind[p] == SMALL_PUT && known[p] == OWNED -> known[p] = EXCLUSIVE
#else
    :: kind[p] == SMALL_PUT && known[p] == OWNED ->
       known[p] = EXCLUSIVE;
       forward_small(p, owner[p])
#endif
    :: kind[p] == SMALL_PUT && known[p] == SHARED -> io[p] = APPLY
#if MUTANT != 3
    :: kind[p] == GETX && holders[p] -> grant(p)
#endif
#if MUTANT != 13
    :: kind[p] == GETX && !holders[p] && io[p] == 0 -> send_from_home(p, M)
    :: kind[p] == GETX && !holders[p] && io[p]
#else
    :: kind[p] == GETX && !holders[p]
#endif
#if MUTANT == 3
    :: kind[p] == GETX && holders[p]
#endif
    fi
}

/* The page is back at the home: it was written, or was clean. */
inline came_back(p, here) {
    if
    :: kind[p] == PUT -> finish(p, (holders[p] -> SHARED : UNCACHED))
    :: kind[p] != PUT && here -> send_from_home(p, (kind[p] == GETS -> S : M))
    :: kind[p] != PUT && !here -> io[p] = READ
    fi
}

proctype home(byte p) {
end:
    do
    :: atomic {
           kind[p] == 0 && nempty(queue[p]) ->
           queue[p]?kind[p], requester[p];
           start(p)
       }
    :: atomic {
           io[p] == READ ->
           io[p] = 0;
           buffer[p] = nvm[p];
#if MUTANT == 13 /* the page is sent before all have acknowledged */
           send_from_home(p, (kind[p] == GETX -> M : (known[p] == UNCACHED -> E : S)))
#else
           if
           :: kind[p] == GETS -> send_from_home(p, (known[p] == UNCACHED -> E : S))
           :: kind[p] == GETX && acks[p] == 0 -> send_from_home(p, M)
           :: kind[p] == GETX && acks[p]
           fi
#endif
       }
    :: atomic {
           io[p] == WRITE ->
           io[p] = 0;
           nvm[p] = buffer[p];
#if MUTANT != 14
           if
           :: kind[p] == PUT -> buffer[p] = false
           :: else
           fi;
           came_back(p, true);
#else
           buffer[p] = false;
#endif
           check(p)
       }
    :: atomic {
           io[p] == APPLY ->
           io[p] = 0;
           assert(nvm[p]);
           if
           :: kind[p] == SMALL_PUT -> wrote(p, XS)
           :: else
           fi;
           u = p * NODES + requester[p];
           assert(!answer[u]);
           answer[u] = true;
           u = 0;
           finish(p, (holders[p] -> SHARED : UNCACHED));
           check(p)
       }
    od
}

/* ---- one copy: the node's operations, and the messages to and from it ---- */

inline be_ready(x, as, is_dirty) {
    assert(unblock[x] == 0);
    unblock[x] = (is_dirty -> 2 : 1);
    state[x] = as;
    if
    :: wanted[x] -> pin[x] = (open[x] == GETX -> 2 : 1)
    :: else
    fi;
    wanted[x] = false;
    has_data[x] = false;
    has_grant[x] = false;
    open[x] = 0
}

inline ask(x, what) {
    assert(request[x] == 0);
    open[x] = what;
    request[x] = what
}

#define OURS (MUTANT != 10 || (awaits[p] == UNBLOCK && requester[p] == i))

proctype copy(byte i; byte p; byte x) {
end:
    do
    /* operations */
    :: atomic { /* read */
           (WISHES & 1) && wishes[i] && !put_off[x] && pin[x] == 0 && !wanted[x] &&
#if MUTANT == 4 /* a frozen copy is read */
               (state[x] != I
#else
               ((state[x] != I && open[x] != PUT)
#endif
                || (state[x] == I && ((open[x] == 0 && frames[i] < FRAMES) || open[x] == GETS))) ->
           wishes[i]--;
           if
           :: state[x] != I -> assert(fresh[x]); pin[x] = 1
           :: state[x] == I ->
              wanted[x] = true;
              if
              :: open[x] == 0 ->
                 frames[i]++;
                 ask(x, GETS)
              :: else
              fi
           fi
       }
    :: atomic { /* write */
           (WISHES & 2) && wishes[i] && !put_off[x] && pin[x] == 0 && !wanted[x] && open[x] == 0 &&
               (state[x] != I || frames[i] < FRAMES) ->
           wishes[i]--;
           if
           :: state[x] == M || state[x] == E ->
#if MUTANT != 5 /* a store into E is not recorded */
              state[x] = M;
#endif
              pin[x] = 2
           :: else ->
              if
              :: state[x] == I -> frames[i]++
              :: else
              fi;
              wanted[x] = true;
              ask(x, GETX)
           fi
       }
    :: atomic {
           (WISHES & 4) && wishes[i] && open[x] == 0 && state[x] == I && frames[i] < FRAMES ->
           wishes[i]--;
           frames[i]++;
           ask(x, GETS)
       }
    :: atomic {
           (WISHES & 24) && wishes[i] && !asking[i] ->
           wishes[i]--;
           asking[i] = true;
           assert(small[x] == 0);
           if
           :: WISHES & 8 -> small[x] = SMALL_GET
           :: WISHES & 16 -> small[x] = SMALL_PUT
           fi
       }
    :: atomic { /* drop */
           state[x] != I && open[x] == 0 && pin[x] == 0 && !put_off[x] ->
#if MUTANT == 2 /* a shared copy is dropped silently */
           if
           :: state[x] == S -> lose(i, x)
           :: else -> ask(x, PUT)
           fi
#elif MUTANT == 6 /* the copy is not kept until the home has answered */
           ask(x, PUT);
           state[x] = I;
           fresh[x] = false
#else
           ask(x, PUT)
#endif
       }
    :: atomic { /* release the pin */
           pin[x] ->
           if
           :: pin[x] == 2 ->
              assert(fresh[x]);
              wrote(p, x)
           :: else -> assert(fresh[x])
           fi;
           pin[x] = 0;
           check(p)
       }

    /* messages to the cache */
    :: atomic {
           forwarded[x] && !put_off[x] && IN_THE_WAY(x) -> put_off[x] = true
       }
    :: atomic {
           forwarded[x] && !IN_THE_WAY(x) ->
           serve(i, p, x);
           check(p)
       }
    :: atomic {
           data[x] ->
           assert(state[x] == I && !has_data[x] && (open[x] == GETS || open[x] == GETX));
           fresh[x] = data_fresh[x];
           if
           :: open[x] == GETS -> be_ready(x, data[x], data_dirty[x])
           :: open[x] == GETX && (data_granted[x] || has_grant[x]) -> be_ready(x, M, false)
           :: open[x] == GETX && !data_granted[x] && !has_grant[x] -> has_data[x] = true
           fi;
           data[x] = 0;
           data_dirty[x] = false;
           data_granted[x] = false;
           data_fresh[x] = false;
           check(p)
       }
    :: atomic {
           granted[x] ->
           granted[x] = false;
           assert(open[x] == GETX && !has_grant[x]);
           if
           :: state[x] != I || has_data[x] -> be_ready(x, M, false)
           :: else -> has_grant[x] = true
           fi;
           check(p)
       }
    :: atomic {
           put_ack[x] ->
           put_ack[x] = false;
           assert(open[x] == PUT);
           open[x] = 0;
           lose(i, x);
           check(p)
       }
    :: atomic {
           answer[x] ->
           answer[x] = false;
           assert(asking[i]);
           asking[i] = false
       }

    /* messages to the home */
    :: atomic {
           request[x] ->
           queue[p]!request[x], i;
           request[x] = 0
       }
    :: atomic {
           small[x] ->
           queue[p]!small[x], i;
           small[x] = 0
       }
    :: atomic {
           iack[x] ->
           iack[x] = false;
           BOOKS(acks[p] && (holders[p] & BIT(i)));
           holders[p] = holders[p] & (255 - BIT(i));
           acks[p]--;
           if
           :: acks[p] == 0 -> all_acknowledged(p)
           :: else
           fi
       }
    :: atomic {
           done[x] && (!MUTANT || acks[p] == 0) -> /* late acknowledgements of a mutant: see BOOKS */
           done[x] = false;
           if
           :: kind[p] == PUT ->
              BOOKS(awaits[p] == DONE && source[p] == i);
              owner[p] = i;
              acknowledge_put(p)
           :: else ->
              BOOKS(awaits[p] == DONE && source[p] == i);
              finish(p, known[p])
           fi
       }
    :: atomic {
           back[x] ->
           BOOKS(awaits[p] == WRITEBACK_DATA && source[p] == i);
           awaits[p] = 0;
           if
           :: kind[p] != GETS -> holders[p] = holders[p] & (255 - BIT(i))
           :: else
           fi;
           known[p] = (holders[p] -> SHARED : UNCACHED);
           if
           :: back[x] == 2 ->
              buffer[p] = back_fresh[x];
              io[p] = WRITE;
#if MUTANT == 14 /* the end of the write is not waited for */
              if
              :: kind[p] == PUT -> finish(p, known[p])
              :: else
              fi
#endif
           :: else -> came_back(p, false)
           fi;
           back[x] = 0;
           back_fresh[x] = false;
           check(p)
       }
    :: atomic {
           unblock[x] && (!MUTANT || acks[p] == 0) ->
           BOOKS(awaits[p] == UNBLOCK && requester[p] == i && acks[p] == 0);
           if
           :: OURS && kind[p] == GETX ->
              holders[p] = BIT(i);
              owner[p] = i;
              finish(p, EXCLUSIVE)
           :: OURS && kind[p] == GETS && known[p] == UNCACHED ->
              holders[p] = BIT(i);
              owner[p] = i;
              finish(p, EXCLUSIVE)
           :: OURS && kind[p] == GETS && known[p] == EXCLUSIVE ->
              holders[p] = holders[p] | BIT(i);
              finish(p, (unblock[x] == 2 -> OWNED : SHARED))
           :: OURS && kind[p] == GETS && (known[p] == SHARED || known[p] == OWNED) ->
              holders[p] = holders[p] | BIT(i);
              finish(p, known[p])
#if MUTANT == 10
           :: !OURS /* from a transaction that has ended before */
#endif
           fi;
           unblock[x] = 0
       }
    od
}

/* Nothing is under way, and the directory is correct for this copy. */
#define QUIET(i, p, x)                                                                                       \
    (!request[x] && !small[x] && !forwarded[x] && !data[x] && !granted[x] && !put_ack[x] && !answer[x] &&    \
     !iack[x] && !done[x] && !back[x] && !unblock[x] && !open[x] && !pin[x] &&                               \
     ((state[x] != I) == ((holders[p] >> i) & 1)) && !asking[i] && wishes[i] == 0)
#define STILL(p) (kind[p] == 0 && io[p] == 0 && !buffer[p] && empty(queue[p]))
#if NODES > 2
#define PAGE_QUIET(p, x) (STILL(p) && QUIET(0, p, x) && QUIET(1, p, x + 1) && QUIET(2, p, x + 2))
#else
#define PAGE_QUIET(p, x) (STILL(p) && QUIET(0, p, x) && QUIET(1, p, x + 1))
#endif
#if PAGES > 1
#define ALL_QUIET (PAGE_QUIET(0, 0) && PAGE_QUIET(1, NODES))
#else
#define ALL_QUIET PAGE_QUIET(0, 0)
#endif

init {
    byte i, p;
    atomic {
        do
        :: p < PAGES ->
           nvm[p] = true;
           run home(p);
           i = 0;
           do
           :: i < NODES ->
              run copy(i, p, p * NODES + i);
              i++
           :: else -> break
           od;
           p++
        :: else -> break
        od;
        i = 0;
        do
        :: i < NODES ->
           wishes[i] = OPS;
           i++
        :: else -> break
        od;
        i = 0;
        p = 0
    };
    /* Blocks here forever, which is an invalid end state, if something is stuck. */
    ALL_QUIET
}
