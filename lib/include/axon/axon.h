/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The only header that an application includes. */
#pragma once

#include <axon/axonapi.h>
#include <axon/axondtype.h>
#include <axon/axonerror.h>
#include <axon/axonshape.h>
#include <axon/axontensor.h>
#include <axon/axonmodel.h>
#include <axon/axonimage.h>
#include <axon/axonprepost.h>
#include <axon/axonpreprocess.h>
#include <axon/axonmodeldescription.h>
#include <axon/axoncore.h>
