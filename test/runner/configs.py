"""The configurations of each family: settings for the ranks, and the libraries preloaded into them."""
import os
import subprocess
from functools import lru_cache
from pathlib import Path

SYSTEM_PAGE = os.sysconf("SC_PAGESIZE")  # the smallest page that a segment can have
NVM = Path(f"build/test-nvm.{os.getpid()}").absolute()  # files of segments, of this run alone


def armci(config):
    env = {}
    if config in ("nodes1", "tiny", "mpi", "direct"):  # each rank is a node, so that all traffic uses the network
        env["HEARTH_NODE_RANKS"] = "1"
    if config in ("nodes2", "real"):
        env["HEARTH_NODE_RANKS"] = "2"
    if config == "tiny":
        env.update(HEARTH_BUFFERS="1", HEARTH_BUFFER_SIZE="64", HEARTH_CREDIT_BUFFERS="0")
    if config == "mpi":
        env["HEARTH_NET"] = "mpi"
    if config == "real":
        env["HEARTH_ARMCI_TOPOLOGY"] = "real"
    if config == "direct":
        env["HEARTH_DIRECT"] = "on"
    return env


def gas(config):
    """Segments in memory (off...), or in pages of files under build/."""
    env = {"HEARTH_NVM_DIR": str(NVM)}
    if config not in ("off", "node", "nodes2"):  # each rank is a node
        env["HEARTH_NODE_RANKS"] = "1"
    if config == "nodes2":
        env["HEARTH_NODE_RANKS"] = "2"
    if config.startswith("off"):
        env["HEARTH_NVM"] = "off"
    env.update({
        "offmpi": {"HEARTH_NET": "mpi"},
        "offtiny": {"HEARTH_BUFFERS": "1", "HEARTH_BUFFER_SIZE": "512", "HEARTH_CREDIT_BUFFERS": "0"},
        "tiny": {"HEARTH_PAGE_SIZE": str(SYSTEM_PAGE), "HEARTH_POOL_SIZE": str(16 * SYSTEM_PAGE)},  # the minimum
        "pagesmpi": {"HEARTH_NET": "mpi", "HEARTH_NVM_ENGINE": "threads"},
        "userfault": {"HEARTH_LOCAL": "userfault"},
        "alone": {"HEARTH_COOP": "off"},
    }.get(config, {}))
    return env


def net(config):
    return {"HEARTH_NET": config}


def preloaded(config):
    """Programs that use MPI only: the cache, or with `match` and the like the messages too."""
    if config == "bare":
        return {}
    env = {"HEARTH_BYPASS": "never"}
    env.update({
        "tiny": {"HEARTH_CACHE_SIZE": "4k", "HEARTH_ADAPT": "off"},
        "huge": {"HEARTH_CACHE_SIZE": "64m", "HEARTH_INDEX_SIZE": "100k"},
        "acquire": {"HEARTH_MODE": "acquire"},  # for windows that do not set a mode
        "rest": {"HEARTH_BYPASS": "auto", "HEARTH_SUSPEND": "1"},  # suspended after any miss that costs more than it saves
        "auto": {"HEARTH_WINDOWS": "auto"},
        "serve": {"HEARTH_WINDOWS": "serve"},
        "serve1": {"HEARTH_WINDOWS": "serve", "HEARTH_NODE_RANKS": "1"},  # each rank is a node: operations through helpers
        "serve2": {"HEARTH_WINDOWS": "serve", "HEARTH_NODE_RANKS": "2"},  # nodes of two ranks
        "servempi": {"HEARTH_WINDOWS": "serve", "HEARTH_NODE_RANKS": "1", "HEARTH_NET": "mpi"},
        "servedirect": {"HEARTH_WINDOWS": "serve", "HEARTH_NODE_RANKS": "1", "HEARTH_DIRECT": "on"},
        "servematch": {"HEARTH_WINDOWS": "serve", "HEARTH_NODE_RANKS": "1", "HEARTH_MATCH": "on", "HEARTH_MATCH_NODE": "off"},
        "nodes2": {"HEARTH_NODE_RANKS": "2"},  # nodes of two ranks: the table of a window is in memory that each node shares
        "match": {"HEARTH_MATCH": "on"},
        "list": {"HEARTH_MATCH": "on", "HEARTH_MATCH_QUEUE": "list"},
        "host": {"HEARTH_MATCH": "on", "HEARTH_MATCH_NODE": "off"},  # through MPI, as between nodes
        "link": {"HEARTH_MATCH": "on", "HEARTH_NODE_RANKS": "1"},  # each rank is a node: through Hearth's network
        "link2": {"HEARTH_MATCH": "on", "HEARTH_NODE_RANKS": "2"},  # nodes of two ranks
        "small": {"HEARTH_MATCH": "on", "HEARTH_MATCH_MEMORY": "64k", "HEARTH_MATCH_EAGER": "500", "HEARTH_MATCH_QUEUE": "lla-2"},
    }.get(config, {}))
    return env


SETTINGS = {"armci": armci, "ga": armci, "gas": gas, "net": net}  # families that are linked with the library under test


@lru_cache(maxsize=None)
def runtime(name):
    """The library of a sanitizer, which must be loaded before all others."""
    return subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()


def launch_options(family, tree, network, config):
    """The options of launch.sh besides the number of ranks."""
    options, folder = [], Path("build").absolute() / tree
    for key, value in {"HEARTH_TEST_CONFIG": config, **SETTINGS.get(family, preloaded)(config)}.items():
        options += ["--env", f"{key}={value}"]
    if tree == "asan":
        options += ["--env", "ASAN_OPTIONS=detect_leaks=0", "--preload", runtime("libasan.so")]
    if tree == "tsan":  # MPI and UCX are not instrumented
        suppressions = Path("test/mpi/tsan.supp").absolute()
        options += ["--env", f"TSAN_OPTIONS=suppressions={suppressions}:ignore_noninstrumented_modules=1:history_size=7",
                    "--env", "UCX_MEM_EVENTS=n", "--env", "UCX_MEM_MMAP_HOOK_MODE=none",  # UCX's hooks run in threads that have ended
                    "--preload", runtime("libtsan.so")]
    if network == "tcp":
        options.append("--tcp")
    if family not in SETTINGS and config != "bare":
        options += ["--preload", str(folder / "lib/libhearth-mpi.so")]
    return options
