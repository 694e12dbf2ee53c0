/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The only header that an application includes. */
#pragma once

#include "base/axondtype.h"
#include "base/axonerror.h"
#include "base/axonshape.h"
#include "tensor/axontensor.h"
#include "model/axonmodel.h"
#include "ops/axonimage.h"
#include "preprocess/axonprepost.h"
#include "preprocess/axonpreprocess.h"
#include "runtime/core/axoncore.h"
