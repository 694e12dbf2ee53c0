/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The affinity mask, the kind of core, hardware threads, and the quota of the control group: all
 * that a container or an administrator says about processors. */
#include "cpulimits.h"

#include <string.h>

static gchar *
read_text (const gchar *root, const gchar *path)
{
  g_autofree gchar *full = g_strconcat (root, path, NULL);
  gchar *text = NULL;
  return g_file_get_contents (full, &text, NULL, NULL) ? g_strstrip (text) : NULL;
}

/* "0-3,8" */
static gboolean
parse_list (const gchar *text, cpu_set_t *set)
{
  g_auto (GStrv) parts = g_strsplit (text ? text : "", ",", -1);
  CPU_ZERO (set);
  for (guint i = 0; parts[i] != NULL && *parts[i] != '\0'; i++) {
    guint64 first, last;
    gchar *end;
    first = last = g_ascii_strtoull (parts[i], &end, 10);
    if (*end == '-')
      last = g_ascii_strtoull (end + 1, NULL, 10);
    for (guint64 k = first; k <= last && k < CPU_SETSIZE; k++)
      CPU_SET (k, set);
  }
  return CPU_COUNT (set) > 0;
}

/* Hybrid processors of Intel list their two kinds of core here; others have no such files. */
static void
keep_core_type (CpuLimits *limits, const gchar *root, const gchar *core_type)
{
  g_autofree gchar *text = NULL;
  cpu_set_t wanted;
  if (g_str_equal (core_type, "PCORE_ONLY"))
    text = read_text (root, "/sys/devices/cpu_core/cpus");
  else if (g_str_equal (core_type, "ECORE_ONLY"))
    text = read_text (root, "/sys/devices/cpu_atom/cpus");
  if (text == NULL || !parse_list (text, &wanted))
    return;
  CPU_AND (&wanted, &wanted, &limits->set);
  if (CPU_COUNT (&wanted) == 0 || CPU_EQUAL (&wanted, &limits->set))
    return;
  limits->set = wanted;
  limits->whole = FALSE;
}

/* Cores of which at least one hardware thread is in the set. */
static guint
count_cores (const cpu_set_t *set, const gchar *root)
{
  cpu_set_t seen;
  guint n = 0;
  CPU_ZERO (&seen);
  for (guint i = 0; i < CPU_SETSIZE; i++) {
    g_autofree gchar *path = NULL;
    g_autofree gchar *text = NULL;
    cpu_set_t siblings;
    if (!CPU_ISSET (i, set) || CPU_ISSET (i, &seen))
      continue;
    path = g_strdup_printf ("/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", i);
    text = read_text (root, path);
    if (text != NULL && parse_list (text, &siblings))
      CPU_OR (&seen, &seen, &siblings);
    n++;
  }
  return n;
}

/* "max 100000" or "150000 100000" of control groups version 2, in the group and all above it. */
static gdouble
quota_v2 (const gchar *root, const gchar *group)
{
  g_autofree gchar *at = g_strdup (group);
  gdouble least = G_MAXDOUBLE;
  for (;;) {
    g_autofree gchar *path =
        g_strconcat ("/sys/fs/cgroup", g_str_equal (at, "/") ? "" : at, "/cpu.max", NULL);
    g_autofree gchar *text = read_text (root, path);
    gchar *end;
    gdouble quota = text ? g_ascii_strtod (text, &end) : 0;
    gdouble period = quota > 0 ? g_ascii_strtod (end, NULL) : 0;
    gchar *slash = strrchr (at, '/');
    if (period > 0)
      least = MIN (least, quota / period);
    if (slash == NULL || at[1] == '\0')
      return least;
    slash[slash == at ? 1 : 0] = '\0';
  }
}

static gdouble
quota_v1 (const gchar *root)
{
  g_autofree gchar *quota = read_text (root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  g_autofree gchar *period = read_text (root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  gdouble q = quota ? g_ascii_strtod (quota, NULL) : -1;
  gdouble p = period ? g_ascii_strtod (period, NULL) : 0;
  return q > 0 && p > 0 ? q / p : G_MAXDOUBLE;
}

static gdouble
find_quota (const gchar *root)
{
  g_autofree gchar *text = read_text (root, "/proc/self/cgroup");
  const gchar *line = text ? strstr (text, "0::") : NULL;
  g_autofree gchar *group = line ? g_strndup (line + 3, strcspn (line + 3, "\n")) : g_strdup ("/");
  return MIN (quota_v2 (root, *group == '/' ? group : "/"), quota_v1 (root));
}

/* Memory nodes that have a processor of the set. */
static guint
count_nodes (const cpu_set_t *set, const gchar *root)
{
  g_autofree gchar *path = g_strconcat (root, "/sys/devices/system/node", NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *name;
  guint n = 0;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *list = g_strconcat ("/sys/devices/system/node/", name, "/cpulist", NULL);
    g_autofree gchar *text = g_str_has_prefix (name, "node") ? read_text (root, list) : NULL;
    cpu_set_t here;
    if (text == NULL || !parse_list (text, &here))
      continue;
    CPU_AND (&here, &here, set);
    n += CPU_COUNT (&here) > 0;
  }
  return MAX (n, 1);
}

void
cpu_limits_init (CpuLimits *limits, const gchar *root, const gchar *core_type,
                 gboolean hyper_threading)
{
  gdouble quota = find_quota (root);
  limits->whole = TRUE;
  if (sched_getaffinity (0, sizeof limits->set, &limits->set) != 0) {
    CPU_ZERO (&limits->set);
    CPU_SET (0, &limits->set);
  }
  keep_core_type (limits, root, core_type);
  limits->n = hyper_threading ? (guint)CPU_COUNT (&limits->set) : count_cores (&limits->set, root);
  limits->n_nodes = count_nodes (&limits->set, root);
  if (quota < limits->n)
    limits->n = (guint)quota + (quota > (guint)quota); /* 1.5 processors feed two threads */
  limits->n = MAX (limits->n, 1);
}
