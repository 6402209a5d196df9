/*
 * table_report.c
 *		What a release by columns says of itself: how much of each column its domain does not
 *		have, what was measured, which questions have no answer, and what to change
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "sketch/domain.h"
#include "sketch/result.h"
#include "answers/table_answers.h"
#include "answers/table_report.h"

PG_FUNCTION_INFO_V1(race_report);

/* Of what an advice follows from: one in 20,000 columns of which it is not true gets it */
#define ADVICE_CONFIDENCE 0.9999
/* Columns that a line names */
#define MOST_NAMED 12

/* A row of a report; what is not known is NAN or NULL */
typedef struct Line
{
	const char *topic;
	const char *column;
	double value;
	double lower;
	double upper;
	char *advice;
} Line;

typedef struct Report
{
	RaceOpenTables open;
	const char *dataset; /* quoted as in a statement */
	bool bounded;        /* is it known that of each unit so many records are counted at most? */
	double confidence;
	List *lines; /* of Line */
	RaceResultRow row;
} Report;

static Line *
add_line(Report *report, const char *topic, const char *column)
{
	Line *line = palloc(sizeof(Line));

	*line = (Line){topic, column, NAN, NAN, NAN, NULL};
	report->lines = lappend(report->lines, line);
	return line;
}

/* ----------------------------------------------------------------- columns */

/* Return the count of a cell of a column, with an interval. */
static RaceTableAnswer
count_cell(const Report *report, int column, uint32 cell, double confidence)
{
	const double **weights = palloc0(report->open.columns * sizeof(double *));
	double *weight = palloc0(RaceDomainCells(&report->open.domains[column]) * sizeof(double));
	RaceTableAnswer answer;

	weight[cell] = 1;
	weights[column] = weight;
	race_tables_ask(&report->open, weights, confidence, &answer);
	pfree(weight);
	pfree(weights);
	return answer;
}

/* Add the share of records in a cell of a column. */
static Line *
add_share(Report *report, const char *topic, int column, uint32 cell)
{
	double records = report->open.model->total;
	RaceTableAnswer count = count_cell(report, column, cell, report->confidence);
	Line *line = add_line(report, topic, report->open.domains[column].name);

	line->value = Min(count.count / records, 1);
	line->lower = Min(count.lower / records, 1);
	line->upper = Min(count.upper / records, 1);
	return line;
}

/* Return the beginning of a statement that describes a column anew. */
static char *
describe_anew(const Report *report, const RaceDomain *domain)
{
	return psprintf("CALL race_describe(%s, %s, ", report->dataset,
					quote_literal_cstr(domain->name));
}

/* Add the share of values that are not in the list of a column. */
static void
add_others(Report *report, int column)
{
	const RaceDomain *domain = &report->open.domains[column];
	uint32 cell = domain->n + domain->has_null;
	Line *line = add_share(report, domain->chosen ? "not chosen" : "not in the list", column, cell);

	if (!domain->chosen && count_cell(report, column, cell, ADVICE_CONFIDENCE).lower > 0)
		line->advice = psprintf(
			"Values that differ in case or blanks are not in the list, either. %scategories => '{...}');",
			describe_anew(report, domain));
}

/* Return the most records in a line of numbers other than one, with their noise. */
static double
most_elsewhere(const RaceTableLine *lines, uint32 n, const RaceTableLine *but)
{
	double most = 0;

	for (uint32 i = 0; i < n; i++)
		if (&lines[i] != but)
			most = Max(most, lines[i].count);
	return most;
}

/*
 * Add the share of records in the first or last cell of a number, where values beyond the bound
 * are counted, too.  If no other cell has so many, they may be such.
 */
static void
add_bound(Report *report, int column, const RaceTableLine *lines, uint32 n, bool upper)
{
	const RaceDomain *domain = &report->open.domains[column];
	const RaceTableLine *end = upper ? &lines[n - 1] : &lines[0];
	Line *line = add_share(report, upper ? "at the upper bound" : "at the lower bound", column,
						   upper ? end->last : end->first);

	if (n > 1 &&
		count_cell(report, column, upper ? end->last : end->first, ADVICE_CONFIDENCE).lower >
			most_elsewhere(lines, n, end))
		line->advice = psprintf(
			"Values beyond %s are counted as this one. If there are such, %slower => %s, upper => %s);",
			race_domain_number_text(domain, upper ? domain->upper : domain->lower),
			describe_anew(report, domain),
			upper ? quote_literal_cstr(race_domain_number_text(domain, domain->lower)) : "...",
			upper ? "..." : quote_literal_cstr(race_domain_number_text(domain, domain->upper)));
}

static void
add_column(Report *report, int column)
{
	const RaceDomain *domain = &report->open.domains[column];
	RaceTableLine *lines;
	uint32 n;

	if (domain->has_null)
		(void) add_share(report, "missing", column, domain->n);
	if (domain->has_other)
		add_others(report, column);
	if (domain->category)
		return;
	lines = race_tables_lines(&report->open, column, false, &n);
	while (n > 1 && lines[n - 1].first >= domain->n)
		n--;
	add_bound(report, column, lines, n, false);
	add_bound(report, column, lines, n, true);
	pfree(lines);
}

/* --------------------------------------------------------- what was measured */

/*
 * Add the records; and the units, of which each has some, where a unit column bounds how many.  A
 * sum of weights is no number of records.
 */
static void
add_records(Report *report)
{
	const RaceTableModel *model = report->open.model;
	uint64 most = report->open.view.header->noise.max_contributions;
	double reach = race_tables_z(&report->open, report->confidence) * sqrt(model->total_variance);
	Line *line = add_line(report, "records", NULL);

	line->value = Max(model->records, 0);
	line->lower = Max(model->records - reach, 0);
	line->upper = Max(model->records, 0) + reach;
	if (most <= 1 || !report->bounded)
		return;
	line->advice = psprintf(
		"At most " UINT64_FORMAT
		" records of each unit are counted. The owner can allow more: CALL race_protect(%s, max_contributions => ...);",
		most, report->dataset);
	line = add_line(report, "units", NULL);
	line->lower = ceil(Max(model->records - reach, 0) / (double) most);
	line->upper = Max(model->records, 0) + reach;
}

/* Add a measured table of several columns, with the standard error of a cell. */
static void
add_table(Report *report, const RaceTable *table)
{
	const RaceDomain *domains = report->open.domains;
	StringInfoData names;
	Line *line;

	initStringInfo(&names);
	appendStringInfo(&names, "%s, %s", domains[table->first].name, domains[table->second].name);
	if (table->third != table->second)
		appendStringInfo(&names, ", %s", domains[table->third].name);
	line = add_line(report, "error of a cell", names.data);
	line->value = sqrt(table->variance);
}

/* Add the columns that measurements connect with one, which is the first of them. */
static void
add_component(Report *report, uint32 first, bool all)
{
	const RaceTableModel *model = report->open.model;
	StringInfoData names;
	uint32 n = 0;
	uint32 other = 0;
	Line *line;

	initStringInfo(&names);
	for (uint32 j = 0; j < model->tables.columns; j++)
		if (model->component[j] != model->component[first])
			other = j;
		else if (n++ < MOST_NAMED)
			appendStringInfo(&names, "%s%s", n == 1 ? "" : ", ", report->open.domains[j].name);
	if (n > MOST_NAMED)
		appendStringInfo(&names, " and %u more", n - MOST_NAMED);
	line = add_line(report, n > 1 ? "connected" : "alone", names.data);
	line->value = n;
	if (!all)
		line->advice = psprintf(
			"Questions of these together with other columns have no answer. A release measures workload => ARRAY[%s], for example.",
			quote_literal_cstr(psprintf("%s*%s", report->open.domains[first].name,
										report->open.domains[other].name)));
}

/* Add the groups of columns that measurements connect. */
static void
add_components(Report *report)
{
	const RaceTableModel *model = report->open.model;
	bool *seen = palloc0(model->tables.columns * sizeof(bool));
	bool all = true;

	for (uint32 j = 1; j < model->tables.columns; j++)
		all = all && model->component[j] == model->component[0];
	for (uint32 j = 0; j < model->tables.columns; j++)
		if (!seen[model->component[j]])
		{
			seen[model->component[j]] = true;
			add_component(report, j, all);
		}
}

/* Make the report of a value. */
static void
make_report(Datum value, double confidence, Report *report)
{
	race_tables_open(value, &report->open);
	report->confidence = confidence;
	add_records(report);
	for (int column = 0; column < report->open.columns; column++)
	{
		CHECK_FOR_INTERRUPTS();
		add_column(report, column);
	}
	for (uint32 i = 0; i < report->open.model->n; i++)
		if (report->open.model->table[i].first != report->open.model->table[i].second)
			add_table(report, &report->open.model->table[i]);
	add_components(report);
}

/* ----------------------------------------------------------------- results */

static void
start_report(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Report *report;

	for (int i = 0; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			return;
	report = palloc0(sizeof(Report));
	race_row_start(&report->row, fcinfo);
	report->dataset = quote_literal_cstr(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	report->bounded = PG_GETARG_BOOL(3);
	make_report(PG_GETARG_DATUM(0), race_confidence_arg(fcinfo, 1), report);
	call->max_calls = list_length(report->lines);
	call->user_fctx = report;
}

static Datum
next_line(void *state, uint64 i)
{
	Report *report = state;
	const Line *line = list_nth(report->lines, (int) i);

	race_row_add_text(&report->row, line->topic);
	if (line->column != NULL)
		race_row_add_text(&report->row, line->column);
	else
		race_row_add_null(&report->row);
	race_row_add_if(&report->row, !isnan(line->value), Float8GetDatum(line->value));
	race_row_add_if(&report->row, !isnan(line->lower), Float8GetDatum(line->lower));
	race_row_add_if(&report->row, !isnan(line->upper), Float8GetDatum(line->upper));
	if (line->advice != NULL)
		race_row_add_text(&report->row, line->advice);
	else
		race_row_add_null(&report->row);
	return race_row_datum(&report->row);
}

/* Implement _race_report(value, confidence, dataset, bounded). */
Datum
race_report(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_report, next_line);
}

char *
race_report_summary(Datum value)
{
	static const char *const topics[] = {"not in the list", "at the lower bound",
										 "at the upper bound"};
	Report report = {.dataset = "dataset"};
	StringInfoData text;
	ListCell *cell;

	initStringInfo(&text);
	make_report(value, ADVICE_CONFIDENCE, &report);
	for (size_t i = 0; i < lengthof(topics); i++)
		foreach (cell, report.lines)
		{
			const Line *line = lfirst(cell);

			if (line->advice != NULL && strcmp(line->topic, topics[i]) == 0)
				appendStringInfo(&text, "%scolumn \"%s\": %.0f %% %s", text.len == 0 ? "" : "\n",
								 line->column, 100 * line->value, line->topic);
		}
	return text.len == 0 ? NULL : text.data;
}
