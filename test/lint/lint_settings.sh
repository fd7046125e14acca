#!/bin/sh
# Checks that doc/settings.md and doc/experiments.md, which are generated, are up to date.
set -u
cd "$(dirname "$0")/../.." || exit 1
doc/settings.sh --check
