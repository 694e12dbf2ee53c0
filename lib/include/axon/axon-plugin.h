/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a device plugin's author includes besides <axon/axon.h>. */
#pragma once

#include <gmodule.h>

#include <axon/plugin/axonwork.h>
#include <axon/plugin/axonmemory.h>
#include <axon/plugin/axonop.h>
#include <axon/plugin/axonattr.h>
#include <axon/plugin/axongraph.h>
#include <axon/plugin/axonopset.h>
#include <axon/plugin/axonbuiltins.h>
#include <axon/plugin/axonwindow.h>
#include <axon/plugin/axonproduct.h>
#include <axon/plugin/axonframe.h>
#include <axon/plugin/axoneval.h>
#include <axon/plugin/axonpass.h>
#include <axon/plugin/axonquant.h>
#include <axon/plugin/axonpartition.h>
#include <axon/plugin/axonplan.h>
#include <axon/plugin/axonplancache.h>
#include <axon/plugin/axonblob.h>
#include <axon/plugin/axonproperty.h>
#include <axon/plugin/axonexecutor.h>
#include <axon/plugin/axonextension.h>
#include <axon/plugin/axondevices.h>
#include <axon/plugin/axonplugin.h>
#include <axon/plugin/axonprobe.h>
#include <axon/plugin/axoncompiledmodel.h>
#include <axon/plugin/axoninferrequest.h>
#include <axon/plugin/axonscheduler.h>
#include <axon/plugin/axoncandidates.h>
