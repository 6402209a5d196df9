/*
 * fail_alloc.c
 *		A module for tests: allocations of a backend fail on command.
 *
 * Once loaded, it counts the allocations of its backend: those in memory contexts,
 * whoever asks for them, and those that the server takes from malloc and its like.
 * Both go through tables of addresses, and this puts its own functions there: the
 * methods of each type of memory context, and the table by which the executable
 * calls the C library (ELF only).
 */
#include "postgres.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fmgr.h"
#include "nodes/memnodes.h"
#include "utils/memutils.h"
#if PG_VERSION_NUM >= 160000
#include "utils/memutils_internal.h"
#endif

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fail_alloc);

void _PG_init(void);

static int64 counted = 0;       /* allocations since the last call of fail_alloc */
static int64 first_failure = 0; /* which of them fails first; 0 for none */
static int64 end_of_failures = 0;

static bool
fails_now(void)
{
	counted++;
	return counted >= first_failure && counted < end_of_failures;
}

/*
 * fail_alloc(first, n): from now on n allocations fail, the first-th and those
 * after it.  Gives how many there were since the last call.
 */
Datum
fail_alloc(PG_FUNCTION_ARGS)
{
	int64 before = counted;

	first_failure = PG_GETARG_INT64(0);
	end_of_failures = first_failure + PG_GETARG_INT64(1);
	counted = 0;
	PG_RETURN_INT64(before);
}

/* Make what the loader has made read-only writable again. */
static void
make_writable(void *place, Size size)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t begin = (uintptr_t) place & ~(page - 1);

	if (mprotect((void *) begin, (uintptr_t) place + size - begin, PROT_READ | PROT_WRITE) != 0)
		elog(ERROR, "mprotect failed: %m");
}

/* ------------------------------------------------------------ memory contexts */

#if PG_VERSION_NUM >= 170000
#define FLAGS_DECLARED , int flags
#define FLAGS_PASSED , flags
#define FAILURE(context, size) MemoryContextAllocationFailure(context, size, flags)
#else
#define FLAGS_DECLARED
#define FLAGS_PASSED
#define FAILURE(context, size) NULL
#endif

/* The types of memory contexts: their tables, and what was in these */
static struct
{
	MemoryContextMethods *table;
	MemoryContextMethods methods;
} types[3];

static const MemoryContextMethods *
methods_of(MemoryContext context)
{
	int i = 0;

	while (context->methods != types[i].table)
		i++;
	return &types[i].methods;
}

/* Error messages have memory of their own, which lasts for small ones. */
static bool
context_fails(MemoryContext context)
{
	return context != ErrorContext && fails_now();
}

static void *
context_alloc(MemoryContext context, Size size FLAGS_DECLARED)
{
	if (context_fails(context))
		return FAILURE(context, size);
	return methods_of(context)->alloc(context, size FLAGS_PASSED);
}

#if PG_VERSION_NUM >= 160000
static void *
context_realloc(void *pointer, Size size FLAGS_DECLARED)
{
	MemoryContext context = GetMemoryChunkContext(pointer);

	if (context_fails(context))
		return FAILURE(context, size);
	return methods_of(context)->realloc(pointer, size FLAGS_PASSED);
}
#else
static void *
context_realloc(MemoryContext context, void *pointer, Size size)
{
	if (context_fails(context))
		return NULL;
	return methods_of(context)->realloc(context, pointer, size);
}
#endif

static void
replace_methods(int type, MemoryContext context)
{
	MemoryContextMethods *table = (MemoryContextMethods *) context->methods;

	types[type].table = table;
	types[type].methods = *table;
	make_writable(table, sizeof(*table));
	table->alloc = context_alloc;
	table->realloc = context_realloc;
	MemoryContextDelete(context);
}

/* ------------------------------------------------------------------ C library */

static void *
c_malloc(size_t size)
{
	return fails_now() ? NULL : malloc(size);
}

static void *
c_calloc(size_t n, size_t size)
{
	return fails_now() ? NULL : calloc(n, size);
}

static void *
c_realloc(void *pointer, size_t size)
{
	return fails_now() ? NULL : realloc(pointer, size);
}

static char *
c_strdup(const char *string)
{
	return fails_now() ? NULL : strdup(string);
}

static const struct
{
	const char *name;
	void *function;
} c_functions[] = {{"malloc", c_malloc},
				   {"calloc", c_calloc},
				   {"realloc", c_realloc},
				   {"strdup", c_strdup}};

static void
replace_import(ElfW(Addr) * slot, const char *name)
{
	for (size_t i = 0; i < lengthof(c_functions); i++)
		if (strcmp(name, c_functions[i].name) == 0)
		{
			make_writable(slot, sizeof(*slot));
			*slot = (ElfW(Addr)) c_functions[i].function;
		}
}

/* The executable calls each function of a library through one slot. */
static void
replace_imports(ElfW(Addr) base, const ElfW(Dyn) * dynamic)
{
	const char *strings = NULL;
	const ElfW(Sym) *symbols = NULL;
	const ElfW(Rela) *slots = NULL;
	size_t size = 0, i;

	for (; dynamic->d_tag != DT_NULL; dynamic++)
		switch (dynamic->d_tag)
		{
			case DT_STRTAB:
				strings = (const char *) dynamic->d_un.d_ptr;
				break;
			case DT_SYMTAB:
				symbols = (const ElfW(Sym) *) dynamic->d_un.d_ptr;
				break;
			case DT_JMPREL:
				slots = (const ElfW(Rela) *) dynamic->d_un.d_ptr;
				break;
			case DT_PLTRELSZ:
				size = dynamic->d_un.d_val;
				break;
		}
	for (i = 0; i < size / sizeof(*slots); i++)
		replace_import((ElfW(Addr) *) (base + slots[i].r_offset),
					   strings + symbols[ELF64_R_SYM(slots[i].r_info)].st_name);
}

/* Called for the executable, which comes first */
static int
replace_in_executable(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void) size;
	(void) unused;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			replace_imports(object->dlpi_addr,
							(const ElfW(Dyn) *) (object->dlpi_addr + object->dlpi_phdr[i].p_vaddr));
	return 1; /* no more objects */
}

void
_PG_init(void)
{
	replace_methods(
		0, AllocSetContextCreate(CurrentMemoryContext, "fail_alloc", ALLOCSET_SMALL_SIZES));
#if PG_VERSION_NUM >= 150000
	replace_methods(
		1, GenerationContextCreate(CurrentMemoryContext, "fail_alloc", ALLOCSET_SMALL_SIZES));
#else
	replace_methods(
		1, GenerationContextCreate(CurrentMemoryContext, "fail_alloc", SLAB_DEFAULT_BLOCK_SIZE));
#endif
	replace_methods(
		2, SlabContextCreate(CurrentMemoryContext, "fail_alloc", SLAB_DEFAULT_BLOCK_SIZE, 64));
	dl_iterate_phdr(replace_in_executable, NULL);
}
