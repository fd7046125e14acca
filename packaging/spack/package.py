# A recipe for Spack. Copy it to packages/hearth/package.py of your own Spack repository, and run in a checkout of Hearth:
#
#     spack dev-build hearth@0.1.0 ^openmpi
#
# One installation is for one MPI, as is usual with Spack.
from spack.package import *


class Hearth(CMakePackage):
    """A caching and progress runtime between HPC programs and MPI: a cache for one-sided gets, message
    queues that stay in the CPU's caches, ARMCI with a helper thread, and GASNet segments on node-local NVM."""

    license("BSD-3-Clause")

    version("0.1.0")

    variant("hwloc", default=True, description="Detect which cores share a cache")
    variant("ucx", default=True, description="Messages between nodes over UCX, otherwise through MPI")
    variant("uring", default=True, description="Read and write pages with io_uring, otherwise with threads")
    variant("top", default=True, description="Interactive hearth top; needs ncurses")
    variant("nvm", default=True, description="Segments of vGASNet on NVM; needs xxHash")

    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("liburing@2:", when="+uring")
    depends_on("ncurses@6:", when="+top")
    depends_on("xxhash@0.8:", when="+nvm")

    conflicts("platform=darwin", msg="Hearth needs Linux")

    def flavour(self):
        return "openmpi" if self.spec["mpi"].name == "openmpi" else "mpich"  # and all MPIs with its ABI

    def cmake_args(self):
        return [
            self.define("HEARTH_MPI", self.flavour()),
            self.define("HEARTH_MPICC", self.spec["mpi"].mpicc),
            self.define("HEARTH_PROGRAMS", False),
            self.define_from_variant("HEARTH_WITH_HWLOC", "hwloc"),
            self.define_from_variant("HEARTH_WITH_UCX", "ucx"),
            self.define_from_variant("HEARTH_WITH_URING", "uring"),
            self.define_from_variant("HEARTH_WITH_NCURSES", "top"),
            self.define_from_variant("HEARTH_WITH_XXHASH", "nvm"),
        ]

    def setup_run_environment(self, env):
        env.prepend_path("MANPATH", self.prefix.share.man)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_command(self):
        Executable(join_path(self.prefix.bin, "hearth"))("--version")
