/*
 * flat.c
 *		A sketch as it is stored: its size, and how it is written.
 */
#include "postgres.h"

#include "port/pg_crc32c.h"

#include "format.h"

void
race_view_flat(const RaceSketchDatum *flat, RaceView *view)
{
	const char *counters = RaceFlatCounters(flat);

	view->header = &flat->header;
	view->params = &flat->params;
	view->shares = RaceFlatShares(flat);
	view->packed_size = flat->packed_size;
	view->packed = flat->packed_size > 0 ? (const unsigned char *) counters : NULL;
	view->counters = flat->packed_size > 0 ? NULL : counters;
	view->width = flat->width;
	view->model = RaceFlatModel(flat);
	view->model_size = flat->model_size;
	view->identity = flat->content_hash;
}

/*
 * To unpack a counter takes longer than to read so many bytes of a stored value.  Packed
 * counters that save less would make the first question of a session slower.
 */
#define BYTES_TO_UNPACK	3

bool
race_packed_pays(Size packed_size, Size nonzero, Size dense, bool stored)
{
	return packed_size + (stored ? BYTES_TO_UNPACK * nonzero : 0) < dense;
}

/* Pack the counters of an exact sketch if that pays. */
static void
pack_counters(const RaceView *view, bool stored, RaceStorage *storage)
{
	Size		n = RaceCounters(view->params);
	RacePacking packing;
	Size		dense;
	Size		space;

	race_packing_plan(view->counters, view->width, n, &packing);
	storage->width = race_counters_width_for(packing.min, packing.max);
	dense = n * storage->width;
	if (!race_packed_pays(packing.least, packing.nonzero, dense, stored))
		return;
	space = Min(packing.most, dense - 1);
	storage->space = palloc(space);
	storage->packed_size = race_pack(&packing, view->counters, view->width, n,
									 storage->space, space);
	if (storage->packed_size > 0 &&
		race_packed_pays(storage->packed_size, packing.nonzero, dense, stored))
		storage->packed = storage->space;
	else
		storage->packed_size = 0;
}

void
race_storage_choose(const RaceView *view, bool stored, RaceStorage *storage)
{
	int64		min;
	int64		max;

	memset(storage, 0, sizeof(*storage));
	if (view->packed != NULL)
	{
		storage->width = view->width;
		storage->packed = view->packed;
		storage->packed_size = view->packed_size;
	}
	else if (view->header->noise.status == RACE_STATUS_EXACT)
		pack_counters(view, stored, storage);
	else
	{
		race_counters_bounds(view->counters, view->width, RaceCounters(view->params),
							 &min, &max);
		storage->width = race_counters_width_for(min, max);
	}
}

void
race_storage_free(RaceStorage *storage)
{
	if (storage->space != NULL)
		pfree(storage->space);
	memset(storage, 0, sizeof(*storage));
}

Size
race_flat_size(const RaceView *view, const RaceStorage *storage, Size model_size)
{
	return RaceFlatSize(view->header, view->params,
						RaceCounterBytes(view->params, storage->width, storage->packed_size),
						model_size);
}

void
race_flat_seal(RaceSketchDatum *flat)
{
	const char *params = (const char *) &flat->params;
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &flat->version, offsetof(RaceSketchDatum, content_hash) -
				offsetof(RaceSketchDatum, version));
	COMP_CRC32C(crc, &flat->model_size, sizeof(flat->model_size));
	COMP_CRC32C(crc, params, VARSIZE(flat) - offsetof(RaceSketchDatum, params));
	FIN_CRC32C(crc);
	flat->content_hash = crc;
}

void
race_flat_write(RaceSketchDatum *flat, Size size, const RaceView *view,
				const RaceStorage *storage, const RaceModel *model, Size model_size)
{
	memset(flat, 0, offsetof(RaceSketchDatum, params));
	SET_VARSIZE(flat, size);
	flat->version = storage->packed != NULL ? RACE_FORMAT_PACKED : RACE_FORMAT_VERSION;
	flat->width = storage->width;
	flat->packed_size = storage->packed_size;
	flat->model_size = model_size;
	flat->header = *view->header;
	memcpy(&flat->params, view->params, race_params_size(view->params));
	if (RaceShares(view->header) > 0)
		memcpy(RaceFlatShares(flat), view->shares, RaceShares(view->header) * sizeof(uint64));
	if (storage->packed != NULL)
		memcpy(RaceFlatCounters(flat), storage->packed, storage->packed_size);
	else
		race_counters_convert(view->counters, view->width, RaceFlatCounters(flat),
							  storage->width, RaceCounters(view->params));
	if (model_size > 0)
	{
		char	   *end = RaceFlatCounters(flat) + RaceFlatCounterBytes(flat);
		char	   *last = (char *) flat + size - model_size;

		memset(end, 0, last - end);
		memcpy(last, model, model_size);
	}
	race_flat_seal(flat);
}

RaceSketchDatum *
race_flat_create(const RaceView *view, const RaceModel *model, Size model_size)
{
	RaceStorage storage;
	RaceSketchDatum *flat;
	Size		size;

	race_storage_choose(view, true, &storage);
	size = race_flat_size(view, &storage, model_size);
	flat = palloc(size);
	race_flat_write(flat, size, view, &storage, model, model_size);
	race_storage_free(&storage);
	return flat;
}
