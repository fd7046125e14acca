/* pause.c: the calls of hearth.h that pause the heater. */
#include "hearth/hearth.h"
#include "heater/heater.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void hearth_heater_pause(void) {
    heater_pause();
}

EXPORT void hearth_heater_resume(void) {
    heater_resume();
}
