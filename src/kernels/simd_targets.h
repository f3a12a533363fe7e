// Which of Highway's targets are compiled; included before Highway. sets_<architecture>.cc names the same ones.
#pragma once

#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
