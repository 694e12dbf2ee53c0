/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys of device TEMPLATE. */
#pragma once

/**
 * AXON_TEMPLATE_DISABLE_TRANSFORMATIONS:
 *
 * `YES`: run the model as it was read, without any pass.
 *
 * Since: 1.0
 */
#define AXON_TEMPLATE_DISABLE_TRANSFORMATIONS "DISABLE_TRANSFORMATIONS"
