/*
 * obsolete.c
 *		C functions that catalogs of earlier versions name.
 *
 * Between the installation of this library and ALTER EXTENSION UPDATE, and in pg_upgrade, these
 * catalogs must find them.  Moments were a type of their own, with the bits of a sketch.
 */
#include "postgres.h"

#include "fmgr.h"

extern Datum race_sketch_in(PG_FUNCTION_ARGS);
extern Datum race_sketch_recv(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(race_moments_in);
PG_FUNCTION_INFO_V1(race_moments_recv);

Datum
race_moments_in(PG_FUNCTION_ARGS)
{
	return race_sketch_in(fcinfo);
}

Datum
race_moments_recv(PG_FUNCTION_ARGS)
{
	return race_sketch_recv(fcinfo);
}

static Datum
refuse_old_catalog(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("this version of racepriv no longer has the function"),
			 errhint("ALTER EXTENSION racepriv UPDATE brings an earlier version up to date.")));
	return (Datum) 0;
}

#define OBSOLETE(name) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		return refuse_old_catalog(); \
	}

OBSOLETE(race_build_record_undo)
OBSOLETE(race_check_unit)
OBSOLETE(race_columns)
OBSOLETE(race_correlation)
OBSOLETE(race_discriminant_final)
OBSOLETE(race_discriminant_moments_final)
OBSOLETE(race_discriminant_moments_step)
OBSOLETE(race_discriminant_record_final)
OBSOLETE(race_discriminant_record_step)
OBSOLETE(race_discriminant_step)
OBSOLETE(race_error_bound)
OBSOLETE(race_fit_box_sql)
OBSOLETE(race_kernel_sum_mom)
OBSOLETE(race_lda_final)
OBSOLETE(race_lda_posterior_final)
OBSOLETE(race_lda_step)
OBSOLETE(race_loss_exact)
OBSOLETE(race_minimize)
OBSOLETE(race_moments_empty)
OBSOLETE(race_moments_info)
OBSOLETE(race_moments_record_step)
OBSOLETE(race_moments_step)
OBSOLETE(race_params_counters)
OBSOLETE(race_params_make)
OBSOLETE(race_pca_transform)
OBSOLETE(race_preview)
OBSOLETE(race_private_tables)
OBSOLETE(race_privatize_moments)
OBSOLETE(race_probability_density)
OBSOLETE(race_project)
OBSOLETE(race_record_in)
OBSOLETE(race_record_of_vector)
OBSOLETE(race_record_out)
OBSOLETE(race_record_recv)
OBSOLETE(race_record_send)
OBSOLETE(race_released_moments)
OBSOLETE(race_rho_epsilon)
OBSOLETE(race_scatter_combine)
OBSOLETE(race_scatter_combine_bytes)
OBSOLETE(race_scatter_deserialize)
OBSOLETE(race_scatter_serialize)
OBSOLETE(race_score_final)
OBSOLETE(race_share_moments)
OBSOLETE(race_similarity)
OBSOLETE(race_suggest_final)
OBSOLETE(race_suggest_kernel_final)
OBSOLETE(race_suggest_kernel_step)
OBSOLETE(race_suggest_rows)
OBSOLETE(race_suggest_step)
OBSOLETE(race_typicality)
OBSOLETE(race_typicality_share)
OBSOLETE(race_warp)
OBSOLETE(race_whiten_final)
OBSOLETE(race_whiten_moments)
OBSOLETE(race_whiten_record_final)
OBSOLETE(race_whiten_record_step)
OBSOLETE(race_whiten_step)
