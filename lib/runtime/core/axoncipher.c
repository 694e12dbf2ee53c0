/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an application gives to keep entries of the cache secret. */
#include "axoncompile-private.h"

struct _AxonCipher {
  gatomicrefcount ref_count;
  AxonCipherFunc encrypt, decrypt;
  gpointer user_data;
  GDestroyNotify destroy;
};

void
axon_cipher_unref (AxonCipher *cipher)
{
  if (!g_atomic_ref_count_dec (&cipher->ref_count))
    return;
  if (cipher->destroy != NULL)
    cipher->destroy (cipher->user_data);
  g_free (cipher);
}

/* The core's at the moment (transfer full); NULL: entries are not encrypted. */
AxonCipher *
axon_core_get_cipher (AxonCore *core)
{
  AxonCipher *cipher;
  g_mutex_lock (&core->lock);
  cipher = core->cipher;
  if (cipher != NULL)
    g_atomic_ref_count_inc (&cipher->ref_count);
  g_mutex_unlock (&core->lock);
  return cipher;
}

GBytes *
axon_cipher_encrypt (AxonCipher *cipher, GBytes *bytes, GError **error)
{
  return cipher->encrypt (bytes, cipher->user_data, error);
}

GBytes *
axon_cipher_decrypt (AxonCipher *cipher, GBytes *bytes, GError **error)
{
  return cipher->decrypt (bytes, cipher->user_data, error);
}

/**
 * axon_core_set_cache_encryption:
 * @core: a core
 * @encrypt: (nullable) (scope notified) (closure user_data): makes of a whole entry what is
 * written; %NULL: entries are written as they are
 * @decrypt: (nullable) (scope forever) (closure user_data): the reverse
 * @user_data: given to both
 * @destroy: (nullable): frees @user_data once nobody uses it
 *
 * Entries of the cache written from now on are encrypted, and only such are read. Both functions
 * may be called from several threads at a time. An entry that cannot be decrypted is dropped, and
 * the model is compiled. Encrypted entries cannot be mapped into memory.
 *
 * Since: 1.0
 */
void
axon_core_set_cache_encryption (AxonCore *core, AxonCipherFunc encrypt, AxonCipherFunc decrypt,
                                gpointer user_data, GDestroyNotify destroy)
{
  AxonCipher *cipher = NULL, *old;
  g_return_if_fail (AXON_IS_CORE (core) && (encrypt == NULL) == (decrypt == NULL));
  if (encrypt != NULL) {
    cipher = g_new0 (AxonCipher, 1);
    g_atomic_ref_count_init (&cipher->ref_count);
    cipher->encrypt = encrypt;
    cipher->decrypt = decrypt;
    cipher->user_data = user_data;
    cipher->destroy = destroy;
  }
  g_mutex_lock (&core->lock);
  old = core->cipher;
  core->cipher = cipher;
  g_mutex_unlock (&core->lock);
  g_clear_pointer (&old, axon_cipher_unref);
}
