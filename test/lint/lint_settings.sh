#!/bin/sh
# Checks that doc/settings.md, which is generated, is up to date.
set -u
cd "$(dirname "$0")/../.." || exit 1
doc/settings.sh --check
