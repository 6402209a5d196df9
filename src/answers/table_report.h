/*
 * table_report.h
 *		What a release by columns says of itself
 */
#ifndef RACE_TABLE_REPORT_H
#define RACE_TABLE_REPORT_H

#include "postgres.h"

/*
 * Return what is wrong with the domains of a private value of tables, a line for each column, as far
 * as the value shows it beyond its noise; NULL if nothing is.
 */
extern char *race_report_summary(Datum value);

#endif
