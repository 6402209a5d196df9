/*
 * racepriv.c
 *		The module: its settings.  Everything that it can do is in the folders beside
 *		this file.
 */
#include "postgres.h"

#include <limits.h>

#include "fmgr.h"
#include "utils/guc.h"

#include "privacy/interrupt.h"
#include "hash/hash_path.h"
#include "sketch/cache.h"
#include "sketch/progress.h"
#include "release/models.h"
#include "answers/classify.h"
#include "answers/distributed_query.h"
#include "answers/fit.h"
#include "answers/table_model.h"
#include "answers/table_report.h"

#if PG_VERSION_NUM >= 180000
PG_MODULE_MAGIC_EXT(.name = "racepriv", .version = "0.3.0");
#else
PG_MODULE_MAGIC;
#endif

void _PG_init(void);

static char *vector_code = NULL;

/* What releases need of answers */
static const RaceModels models = {race_fit_has_bounds, race_fit_private, race_classes_score,
								  race_report_summary};

static bool
check_vector_code(char **name, void **extra, GucSource source)
{
	(void) extra;
	(void) source;
	if (race_hash_has(*name))
		return true;
	GUC_check_errdetail("This machine has no such vector code.");
	return false;
}

static void
assign_vector_code(const char *name, void *extra)
{
	(void) extra;
	race_hash_force(name);
}

void
_PG_init(void)
{
	race_interrupt_hook = race_check_for_interrupts;
	race_distributed_init();
	race_models = &models;
	race_reference = &race_model_reference;
	DefineCustomIntVariable(
		"racepriv.cache_size", "Memory that a session may keep for sketches it has asked before.",
		"The same again for row functions. What a statement uses is not limited by it. When made smaller, it takes effect when a statement gives something back.",
		&race_cache_size, 64 * 1024, 0, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomStringVariable(
		"racepriv.vector_code", "Instruction set that vectors are hashed with, for tests.",
		"All give the same results. Auto takes the best that the machine has.", &vector_code,
		"auto", PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, check_vector_code,
		assign_vector_code, NULL);
	DefineCustomBoolVariable("racepriv.progress", "Tells the client how far a release or a fit is.",
							 "By messages of level INFO, which do not go to the log.",
							 &race_progress, false, PGC_USERSET, 0, NULL, NULL, NULL);
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("racepriv");
#else
	EmitWarningsOnPlaceholders("racepriv");
#endif
}
