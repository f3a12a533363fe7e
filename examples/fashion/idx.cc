#include "idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <system_error>

namespace fashion {

namespace {

constexpr std::uint8_t kUnsignedByte = 8;          // the only element type of these files
constexpr std::uint64_t kMaxBytes = 256ULL << 20;  // five times the largest file known

// A gzipped file, read from front to back. Every failure names the file.
class GzipFile {
 public:
  explicit GzipFile(const std::string& path) : path_(path) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    if (error) {
      fail("cannot be read: " + error.message() +
           " (Debian's package dataset-fashion-mnist has it; --data names another folder)");
    }
    if (bytes > kMaxBytes) fail("has more than 256 MiB");
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(std::string("cannot be opened: ") + std::strerror(errno));
    compressed_.assign(std::istreambuf_iterator<char>(file), {});
    if (inflateInit2(&stream_, MAX_WBITS + kGzipHeader) != Z_OK) fail("cannot be unpacked: zlib has no memory");
    stream_.next_in = reinterpret_cast<Bytef*>(compressed_.data());
    stream_.avail_in = static_cast<uInt>(compressed_.size());
  }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile() { inflateEnd(&stream_); }

  // Fills all of `target`.
  void read(std::span<std::uint8_t> target) {
    const std::size_t got = unpack(target);
    if (got != target.size()) {
      fail("is truncated: " + std::to_string(target.size()) + " bytes were expected, " + std::to_string(got) + " are there");
    }
  }

  // Nothing may follow but the checksum, which zlib compares.
  void expect_end() {
    std::array<std::uint8_t, 1> surplus{};
    if (unpack(surplus) != 0 || stream_.avail_in != 0) fail("is longer than its header says");
    if (!ended_) fail("is truncated: the checksum at its end is missing");
  }

  [[noreturn]] void fail(const std::string& what) const { throw std::runtime_error(path_ + " " + what); }

 private:
  static constexpr int kGzipHeader = 16;  // zlib's way to ask for a gzip header and trailer

  // Unpacks up to target.size() bytes; fewer only where the file ends.
  std::size_t unpack(std::span<std::uint8_t> target) {
    stream_.next_out = target.data();
    stream_.avail_out = static_cast<uInt>(target.size());
    while (!ended_ && stream_.avail_out != 0) {
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_BUF_ERROR) break;  // no more input
      if (code != Z_OK && code != Z_STREAM_END) fail(std::string("is damaged: ") + (stream_.msg ? stream_.msg : zError(code)));
      ended_ = code == Z_STREAM_END;
    }
    return target.size() - stream_.avail_out;
  }

  std::string path_;
  std::vector<char> compressed_;
  z_stream stream_{};
  bool ended_ = false;
};

std::uint32_t big_endian(std::span<const std::uint8_t, 4> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

// An array of bytes: 0, 0, type, number of dimensions, the sizes (4 bytes each), the data.
struct Array {
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint8_t> data;
};

Array read_array(const std::string& path, std::size_t dimensions) {
  GzipFile file(path);
  std::array<std::uint8_t, 4> word{};
  file.read(word);
  if (word[0] != 0 || word[1] != 0 || word[2] != kUnsignedByte || word[3] != dimensions) {
    file.fail("is not an IDX file of bytes in " + std::to_string(dimensions) + " dimensions");
  }
  Array array;
  std::uint64_t bytes = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    file.read(word);
    array.sizes.push_back(big_endian(word));
    bytes *= array.sizes.back();  // cannot wrap: the product so far is at most kMaxBytes
    if (bytes == 0 || bytes > kMaxBytes) file.fail("claims a size of zero or of more than 256 MiB");
  }
  array.data.resize(bytes);
  file.read(array.data);
  file.expect_end();
  return array;
}

}  // namespace

Dataset read_dataset(const std::string& folder, const std::string& name) {
  const std::string images_path = folder + "/" + name + "-images-idx3-ubyte.gz";
  const std::string labels_path = folder + "/" + name + "-labels-idx1-ubyte.gz";
  Array images = read_array(images_path, 3);
  Array labels = read_array(labels_path, 1);
  if (std::size_t{images.sizes[1]} * images.sizes[2] != kPixels) {
    throw std::runtime_error(images_path + " holds pictures of " + std::to_string(images.sizes[1]) + " x " +
                             std::to_string(images.sizes[2]) + " pixels, not 28 x 28");
  }
  if (images.sizes[0] != labels.sizes[0]) {
    throw std::runtime_error(labels_path + " has " + std::to_string(labels.sizes[0]) + " labels for " +
                             std::to_string(images.sizes[0]) + " pictures");
  }
  if (std::ranges::max(labels.data) >= kClasses) {
    throw std::runtime_error(labels_path + " has a label above " + std::to_string(kClasses - 1));
  }
  return {.count = images.sizes[0], .pixels = std::move(images.data), .labels = std::move(labels.data)};
}

}  // namespace fashion
