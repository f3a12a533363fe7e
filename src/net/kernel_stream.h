// A TCP socket as a Stream, and one that listens. Inner part of the kernel's network.
#pragma once

#include <string>

#include "net/network.h"
#include "net/watch_table.h"

namespace hcomm {

class KernelStream final : public Stream {
 public:
  // `error` is what connect() said, 0 or the errno.
  KernelStream(WatchTable& table, WatchTable::Id id, const Address& peer, bool connected, int error)
      : table_(table), id_(id), peer_(peer), connected_(connected), error_(error) {}
  KernelStream(const KernelStream&) = delete;
  KernelStream& operator=(const KernelStream&) = delete;
  ~KernelStream() override { table_.remove(id_); }

  IoResult read(std::span<const Bytes> parts) override;
  IoResult write(std::span<const ConstBytes> parts) override;
  void set_watcher(Watcher& watcher) override { table_.set_watcher(id_, watcher); }
  std::size_t unsent() const override;
  bool connected() const override;
  Address peer() const override { return peer_; }
  std::string failure() const override;
  bool refused() const override;

 private:
  IoResult moved_or_failed(ssize_t moved);
  void look_whether_made() const;

  WatchTable& table_;
  const WatchTable::Id id_;
  const Address peer_;
  // What the system says when asked, so that asking changes them.
  mutable bool connected_;
  mutable int error_;
};

class KernelListener final : public Listener {
 public:
  KernelListener(WatchTable& table, WatchTable::Id id, const Address& address) : table_(table), id_(id), address_(address) {}
  KernelListener(const KernelListener&) = delete;
  KernelListener& operator=(const KernelListener&) = delete;
  ~KernelListener() override { table_.remove(id_); }

  std::unique_ptr<Stream> accept(Watcher& watcher) override;
  Address address() const override { return address_; }

 private:
  WatchTable& table_;
  const WatchTable::Id id_;
  const Address address_;
};

}  // namespace hcomm
