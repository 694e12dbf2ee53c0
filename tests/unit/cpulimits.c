/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processors inference may use: affinity, control groups, kinds of core. */
#include "../../plugins/cpu/cpulimits.h"
#include "../support/testroot.h"

static guint
limit (const gchar *const files[][2], guint n, const gchar *core_type, gboolean hyper_threading)
{
  gchar *root = test_root_new (files, n);
  CpuLimits limits;
  cpu_limits_init (&limits, root, core_type, hyper_threading);
  test_root_remove (root);
  return limits.n;
}

static guint
all (void)
{
  cpu_set_t set;
  sched_getaffinity (0, sizeof set, &set);
  return (guint)CPU_COUNT (&set);
}

static void
without_limits_every_allowed_processor_counts (void)
{
  g_assert_cmpuint (limit (NULL, 0, "ANY_CORE", TRUE), ==, all ());
}

static void
quotas_of_control_groups_are_respected (void)
{
  static const gchar *const one[][2] = { { "/proc/self/cgroup", "0::/a/b\n" },
                                         { "/sys/fs/cgroup/a/b/cpu.max", "100000 100000\n" } };
  static const gchar *const above[][2] = { { "/proc/self/cgroup", "0::/a/b\n" },
                                           { "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n" },
                                           { "/sys/fs/cgroup/a/cpu.max", "50000 100000\n" } };
  static const gchar *const more[][2] = { { "/sys/fs/cgroup/cpu.max", "150000 100000\n" } };
  static const gchar *const old[][2] = { { "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n" },
                                         { "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n" } };
  static const gchar *const none[][2] = { { "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n" },
                                          { "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n" } };
  g_assert_cmpuint (limit (one, 2, "ANY_CORE", TRUE), ==, 1);
  g_assert_cmpuint (limit (above, 3, "ANY_CORE", TRUE), ==, 1);
  g_assert_cmpuint (limit (more, 1, "ANY_CORE", TRUE), ==, MIN (2, all ()));
  g_assert_cmpuint (limit (old, 2, "ANY_CORE", TRUE), ==, 1);
  g_assert_cmpuint (limit (none, 2, "ANY_CORE", TRUE), ==, all ());
}

static void
hardware_threads_of_one_core_can_count_as_one (void)
{
  static const gchar *const siblings[][2] = {
    { "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n" },
    { "/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n" }
  };
  guint n = limit (siblings, 2, "ANY_CORE", FALSE);
  if (all () == 2)
    g_assert_cmpuint (n, ==, 1);
  g_assert_cmpuint (limit (siblings, 2, "ANY_CORE", TRUE), ==, all ());
}

static void
kinds_of_core_can_be_chosen_where_there_are_several (void)
{
  static const gchar *const hybrid[][2] = { { "/sys/devices/cpu_core/cpus", "0\n" },
                                            { "/sys/devices/cpu_atom/cpus", "1-63\n" } };
  static const gchar *const elsewhere[][2] = { { "/sys/devices/cpu_core/cpus", "900\n" } };
  g_assert_cmpuint (limit (hybrid, 2, "PCORE_ONLY", TRUE), ==, 1);
  g_assert_cmpuint (limit (elsewhere, 1, "PCORE_ONLY", TRUE), ==,
                    all ()); /* none is allowed here */
  g_assert_cmpuint (limit (NULL, 0, "ECORE_ONLY", TRUE), ==, all ());
}

static void
memory_nodes_count_where_they_have_allowed_processors (void)
{
  static const gchar *const two[][2] = { { "/sys/devices/system/node/node0/cpulist", "0-1023\n" },
                                         { "/sys/devices/system/node/node1/cpulist", "0\n" },
                                         { "/sys/devices/system/node/node2/cpulist", "1023\n" },
                                         { "/sys/devices/system/node/possible", "0-2\n" } };
  gchar *root = test_root_new (two, 4);
  cpu_set_t before, first;
  CpuLimits limits;
  sched_getaffinity (0, sizeof before, &before);
  CPU_ZERO (&first);
  CPU_SET (0, &first);
  if (CPU_ISSET (0, &before) && sched_setaffinity (0, sizeof first, &first) == 0) {
    cpu_limits_init (&limits, root, "ANY_CORE", TRUE);
    g_assert_cmpuint (limits.n_nodes, ==, 2);
    sched_setaffinity (0, sizeof before, &before);
  }
  test_root_remove (root);
  cpu_limits_init (&limits, "/no/such/root", "ANY_CORE", TRUE);
  g_assert_cmpuint (limits.n_nodes, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cpu-limits/" #name, name)
  ADD (without_limits_every_allowed_processor_counts);
  ADD (quotas_of_control_groups_are_respected);
  ADD (hardware_threads_of_one_core_can_count_as_one);
  ADD (memory_nodes_count_where_they_have_allowed_processors);
  ADD (kinds_of_core_can_be_chosen_where_there_are_several);
  return g_test_run ();
}
