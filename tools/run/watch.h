/* watch.h: tells the user, when a command has ended, what it did not do: a script, run a launcher with Hearth; a job, write its report. */
#ifndef HEARTH_TOOLS_WATCH_H
#define HEARTH_TOOLS_WATCH_H

/* In the process that becomes the script: notes in `folder`, that of the links, that this process waits for a launcher, and starts a
 * watcher that outlives it. If a launcher was called, it looks after the report, too; NULL: there is none. Without memory or processes
 * nothing is watched. */
void watch_script(const char *folder, const char *script, const char *report);

/* In a launcher that was called through a link of `folder`: the script that called it has one. */
void watch_saw_launcher(const char *folder);

/* In the process that becomes the launcher: when it has ended, a line says whether this report was not written, or only parts of it. */
void watch_report(const char *path);

#endif
