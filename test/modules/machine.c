/*
 * machine.c
 *		A library that is preloaded into a server of tests: its clock jumps, and its disk is full.
 *
 * The environment variable RACE_MACHINE names a file of two integers: seconds to add to the
 * clock, and whether the disk is full.  A test writes them while the server runs.  A full
 * disk refuses what makes a file longer, and lets files be overwritten.
 */
#undef _FILE_OFFSET_BITS /* it would give pwrite and pwrite64 one name */
#undef _TIME_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/*
 * PostgreSQL 16 and later hide the names of modules; the server must find these before those of the
 * C library.
 */
#pragma GCC visibility push(default)

static const volatile int64_t unchanged[2];
static const volatile int64_t *machine = unchanged;

__attribute__((constructor)) static void
read_machine(void)
{
	const char *name = getenv("RACE_MACHINE");
	int file = name != NULL ? open(name, O_RDONLY) : -1;
	void *memory =
		file >= 0 ? mmap(NULL, sizeof(unchanged), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;

	if (memory != MAP_FAILED)
		machine = memory;
	if (file >= 0)
		close(file);
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = (int) syscall(SYS_clock_gettime, clock, now);

	if (result == 0 && clock == CLOCK_REALTIME)
		now->tv_sec += machine[0];
	return result;
}

int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec exact;

	(void) zone;
	clock_gettime(CLOCK_REALTIME, &exact);
	now->tv_sec = exact.tv_sec;
	now->tv_usec = exact.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (seconds != NULL)
		*seconds = now.tv_sec;
	return now.tv_sec;
}

/* Whether these bytes lie beyond the end of a file on a full disk */
static int
is_refused(int file, int64_t size, off_t offset)
{
	struct stat status;

	if (!machine[1] || fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
		offset + size <= status.st_size)
		return 0;
	errno = ENOSPC;
	return 1;
}

ssize_t
pwrite(int file, const void *data, size_t size, off_t offset)
{
	static ssize_t (*true_pwrite)(int, const void *, size_t, off_t);

	if (true_pwrite == NULL)
		true_pwrite = dlsym(RTLD_NEXT, "pwrite");
	return is_refused(file, (int64_t) size, offset) ? -1 : true_pwrite(file, data, size, offset);
}

ssize_t
pwrite64(int file, const void *data, size_t size, off64_t offset)
{
	return pwrite(file, data, size, (off_t) offset);
}

ssize_t
pwritev(int file, const struct iovec *pieces, int count, off_t offset)
{
	static ssize_t (*true_pwritev)(int, const struct iovec *, int, off_t);
	int64_t size = 0;

	if (true_pwritev == NULL)
		true_pwritev = dlsym(RTLD_NEXT, "pwritev");
	for (int i = 0; i < count; i++)
		size += (int64_t) pieces[i].iov_len;
	return is_refused(file, size, offset) ? -1 : true_pwritev(file, pieces, count, offset);
}

ssize_t
pwritev64(int file, const struct iovec *pieces, int count, off64_t offset)
{
	return pwritev(file, pieces, count, (off_t) offset);
}

int
posix_fallocate(int file, off_t offset, off_t size)
{
	static int (*true_fallocate)(int, off_t, off_t);

	if (true_fallocate == NULL)
		true_fallocate = dlsym(RTLD_NEXT, "posix_fallocate");
	return is_refused(file, size, offset) ? ENOSPC : true_fallocate(file, offset, size);
}

int
posix_fallocate64(int file, off64_t offset, off64_t size)
{
	return posix_fallocate(file, (off_t) offset, (off_t) size);
}
