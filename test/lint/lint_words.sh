#!/bin/sh
# No unfinished work and no path of somebody's machine in any file.
set -u
cd "$(dirname "$0")/../.." || exit 1
unfinished='\b(TO''DO|FIX''ME|XX''X|HA''CK)\b'
private='(^|[^A-Za-z0-9_.~])/(home|root|work|Users)/'
if test/lint/sources.sh | xargs -r grep -nIE "$unfinished|$private" /dev/null; then
    echo "the lines above name unfinished work, or a path that only one machine has"
    exit 1
fi
