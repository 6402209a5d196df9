/*
 * racepriv.c
 *		The module.  Everything it can do is in the rooms beside this file.
 */
#include "postgres.h"

#include "fmgr.h"

#if PG_VERSION_NUM >= 180000
PG_MODULE_MAGIC_EXT(.name = "racepriv", .version = "0.1.0");
#else
PG_MODULE_MAGIC;
#endif
