/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MODEL_PRIORITY: a device that a more important model runs on is left to it. */
#include "auto.h"

#include <string.h>

struct _AutoReservation {
  gchar *device;
  guint level;
};

static GMutex lock;
static GPtrArray *reservations; /* lock: AutoReservation, not owned */

/* 0 is the most important. */
static guint
level_of (const gchar *priority)
{
  return g_str_equal (priority, "HIGH") ? 0 : g_str_equal (priority, "MEDIUM") ? 1 : 2;
}

static gboolean
is_reserved (const gchar *device, guint level)
{
  for (guint i = 0; reservations != NULL && i < reservations->len; i++) {
    const AutoReservation *r = g_ptr_array_index (reservations, i);
    if (r->level < level && g_str_equal (r->device, device))
      return TRUE;
  }
  return FALSE;
}

/* Index of the first device that nobody more important has; the last one if all are taken. */
guint
auto_choose (GPtrArray *devices, const gchar *priority)
{
  guint at = 0;
  g_mutex_lock (&lock);
  while (
      at + 1 < devices->len &&
      is_reserved (((AxonDeviceRef *)g_ptr_array_index (devices, at))->device, level_of (priority)))
    at++;
  g_mutex_unlock (&lock);
  return at;
}

AutoReservation *
auto_reserve (const gchar *device, const gchar *priority)
{
  AutoReservation *r = g_new0 (AutoReservation, 1);
  r->device = g_strdup (device);
  r->level = level_of (priority);
  g_mutex_lock (&lock);
  if (reservations == NULL)
    reservations = g_ptr_array_new ();
  g_ptr_array_add (reservations, r);
  g_mutex_unlock (&lock);
  return r;
}

void
auto_release (AutoReservation *reservation)
{
  g_mutex_lock (&lock);
  g_ptr_array_remove (reservations, reservation);
  if (reservations->len == 0)
    g_clear_pointer (&reservations, g_ptr_array_unref);
  g_mutex_unlock (&lock);
  g_free (reservation->device);
  g_free (reservation);
}
