#pragma once
// The same for tests.
#include <gtest/gtest.h>

#include "cmake/precompiled.h"
