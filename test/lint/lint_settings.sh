#!/bin/sh
# Whether doc/settings.md, which is generated, tells of the settings as they are.
set -u
cd "$(dirname "$0")/../.." || exit 1
doc/settings.sh --check
