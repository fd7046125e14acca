/* gasnet_portable_platform.h: names of the compiler, the machine and the system that a program is compiled for, as programs
 * for GASNet test them. Of each group one name is defined as 1, and the others are not defined. Part of gasnet_tools.h.
 *
 * Other projects have headers that define the same names: what is defined already stays as it is. */
#ifndef HEARTH_GASNET_PORTABLE_PLATFORM_H
#define HEARTH_GASNET_PORTABLE_PLATFORM_H

#ifndef PLATFORM_STRINGIFY
#define HEARTH_PLATFORM_TEXT(x) #x
#define PLATFORM_STRINGIFY(x)   HEARTH_PLATFORM_TEXT(x)
#endif

/* ---- the compiler: GCC, Clang, or another one ---- */

#ifndef PLATFORM_COMPILER_FAMILYNAME
#if defined(__clang__)
#define PLATFORM_COMPILER_CLANG      1
#define PLATFORM_COMPILER_FAMILYNAME CLANG
#define PLATFORM_COMPILER_FAMILYID   19
#ifdef __cplusplus
#define PLATFORM_COMPILER_CLANG_CXX 1
#else
#define PLATFORM_COMPILER_CLANG_C 1
#endif
#define HEARTH_PLATFORM_MAJOR         __clang_major__
#define HEARTH_PLATFORM_MINOR         __clang_minor__
#define HEARTH_PLATFORM_PATCH         __clang_patchlevel__
#define PLATFORM_COMPILER_VERSION_STR __clang_version__
#elif defined(__GNUC__)
#define PLATFORM_COMPILER_GNU        1
#define PLATFORM_COMPILER_FAMILYNAME GNU
#define PLATFORM_COMPILER_FAMILYID   1
#ifdef __cplusplus
#define PLATFORM_COMPILER_GNU_CXX 1
#else
#define PLATFORM_COMPILER_GNU_C 1
#endif
#define HEARTH_PLATFORM_MAJOR         __GNUC__
#define HEARTH_PLATFORM_MINOR         __GNUC_MINOR__
#define HEARTH_PLATFORM_PATCH         __GNUC_PATCHLEVEL__
#define PLATFORM_COMPILER_VERSION_STR __VERSION__
#else
#define PLATFORM_COMPILER_UNKNOWN     1
#define PLATFORM_COMPILER_FAMILYNAME  UNKNOWN
#define PLATFORM_COMPILER_FAMILYID    0
#define HEARTH_PLATFORM_MAJOR         0
#define HEARTH_PLATFORM_MINOR         0
#define HEARTH_PLATFORM_PATCH         0
#define PLATFORM_COMPILER_VERSION_STR "unknown"
#endif

/* Differs between the C and the C++ compiler of a family. */
#ifdef __cplusplus
#define PLATFORM_COMPILER_ID           (100 + PLATFORM_COMPILER_FAMILYID)
#define PLATFORM_COMPILER_CXX_LANGLVL  __cplusplus
#define HEARTH_PLATFORM_COMPILER_LABEL "C++ "
#else
#define PLATFORM_COMPILER_ID PLATFORM_COMPILER_FAMILYID
#ifdef __STDC_VERSION__
#define PLATFORM_COMPILER_C_LANGLVL __STDC_VERSION__
#endif
#define HEARTH_PLATFORM_COMPILER_LABEL "C "
#endif
#define PLATFORM_COMPILER_IDSTR                                                                              \
    HEARTH_PLATFORM_COMPILER_LABEL PLATFORM_STRINGIFY(                                                       \
        PLATFORM_COMPILER_FAMILYNAME) " " PLATFORM_COMPILER_VERSION_STR

/* Versions, as numbers that grow with the version. */
#define PLATFORM_COMPILER_VERSION_INT(major, minor, patch) (((major) << 16) | ((minor) << 8) | (patch))
#define PLATFORM_COMPILER_VERSION                                                                            \
    PLATFORM_COMPILER_VERSION_INT(HEARTH_PLATFORM_MAJOR, HEARTH_PLATFORM_MINOR, HEARTH_PLATFORM_PATCH)
#define PLATFORM_COMPILER_VERSION_GT(major, minor, patch)                                                    \
    (PLATFORM_COMPILER_VERSION > PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_GE(major, minor, patch)                                                    \
    (PLATFORM_COMPILER_VERSION >= PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_EQ(major, minor, patch)                                                    \
    (PLATFORM_COMPILER_VERSION == PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_LE(major, minor, patch)                                                    \
    (PLATFORM_COMPILER_VERSION <= PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_LT(major, minor, patch)                                                    \
    (PLATFORM_COMPILER_VERSION < PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#endif

/* ---- the system ---- */

#ifndef PLATFORM_OS_FAMILYNAME
#ifdef __linux__
#define PLATFORM_OS_LINUX      1
#define PLATFORM_OS_FAMILYNAME LINUX
#else
#define PLATFORM_OS_UNKNOWN    1
#define PLATFORM_OS_FAMILYNAME UNKNOWN
#endif
#endif

/* ---- the machine ---- */

#ifndef PLATFORM_ARCH_FAMILYNAME
#if defined(__x86_64__)
#define PLATFORM_ARCH_X86_64     1
#define PLATFORM_ARCH_FAMILYNAME X86_64
#elif defined(__i386__)
#define PLATFORM_ARCH_X86        1
#define PLATFORM_ARCH_FAMILYNAME X86
#elif defined(__aarch64__)
#define PLATFORM_ARCH_AARCH64    1
#define PLATFORM_ARCH_FAMILYNAME AARCH64
#elif defined(__arm__)
#define PLATFORM_ARCH_ARM        1
#define PLATFORM_ARCH_FAMILYNAME ARM
#elif defined(__powerpc__)
#define PLATFORM_ARCH_POWERPC    1
#define PLATFORM_ARCH_FAMILYNAME POWERPC
#elif defined(__riscv)
#define PLATFORM_ARCH_RISCV      1
#define PLATFORM_ARCH_FAMILYNAME RISCV
#else
#define PLATFORM_ARCH_UNKNOWN    1
#define PLATFORM_ARCH_FAMILYNAME UNKNOWN
#endif
#if __SIZEOF_POINTER__ == 8
#define PLATFORM_ARCH_64 1
#else
#define PLATFORM_ARCH_32 1
#endif
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PLATFORM_ARCH_BIG_ENDIAN 1
#else
#define PLATFORM_ARCH_LITTLE_ENDIAN 1
#endif
#endif

#endif
