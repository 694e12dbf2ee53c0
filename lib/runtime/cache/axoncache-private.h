/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cache of compiled models: a private folder of blobs, named by their keys. It never makes a
 * compile fail: whatever is wrong here is logged, and the model is compiled. */
#pragma once

#include <gio/gio.h>

typedef gboolean (*AxonCacheWriteFunc) (GOutputStream *stream, gpointer user_data, GError **error);

gchar *axon_cache_hash_bytes (GBytes *bytes);
gchar *axon_cache_hash_text (const gchar *text);
gchar *axon_cache_hash_file (const gchar *path);

/* The entry's path, its folder made and found private; NULL, logged, where it cannot be used. */
gchar *axon_cache_entry_path (const gchar *directory, const gchar *key);
/* One thread of the process works on an entry at a time. */
void axon_cache_lock (const gchar *path);
void axon_cache_unlock (const gchar *path);
GBytes *axon_cache_load (const gchar *path, gboolean map);
void axon_cache_drop (const gchar *path, const gchar *why);
void axon_cache_store (const gchar *path, guint max_mib, AxonCacheWriteFunc write,
                       gpointer user_data);
