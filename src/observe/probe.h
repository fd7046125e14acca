/* probe.h: tracepoints that bpftrace, perf and SystemTap can attach to (USDT), of the provider `hearth`: a nop in the code, and a note in the
 * file that says where it is and where its arguments are. doc/diagnose.md lists them. They need sys/sdt.h of SystemTap when Hearth is built
 * (systemtap-sdt-dev); without it they are nothing. Their names are no words of perf, such as `miss`. */
#ifndef HEARTH_PROBE_H
#define HEARTH_PROBE_H

#if !defined(HEARTH_WITHOUT_SDT) && __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define PROBE2(name, a, b)       DTRACE_PROBE2(hearth, name, a, b)
#define PROBE3(name, a, b, c)    DTRACE_PROBE3(hearth, name, a, b, c)
#define PROBE4(name, a, b, c, d) DTRACE_PROBE4(hearth, name, a, b, c, d)
#else
#define PROBE2(name, a, b)       ((void)0)
#define PROBE3(name, a, b, c)    ((void)0)
#define PROBE4(name, a, b, c, d) ((void)0)
#endif

#endif
