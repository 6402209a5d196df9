/*
 * request.c
 *		The request of a release: the words of whoever asked for it, as arguments of a procedure
 *		or as the ledger keeps them
 */
#include "postgres.h"

#include <stddef.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "privacy/noise.h"
#include "privacy/series.h"
#include "hash/column.h"
#include "hash/moment_sums.h"
#include "hash/params.h"
#include "sketch/authority.h"
#include "sketch/domain.h"
#include "sketch/params_draft.h"
#include "sketch/params_parse.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"
#include "sketch/record.h"
#include "sketch/sketch_format.h"
#include "sketch/text.h"
#include "release/column_source.h"
#include "release/ledger.h"
#include "release/privatize.h"
#include "release/read.h"
#include "release/remote.h"
#include "release/request.h"

const struct RaceArgumentFacts race_arguments[RACE_ARGUMENTS] = {
	[RACE_ARG_NAME] = {"name", "text", TEXTOID, false, offsetof(RaceReleaseRequest, name)},
	[RACE_ARG_DATASET] = {"dataset", "text", TEXTOID, true, offsetof(RaceReleaseRequest, dataset)},
	[RACE_ARG_PARAMS] = {"params", "text", InvalidOid, true, offsetof(RaceReleaseRequest, params)},
	[RACE_ARG_EXPRESSION] = {"expression", "text", TEXTOID, true,
							 offsetof(RaceReleaseRequest, expression)},
	[RACE_ARG_EPSILON] = {"epsilon", "float8", FLOAT8OID, true,
						  offsetof(RaceReleaseRequest, epsilon)},
	[RACE_ARG_DELTA] = {"delta", "float8", FLOAT8OID, true, offsetof(RaceReleaseRequest, delta)},
	[RACE_ARG_ROWS] = {"rows", "int", INT4OID, true, offsetof(RaceReleaseRequest, rows)},
	[RACE_ARG_LABEL] = {"label", "text", TEXTOID, true, offsetof(RaceReleaseRequest, label)},
	[RACE_ARG_LABELS] = {"labels", "text[]", TEXTARRAYOID, true,
						 offsetof(RaceReleaseRequest, labels)},
	[RACE_ARG_GRID] = {"grid", "boolean", BOOLOID, false, offsetof(RaceReleaseRequest, grid)},
	[RACE_ARG_FIT] = {"fit", "boolean", BOOLOID, true, offsetof(RaceReleaseRequest, fit)},
	[RACE_ARG_DESCRIPTION] = {"description", "text", TEXTOID, true,
							  offsetof(RaceReleaseRequest, description)},
	[RACE_ARG_COLUMNS] = {"columns", "text[]", TEXTARRAYOID, true,
						  offsetof(RaceReleaseRequest, columns)},
	[RACE_ARG_COLUMN_UNITS] = {"units", "text[]", TEXTARRAYOID, true,
							   offsetof(RaceReleaseRequest, units)},
	[RACE_ARG_CALIBRATE] = {"calibrate", "float8", FLOAT8OID, true,
							offsetof(RaceReleaseRequest, calibrate)},
	[RACE_ARG_SERIES] = {"series", "jsonb", JSONBOID, true, offsetof(RaceReleaseRequest, series)},
	[RACE_ARG_WEIGHT] = {"weight", "text", TEXTOID, true, offsetof(RaceReleaseRequest, weight)},
	[RACE_ARG_WEIGHT_MAX] = {"weight_max", "int", INT4OID, true,
							 offsetof(RaceReleaseRequest, weight_max)},
	[RACE_ARG_WHERE] = {"where", "text", TEXTOID, true, offsetof(RaceReleaseRequest, where)},
	[RACE_ARG_MAX_CONTRIBUTIONS] = {"max_contributions", "int", INT4OID, true,
									offsetof(RaceReleaseRequest, max_contributions)},
	[RACE_ARG_MEASURE] = {"measure", "text", TEXTOID, true, offsetof(RaceReleaseRequest, measure)}};

void
race_argument_set(RaceReleaseRequest *request, RaceArgument i, Datum value, bool isnull)
{
	char *field = (char *) request + race_arguments[i].field;

	if (isnull)
		return;
	request->given |= (uint32) 1 << i;
	switch (race_arguments[i].type)
	{
		case TEXTOID:
			*(char **) field = TextDatumGetCString(value);
			break;
		case FLOAT8OID:
			*(double *) field = DatumGetFloat8(value);
			break;
		case INT4OID:
			*(int *) field = DatumGetInt32(value);
			break;
		case BOOLOID:
			*(bool *) field = DatumGetBool(value);
			break;
		default:
			*(Datum *) field = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
			break;
	}
}

RaceParameter
race_argument(const RaceLedger *ledger, const RaceReleaseRequest *request, RaceArgument i)
{
	const char *field = (const char *) request + race_arguments[i].field;
	RaceParameter parameter = {race_arguments[i].type, (Datum) 0, !race_is_given(request, i)};

	if (parameter.isnull)
		return parameter;
	switch (race_arguments[i].type)
	{
		case TEXTOID:
			parameter.value = CStringGetTextDatum(*(char *const *) field);
			break;
		case FLOAT8OID:
			parameter.value = Float8GetDatum(*(const double *) field);
			break;
		case INT4OID:
			parameter.value = Int32GetDatum(*(const int *) field);
			break;
		case BOOLOID:
			parameter.value = BoolGetDatum(*(const bool *) field);
			break;
		case InvalidOid:
			parameter.type = ledger->params_type;
			/* FALLTHROUGH */
		default:
			parameter.value = *(const Datum *) field;
			break;
	}
	return parameter;
}
