#pragma once
// The same for tests.
#include "cmake/precompiled.h"

#include <gtest/gtest.h>
