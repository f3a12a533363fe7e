// The IDX files of Fashion-MNIST (and MNIST): gzipped arrays of bytes behind a header of big-endian sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fashion {

inline constexpr std::size_t kPixels = 28 * 28;
inline constexpr std::size_t kClasses = 10;

// `count` pictures of kPixels grey values, row after row, and the class of each, below kClasses.
struct Dataset {
  std::size_t count = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
};

// Reads FOLDER/NAME-images-idx3-ubyte.gz and FOLDER/NAME-labels-idx1-ubyte.gz. Throws std::runtime_error, which names the file
// and what is wrong with it, if one is missing, damaged, too short, too long, or not what its header says.
Dataset read_dataset(const std::string& folder, const std::string& name);

}  // namespace fashion
