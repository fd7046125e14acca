/* lock_table.pml: Spin model of the locks of src/net/shm/lock_table.c: words that the kernel releases if their holder dies, and
 * guards for threads that hold several.
 *
 * Each thread acquires and releases OPS times: one of the two words, or both, by waiting or by trying. At most DEATHS threads die, at any
 * step. The kernel then marks the word that the thread watches, and the guards that it holds, as robust futexes do. The mutex of a guard
 * is one step here: the C library's mutex is not modelled, but like all of them it ends the watch on a word. A sleeping thread looks again
 * after a nap only when nothing else can happen: naps are long.
 *
 * Properties
 *      a lock has one holder                                                          (assert)
 *      no thread sleeps for more naps in a row than the dead explain                  (assert)
 *      it never deadlocks: all threads end, or die                                    (no invalid end state)
 *      at the end all locks are free, or can be taken                                 (assert)
 *
 * -DTHREADS= -DOPS= -DDEATHS=     sizes
 * -DMUTANT=n                      inserts one of the faults marked below; Spin must find each */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef OPS
#define OPS 1
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef MUTANT
#define MUTANT 0
#endif

#define WORDS  2
#define GUARDS 2

/* A value: the holder, and bits. */
#define GUARD   16 /* with the number of the guard: its holder is no thread */
#define WAITERS 32
#define DIED    64
#define HOLDER(value)  ((value) & 31)
#define GUARDED(value) (((value) & GUARD) != 0)
#define NONE 255

byte word[WORDS];
byte guard[GUARDS] = NONE; /* the thread that holds it */
bool owner_died[GUARDS];   /* of a guard that is free */
byte held[GUARDS];         /* the set of words */

byte watched[THREADS] = NONE; /* by the kernel */
byte asleep[THREADS] = NONE;  /* on this word */
byte inside[WORDS];           /* threads that use what the lock protects */
byte deaths;
byte ended;

inline wake(w) { /* one of those that sleep there, if any; i of the caller is not used */
    d_step {
        byte k = 0;
        do
        :: k < THREADS && asleep[k] != w -> k++
        :: else -> break
        od;
        if
        :: k < THREADS -> asleep[k] = NONE
        :: else
        fi;
        k = 0
    }
}

/* What the kernel does when thread i ends. */
inline kernel_cleans_up() {
    d_step {
        byte g = 0;
        do
        :: g < GUARDS ->
            if
            :: guard[g] == i -> guard[g] = NONE; owner_died[g] = true
            :: else
            fi;
            g++
        :: else -> break
        od;
        g = 0
    }
    if
    :: watched[i] != NONE && HOLDER(word[watched[i]]) == i + 1 && !GUARDED(word[watched[i]]) ->
        word[watched[i]] = (word[watched[i]] & WAITERS) | DIED;
        wake(watched[i])
    :: watched[i] != NONE && word[watched[i]] == 0 -> wake(watched[i])
    :: else
    fi;
    watched[i] = NONE
}

/* A step at which the thread may die. */
#define OR_DIE \
    if \
    :: deaths < DEATHS -> atomic { deaths++; kernel_cleans_up(); goto died } \
    :: true \
    fi

#define OR_DIE_ASLEEP \
    if \
    :: deaths < DEATHS -> atomic { deaths++; asleep[i] = NONE; kernel_cleans_up(); goto died } \
    :: true \
    fi

/* seen = 0 and ok: it was free. Two atomic instructions, as in net_robust_take. */
inline take(w, holder) {
    atomic {
        seen = word[w];
        ok = false;
        if
        :: seen == 0 -> word[w] = holder; ok = true
        :: else
        fi
    }
    OR_DIE;
    if
    :: !ok && (seen & DIED) ->
        atomic {
            if
            :: word[w] == seen -> word[w] = holder | (seen & WAITERS); ok = true
            :: else -> seen = word[w]
            fi
        }
    :: else
    fi
}

/* The word names this guard: free the words of its set that it has. Clears the set last. */
inline guard_clear(g) {
    byte n = 0;
    do
    :: n < WORDS ->
        if
        :: (held[g] & (1 << n)) && HOLDER(word[n]) == (GUARD | g) ->
            atomic { old = word[n]; word[n] = 0 }
            OR_DIE;
            if
            :: old & WAITERS -> wake(n)
            :: else
            fi
        :: else
        fi;
        n++
    :: else -> break
    od;
    n = 0;
    OR_DIE;
    held[g] = 0
}

inline guard_recover(g) {
    if
    :: owner_died[g] ->
#if MUTANT != 1 /* who acquires the guard of the dead leaves their words locked */
        guard_clear(g);
#endif
        owner_died[g] = false
    :: else
    fi
}

/* tried: whether it was acquired. */
inline guard_try(g) {
    atomic {
        watched[i] = NONE;
        tried = guard[g] == NONE;
        if
        :: tried -> guard[g] = i
        :: else
        fi
    }
    OR_DIE;
    if
    :: tried -> guard_recover(g)
    :: else
    fi
}

inline guard_acquire(g) {
    atomic { guard[g] == NONE -> guard[g] = i; watched[i] = NONE }
    OR_DIE;
    guard_recover(g)
}

/* Sleeps on a word, unless it has changed. A nap ends only if nothing else can happen. */
inline robust_wait(w) {
    seen_now = word[w];
    OR_DIE;
    if
    :: HOLDER(seen_now) != 0 ->
        atomic {
            ok = word[w] == seen_now;
            if
            :: ok -> word[w] = seen_now | WAITERS
            :: else
            fi
        }
        OR_DIE;
        if
        :: ok ->
            atomic {
                if
                :: word[w] == (seen_now | WAITERS) -> asleep[i] = w
                :: else
                fi
            }
            OR_DIE_ASLEEP;
            if
            :: asleep[i] == NONE -> naps = 0
            :: timeout -> asleep[i] = NONE; naps++; assert(naps <= 2 * DEATHS)
            fi;
            waiters = WAITERS
        :: else
        fi
    :: else
    fi;
    seen_now = 0
}

inline watch(w, holder) {
    if
    :: !GUARDED(holder) -> watched[i] = w
    :: else
    fi
}

/* lock_slow, with the first attempt. */
inline acquire(w, holder) {
    waiters = 0;
    naps = 0;
    watch(w, holder);
    OR_DIE;
    take(w, holder);
    do
    :: ok -> break
    :: else ->
        robust_wait(w);
        if
#if MUTANT == 2 /* who waits for the word of a guard waits for the guard */
        :: GUARDED(seen) -> guard_acquire(HOLDER(seen) & 15); OR_DIE; guard[HOLDER(seen) & 15] = NONE
#elif MUTANT != 3 /* nobody looks whether the holder of a guard has died */
        :: waiters && GUARDED(seen) ->
            guard_try(HOLDER(seen) & 15);
            OR_DIE;
            if
            :: tried -> guard[HOLDER(seen) & 15] = NONE
            :: else
            fi
#endif
        :: else
        fi;
        watch(w, holder);
        OR_DIE;
#if MUTANT == 4 /* a thread that slept forgets that others may sleep */
        take(w, holder)
#else
        take(w, (holder | waiters))
#endif
    od;
    waiters = 0;
    naps = 0
}

/* One attempt; ok: acquired. */
inline try(w, holder) {
    watch(w, holder);
    OR_DIE;
    take(w, holder);
    if
    :: !ok && GUARDED(seen) ->
        guard_try(HOLDER(seen) & 15);
        OR_DIE;
        if
        :: tried ->
            guard[HOLDER(seen) & 15] = NONE;
            watch(w, holder);
            take(w, holder)
        :: else
        fi
    :: else
    fi
}

inline release(w) {
    atomic { old = word[w]; word[w] = 0 }
    OR_DIE;
    if
    :: old & WAITERS -> wake(w)
    :: else
    fi;
    OR_DIE;
    watched[i] = NONE
}

inline use(w) {
    atomic { assert(inside[w] == 0); inside[w]++ }
    if
    :: deaths < DEATHS -> atomic { inside[w]--; deaths++; kernel_cleans_up(); goto died }
    :: true
    fi;
    inside[w]--
}

inline one(w) {
    if
    :: true -> acquire(w, (i + 1))
    :: true -> try(w, (i + 1))
    fi;
    if
    :: ok -> use(w); release(w)
    :: else -> watched[i] = NONE
    fi
}

inline both() {
    mine = i % GUARDS;
    if
    :: true -> guard_acquire(mine); tried = true; waits = true
    :: true -> guard_try(mine); waits = false
    fi;
    if
    :: tried ->
#if MUTANT != 5 /* the set is not noted */
        held[mine] = 3;
#endif
        OR_DIE;
        if
        :: waits -> acquire(0, (GUARD | mine)); acquire(1, (GUARD | mine))
        :: else ->
            try(0, (GUARD | mine));
            if
            :: ok -> try(1, (GUARD | mine))
            :: else
            fi
        fi;
        if
        :: ok -> use(0); use(1)
        :: else
        fi;
        guard_clear(mine);
        OR_DIE;
        guard[mine] = NONE
    :: else
    fi;
    mine = 0
}

proctype thread(byte i) {
    byte seen, seen_now, old, waiters, naps, mine, ops = 0;
    bool ok, tried, waits;
    do
    :: ops < OPS ->
        if
        :: true -> one(0)
        :: true -> one(1)
        :: true -> both()
        fi;
        ops++
    :: else -> break
    od;
    goto over;
died:
    skip;
over:
    atomic { asleep[i] = NONE; watched[i] = NONE; ended++ }
}

/* When all have ended, whatever is not free was left by the dead, and can be taken. */
init {
    byte w = 0;
    atomic {
        do
        :: w < THREADS -> run thread(w); w++
        :: else -> break
        od
    }
    ended == THREADS;
    w = 0;
    do
    :: w < WORDS ->
        assert(word[w] == 0 || (word[w] & DIED) || (GUARDED(word[w]) && owner_died[HOLDER(word[w]) & 15] && (held[HOLDER(word[w]) & 15] & (1 << w))));
        w++
    :: else -> break
    od
}
