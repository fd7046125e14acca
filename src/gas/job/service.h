/* service.h: the table of the helper's handlers. */
#ifndef HEARTH_GAS_SERVICE_H
#define HEARTH_GAS_SERVICE_H

#include "net/net.h"

/* For net_open. */
extern const struct net_service gas_service;

#endif
