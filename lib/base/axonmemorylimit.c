/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Three quarters of the least that the machine, the control group (either version) and the
 * resource limits of the process leave it. */
#include "axonwork-private.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* "max" and what is no number is no limit. */
static void
lower_by_file (gsize *limit, const gchar *root, const gchar *path)
{
  g_autofree gchar *full = g_strconcat (root, path, NULL);
  g_autofree gchar *text = NULL;
  guint64 value;
  if (g_file_get_contents (full, &text, NULL, NULL) &&
      (value = g_ascii_strtoull (text, NULL, 10)) > 0)
    *limit = (gsize)MIN (*limit, value);
}

/* In the group and all above it. */
static void
lower_by_group (gsize *limit, const gchar *root, const gchar *mount, gchar *group,
                const gchar *file)
{
  gchar *slash = group + strlen (group);
  do {
    g_autofree gchar *path = NULL;
    *slash = '\0';
    path = g_strconcat (mount, group, "/", file, NULL);
    lower_by_file (limit, root, path);
  } while ((slash = strrchr (group, '/')) != NULL);
}

static void
lower_by_groups (gsize *limit, const gchar *root)
{
  g_autofree gchar *path = g_strconcat (root, "/proc/self/cgroup", NULL);
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    gchar *group = strchr (lines[i], '/');
    if (group == NULL)
      continue;
    if (g_str_has_prefix (lines[i], "0::"))
      lower_by_group (limit, root, "/sys/fs/cgroup", group, "memory.max");
    else if (strstr (lines[i], ":memory:") != NULL)
      lower_by_group (limit, root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
  }
}

gsize
axon_memory_limit (const gchar *root)
{
  static const int resources[] = { RLIMIT_AS, RLIMIT_DATA };
  glong pages = sysconf (_SC_PHYS_PAGES), size = sysconf (_SC_PAGESIZE);
  gsize limit = pages > 0 && size > 0 ? (gsize)pages * (gsize)size : G_MAXSIZE;
  struct rlimit given;
  lower_by_groups (&limit, root);
  for (guint i = 0; i < G_N_ELEMENTS (resources); i++)
    if (getrlimit (resources[i], &given) == 0 && given.rlim_cur != RLIM_INFINITY)
      limit = MIN (limit, (gsize)given.rlim_cur);
  return limit / 4 * 3;
}
