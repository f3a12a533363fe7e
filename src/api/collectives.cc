#include <hcomm/hcomm.h>

#include "api/boundary.h"
#include "api/handles.h"
#include "comm/group.h"
#include "comm/vector_call.h"

namespace hcomm {
namespace {

// The communicator of a handle, if calls may be made in it. What is refused inside a group refuses the group.
Status refuse(Status why) { return in_group() ? group_refuse(std::move(why)) : std::move(why); }

Result<Communicator*> usable(hcommComm_t comm, hcommStream_t stream) {
  Communicator* const communicator = find_communicator(comm);
  if (communicator == nullptr) return refuse(no_such_handle(comm));
  if (stream != nullptr) {
    return refuse(Status::failure(hcommInvalidArgument, "stream is not NULL: this version has no other streams"));
  }
  return communicator;
}

hcommResult_t collective(hcommComm_t comm, hcommStream_t stream, const CollectiveCall& call) {
  return boundary([&]() -> Status {
    Result<Communicator*> found = usable(comm, stream);
    if (!found.ok()) return std::move(found).status();
    return in_group() ? group_record(*found.value(), call) : found.value()->run(call);
  });
}

hcommResult_t collective_v(hcommComm_t comm, hcommStream_t stream, const VectorCall& call) {
  return boundary([&]() -> Status {
    Result<Communicator*> found = usable(comm, stream);
    if (!found.ok()) return std::move(found).status();
    Communicator& communicator = *found.value();
    Result<UnequalParts> parts = UnequalParts::of(call, communicator.rank(), communicator.ranks());
    if (!parts.ok()) return refuse(std::move(parts).status());
    if (in_group()) return group_record(communicator, std::move(parts).value());
    return communicator.run(parts.value().call());
  });
}

}  // namespace
}  // namespace hcomm

using hcomm::Collective;
using hcomm::collective;
using hcomm::collective_v;

extern "C" {

hcommResult_t hcommAllReduce(const void* send, void* recv, size_t count, hcommDataType_t dtype, hcommRedOp_t op,
                             hcommComm_t comm, hcommStream_t stream) {
  return collective(comm, stream,
                    {.collective = Collective::allreduce, .send = send, .recv = recv, .count = count, .dtype = dtype, .op = op});
}

hcommResult_t hcommBroadcast(const void* send, void* recv, size_t count, hcommDataType_t dtype, int root, hcommComm_t comm,
                             hcommStream_t stream) {
  return collective(
      comm, stream,
      {.collective = Collective::broadcast, .send = send, .recv = recv, .count = count, .dtype = dtype, .root = root});
}

hcommResult_t hcommReduce(const void* send, void* recv, size_t count, hcommDataType_t dtype, hcommRedOp_t op, int root,
                          hcommComm_t comm, hcommStream_t stream) {
  return collective(comm, stream, {.collective = Collective::reduce,
                                   .send = send,
                                   .recv = recv,
                                   .count = count,
                                   .dtype = dtype,
                                   .op = op,
                                   .root = root});
}

hcommResult_t hcommReduceScatter(const void* send, void* recv, size_t recv_count, hcommDataType_t dtype, hcommRedOp_t op,
                                 hcommComm_t comm, hcommStream_t stream) {
  return collective(
      comm, stream,
      {.collective = Collective::reduce_scatter, .send = send, .recv = recv, .count = recv_count, .dtype = dtype, .op = op});
}

hcommResult_t hcommAllGather(const void* send, void* recv, size_t send_count, hcommDataType_t dtype, hcommComm_t comm,
                             hcommStream_t stream) {
  return collective(comm, stream,
                    {.collective = Collective::allgather, .send = send, .recv = recv, .count = send_count, .dtype = dtype});
}

hcommResult_t hcommGather(const void* send, void* recv, size_t send_count, hcommDataType_t dtype, int root, hcommComm_t comm,
                          hcommStream_t stream) {
  return collective(
      comm, stream,
      {.collective = Collective::gather, .send = send, .recv = recv, .count = send_count, .dtype = dtype, .root = root});
}

hcommResult_t hcommScatter(const void* send, void* recv, size_t recv_count, hcommDataType_t dtype, int root, hcommComm_t comm,
                           hcommStream_t stream) {
  return collective(
      comm, stream,
      {.collective = Collective::scatter, .send = send, .recv = recv, .count = recv_count, .dtype = dtype, .root = root});
}

hcommResult_t hcommAllToAll(const void* send, void* recv, size_t count, hcommDataType_t dtype, hcommComm_t comm,
                            hcommStream_t stream) {
  return collective(comm, stream,
                    {.collective = Collective::alltoall, .send = send, .recv = recv, .count = count, .dtype = dtype});
}

hcommResult_t hcommAllGatherV(const void* send, size_t send_count, void* recv, const size_t* recv_counts,
                              const size_t* recv_offsets, hcommDataType_t dtype, hcommComm_t comm, hcommStream_t stream) {
  return collective_v(comm, stream, {.collective = Collective::allgather,
                                     .send = send,
                                     .send_count = send_count,
                                     .recv = recv,
                                     .recv_counts = recv_counts,
                                     .recv_offsets = recv_offsets,
                                     .dtype = dtype});
}

hcommResult_t hcommReduceScatterV(const void* send, void* recv, const size_t* recv_counts, hcommDataType_t dtype,
                                  hcommRedOp_t op, hcommComm_t comm, hcommStream_t stream) {
  return collective_v(comm, stream, {.collective = Collective::reduce_scatter,
                                     .send = send,
                                     .send_counts = recv_counts,
                                     .recv = recv,
                                     .dtype = dtype,
                                     .op = op});
}

hcommResult_t hcommGatherV(const void* send, size_t send_count, void* recv, const size_t* recv_counts,
                           const size_t* recv_offsets, hcommDataType_t dtype, int root, hcommComm_t comm,
                           hcommStream_t stream) {
  return collective_v(comm, stream, {.collective = Collective::gather,
                                     .send = send,
                                     .send_count = send_count,
                                     .recv = recv,
                                     .recv_counts = recv_counts,
                                     .recv_offsets = recv_offsets,
                                     .dtype = dtype,
                                     .root = root});
}

hcommResult_t hcommScatterV(const void* send, const size_t* send_counts, const size_t* send_offsets, void* recv,
                            size_t recv_count, hcommDataType_t dtype, int root, hcommComm_t comm, hcommStream_t stream) {
  return collective_v(comm, stream, {.collective = Collective::scatter,
                                     .send = send,
                                     .send_counts = send_counts,
                                     .send_offsets = send_offsets,
                                     .recv = recv,
                                     .recv_count = recv_count,
                                     .dtype = dtype,
                                     .root = root});
}

hcommResult_t hcommAllToAllV(const void* send, const size_t* send_counts, const size_t* send_offsets, void* recv,
                             const size_t* recv_counts, const size_t* recv_offsets, hcommDataType_t dtype, hcommComm_t comm,
                             hcommStream_t stream) {
  return collective_v(comm, stream, {.collective = Collective::alltoall,
                                     .send = send,
                                     .send_counts = send_counts,
                                     .send_offsets = send_offsets,
                                     .recv = recv,
                                     .recv_counts = recv_counts,
                                     .recv_offsets = recv_offsets,
                                     .dtype = dtype});
}

hcommResult_t hcommBarrier(hcommComm_t comm, hcommStream_t stream) {
  return collective(comm, stream, {.collective = Collective::barrier});
}

hcommResult_t hcommGroupStart(void) {
  return hcomm::boundary([]() -> hcomm::Status {
    hcomm::group_start();
    return {};
  });
}

hcommResult_t hcommGroupEnd(void) {
  return hcomm::boundary([]() -> hcomm::Status { return hcomm::group_end(); });
}

}  // extern "C"
