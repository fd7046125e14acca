#!/usr/bin/env bash
# Mutation test of src/pages: exploring all states of the code must find each fault.
#   test_pages_mutants.sh MPI TREE        tier: full; once: yes; timeout: 900
#
# A fault is a replaced line of code. If the line no longer exists, the test fails, so that this list follows the
# code.
set -uo pipefail
failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v gcc >/dev/null || { echo "gcc is not installed" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -r "$here/src/pages" "$dir/pages"

build() { # from the sources in $dir/pages
    gcc -std=c11 -D_GNU_SOURCE -w -O1 -fno-strict-aliasing -I"$dir" -I"$here/src" -I"$here/test/unit" \
        -o "$dir/explore" "$here/test/unit/pages/unit_pages_explore.c" "$dir"/pages/protocol/directory.c "$dir"/pages/protocol/directory_check.c \
        "$dir"/pages/protocol/controller.c "$here/src/base/clock.c" -Wl,--wrap=malloc >"$dir/out.txt" 2>&1
}

mutant() { # file, original line, replacement, effect
    local text
    text=$(cat "$here/src/pages/$1")
    if [ "${text/"$2"/}" = "$text" ]; then
        echo "FAIL $1 does not say any more: $2"
        failed=1
        return
    fi
    printf '%s\n' "${text/"$2"/"$3"}" >"$dir/pages/$1"
    if ! build; then
        echo "FAIL does not compile: $4"
        sed 's/^/    | /' "$dir/out.txt"
        failed=1
    elif timeout -k 5 300 "$dir/explore" >"$dir/out.txt" 2>&1 || ! grep -q '^FAIL pages_explore' "$dir/out.txt"; then
        echo "FAIL not found: $4" # nor is one that runs out of time
        tail -n 3 "$dir/out.txt" | sed 's/^/    | /'
        failed=1
    else
        echo "ok $4: $(sed -nE 's/^FAIL pages_explore: (.*), in state.*/\1/p' "$dir/out.txt" | head -n 1)"
    fi
    cp "$here/src/pages/$1" "$dir/pages/$1"
}

d=protocol/directory.c c=protocol/controller.c
# The gaps in the paper's protocol.
mutant $d '} else if (e->known == PAGES_OWNED_SHARED && d->limits.hand_over) {' \
    '} else if (e->known == PAGES_OWNED_SHARED) { acknowledge_put(d, page, e, false, out); } else if (0) {' \
    'an Owned page is dropped without a trace'
mutant $c '    if (control_lower(c, PAGES_UNMAPPED, e))
        control_ask(c, e, PAGES_PUT);
    else' '    if (c->state == PAGES_S && !c->mapped) lose(c, e); else if (control_lower(c, PAGES_UNMAPPED, e))
        control_ask(c, e, PAGES_PUT);
    else' \
    'a Shared page is dropped silently'
mutant $d '    if (!e->acks) {
        m->flags = PAGES_GRANTED;' '    {
        m->flags = PAGES_GRANTED;' 'a write is granted before all have acknowledged'
# The home.
mutant $d 'known = dirty ? PAGES_OWNED_SHARED : PAGES_SHARED;' 'known = PAGES_SHARED;' 'a downgraded page counts as clean'
mutant $d '    if (dirty)
        do_io(m->page, e, PAGES_WRITE, out);
    else' '' 'what comes back is not written'
mutant $d 'if (e->kind != PAGES_GETS)
        pages_holder_drop(e, m->from);' ';' 'who left counts as a holder'
mutant $d 'if (--e->acks)' 'if (--e->acks > 1)' 'the last acknowledgement is not waited for'
mutant $d '    pages_holder_drop(e, leaver);' ';' 'a sharer that left counts as a holder'
mutant $d '    e->owner = m->from;' ';' 'the new owner is not noted'
mutant $d 'if (e->known == PAGES_UNCACHED || (e->known == PAGES_SHARED && !writes && !d->limits.coop))' \
    'if (e->known == PAGES_UNCACHED || e->known == PAGES_SHARED)' 'a small put to NVM while others have copies'
mutant $d '    e->known = (uint8_t)owned(d, e);' '    e->known = PAGES_EXCLUSIVE;' 'a sharer applies a small put while others share'
mutant $d 'invalidate(d, page, e, e->known == PAGES_OWNED_SHARED ? e->owner : NONE, NONE, out);' \
    'invalidate(d, page, e, NONE, NONE, out);' 'a small put invalidates the owner'
mutant $d '    else if (!writes)
        forward_small' '    else if (!writes || e->known == PAGES_OWNED_SHARED)
        forward_small' 'a small put while there are sharers'
mutant $d '    else if (!e->awaits)
        directory_send_data(d, page, e, PAGES_M, out);
    return 0;' '    else
        directory_send_data(d, page, e, PAGES_M, out);
    return 0;' 'the home sends a page to write before all have acknowledged'
mutant $d 'send_data(d, page, e, e->known == PAGES_UNCACHED ? PAGES_E : PAGES_S, out);' 'send_data(d, page, e, PAGES_E, out);' \
    'a shared page is given out as exclusive'
mutant $d '    if (node == but)' '    if (0)' 'an owner hands over to itself'
mutant $d '    if (e->first)
        make_ready(d, page);' ';' 'a request is forgotten'
mutant $d 'e->turn = e->owner = e->requester;' 'e->turn = e->requester;' 'the writer is not noted as the owner'
mutant $d 'if (!is_owned || e->owner != e->requester)' 'if (!is_owned)' 'a PUT is believed, not the directory'
mutant $d 'e->known == PAGES_UNCACHED ? PAGES_E : PAGES_S, out);' 'e->known == PAGES_UNCACHED ? PAGES_E : PAGES_S, out),
            settle_gets(d, page, e, false);' 'the next transaction starts before the page has arrived'
mutant $d '        e->awaits = OWNED;' '        e->owner = e->source, acknowledge_put(d, page, e, true, out);' 'the new owner is not waited for'
mutant $d '        do_io(m->page, e, PAGES_WRITE, out);
    else
' '        do_io(m->page, e, PAGES_WRITE, out);
' 'the end of the write is not waited for'
# A cache.
mutant $c '        control_ask(c, e, PAGES_PUT);
    else
        c->flags |= EVICTING;' '        control_ask(c, e, PAGES_PUT), c->state = PAGES_I;
    else
        c->flags |= EVICTING;' 'a copy is not kept until the home has answered'
mutant $c '        control_send_data(c, e, peer, PAGES_M, flags & PAGES_GRANTED);
        lose(c, e);' '        control_send_data(c, e, peer, PAGES_M, flags & PAGES_GRANTED);' 'a holder that passes its copy on keeps it'
mutant $c 'return c->state == PAGES_M || c->state == PAGES_O;' 'return c->state == PAGES_M;' 'an Owned page counts as clean'
mutant $c '        c->state = is_dirty(c) ? PAGES_O : PAGES_S;' ';' 'who shares a copy still may write'
mutant $c 'return c->writers || (!is_gentle(kind) && c->readers);' 'return false;' 'pins are not looked at'
mutant $c 'return c->writers || (!is_gentle(kind) && c->readers);' 'return c->writers;' 'pins of readers are not looked at'
mutant $c 'return c->open == PAGES_PUT || c->put_off || c->flags & (EVICTING' 'return c->put_off || c->flags & (EVICTING' \
    'a frozen copy is used'
# A page that is overwritten.
mutant $c '    e->actions |= PAGES_READY;
    return 0;' '    e->actions |= PAGES_READY;
    control_say(c, e, PAGES_UNBLOCK, c->home, 0);
    return 0;' 'a page is given away before it is overwritten'
mutant $d '        start_overwrite(d, page, e, out);' '        directory_send_data(d, page, e, PAGES_M, out);' \
    'a page is overwritten while others have copies'
mutant $d '        if (i != but && i != nor) {' '        if (i != but && i != nor && (!(e->flags & PAGES_OVERWRITE) || i)) {' \
    'one copy of a page that is overwritten is left'
mutant $c '        control_say(c, e, PAGES_UNBLOCK, c->home, 0);
        e->actions |= PAGES_RETRY;' '        e->actions |= PAGES_RETRY;' 'the home does not learn that a page is overwritten'
mutant $c 'return is_gentle(kind) ? PAGES_TO_READ : PAGES_UNMAPPED;' 'return PAGES_TO_WRITE;' 'a page is given away while mapped'
mutant $c 'return is_gentle(kind) ? PAGES_TO_READ : PAGES_UNMAPPED;' 'return PAGES_TO_READ;' 'a page is given away while mapped to read'
mutant $c '        c->state = PAGES_M; /* silent: the home already assumes that E may be M */' '        c->writers++; return PAGES_HIT;' 'a store into E is not noted'
mutant $c '        c->state = PAGES_M; /* the home has made' ' ; /* the home has made' 'a small put into E is not noted'
mutant $c 'if (c->state != PAGES_I || c->flags & HAS_DATA)
        be_ready(c, PAGES_M, 0, e);' 'if (1)
        be_ready(c, PAGES_M, 0, e);' 'a grant without the page'
mutant $c 'if (m->flags & PAGES_GRANTED || c->flags & HAS_GRANT)' 'if (1)' 'the page without a grant'
mutant $c 'say(c, e, PAGES_UNBLOCK, c->home, flags & PAGES_DIRTY);' 'say(c, e, PAGES_UNBLOCK, c->home, 0);' 'the requester does not say what the holder said'
mutant $c '    resume(c, e);
    if (!(c->flags & EVICTING))' '    if (!(c->flags & EVICTING))' 'what was put off is forgotten'
exit $failed
