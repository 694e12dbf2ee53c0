/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much memory is taken at most where nobody says it: machine, control groups, process. */
#include "../../lib/base/axonwork-private.h"
#include "../support/testroot.h"

#include <sys/resource.h>
#include <unistd.h>

#define MIB ((gsize)1 << 20)

/* What /proc/self/cgroup says, files of control groups, and the least of their limits. */
typedef struct {
  const gchar *files[3][2];
  gsize mib;
} Row;

static void
the_least_of_the_groups_above_a_process_is_its_limit (void)
{
  static const Row rows[] = {
    { { { "/proc/self/cgroup", "0::/a/b\n" }, { "/sys/fs/cgroup/a/b/memory.max", "67108864\n" } },
      64 },
    { { { "/proc/self/cgroup", "0::/a/b\n" },
        { "/sys/fs/cgroup/a/b/memory.max", "max\n" },
        { "/sys/fs/cgroup/a/memory.max", "33554432\n" } },
      32 },
    { { { "/proc/self/cgroup", "0::/a/b\n" },
        { "/sys/fs/cgroup/a/b/memory.max", "33554432\n" },
        { "/sys/fs/cgroup/a/memory.max", "67108864\n" } },
      32 },
    { { { "/proc/self/cgroup", "0::/\n" }, { "/sys/fs/cgroup/memory.max", "50331648\n" } }, 48 },
    { { { "/proc/self/cgroup", "7:cpu:/x\n4:memory:/c\n" },
        { "/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "16777216\n" },
        { "/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "8388608\n" } },
      16 },
    { { { "/proc/self/cgroup", "4:memory:/c\n" },
        { "/sys/fs/cgroup/memory/memory.limit_in_bytes", "16777216\n" },
        { "/sys/fs/cgroup/c/memory.max", "8388608\n" } },
      16 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gchar *root = test_root_new (rows[i].files, G_N_ELEMENTS (rows[i].files));
    g_test_message ("row %u", i);
    g_assert_cmpuint (axon_memory_limit (root), ==, rows[i].mib * MIB / 4 * 3);
    test_root_remove (root);
  }
}

static const int resources[] = { RLIMIT_AS, RLIMIT_DATA };

/* What the machine has, or as much as who runs the test gives it. */
static gsize
get_machine (void)
{
  gsize limit = (gsize)sysconf (_SC_PHYS_PAGES) * (gsize)sysconf (_SC_PAGESIZE);
  for (guint i = 0; i < G_N_ELEMENTS (resources); i++) {
    struct rlimit given;
    if (getrlimit (resources[i], &given) == 0)
      limit = (gsize)MIN (limit, given.rlim_cur);
  }
  return limit;
}

static void
without_groups_the_machine_is_the_limit (void)
{
  static const Row rows[] = {
    { { { "/proc/self/cgroup", "0::/a\n" }, { "/sys/fs/cgroup/a/memory.max", "max\n" } }, 0 },
    { { { "/proc/self/cgroup", "nonsense\n" }, { "/sys/fs/cgroup/memory.max", "1024\n" } }, 0 },
  };
  g_assert_cmpuint (axon_memory_limit ("/no/such/root"), ==, get_machine () / 4 * 3);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gchar *root = test_root_new (rows[i].files, G_N_ELEMENTS (rows[i].files));
    g_assert_cmpuint (axon_memory_limit (root), ==, get_machine () / 4 * 3);
    test_root_remove (root);
  }
}

static void
resource_limits_of_the_process_are_respected (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (resources); i++) {
    struct rlimit before, lower;
    gsize half = get_machine () / 2, limit;
    g_assert_cmpint (getrlimit (resources[i], &before), ==, 0);
    lower = before;
    lower.rlim_cur = half;
    g_assert_cmpint (setrlimit (resources[i], &lower), ==, 0);
    limit = axon_memory_limit ("/no/such/root");
    g_assert_cmpint (setrlimit (resources[i], &before), ==, 0);
    g_assert_cmpuint (limit, ==, half / 4 * 3);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/memory-limit/" #name, name)
  ADD (the_least_of_the_groups_above_a_process_is_its_limit);
  ADD (without_groups_the_machine_is_the_limit);
  ADD (resource_limits_of_the_process_are_respected);
  return g_test_run ();
}
