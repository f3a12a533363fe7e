#include <hcomm/hcomm.h>

#include "api/boundary.h"
#include "api/handles.h"
#include "comm/group.h"

namespace hcomm {
namespace {

hcommResult_t collective(hcommComm_t comm, hcommStream_t stream, const CollectiveCall& call) {
  return boundary([&]() -> Status {
    Communicator* const communicator = find_communicator(comm);
    Status refused;
    if (communicator == nullptr) {
      refused = no_such_handle(comm);
    } else if (stream != nullptr) {
      refused = Status::failure(hcommInvalidArgument, "stream is not NULL: this version has no other streams");
    }
    if (!refused.ok()) return in_group() ? group_refuse(std::move(refused)) : std::move(refused);
    return in_group() ? group_record(*communicator, call) : communicator->run(call);
  });
}

}  // namespace
}  // namespace hcomm

using hcomm::Collective;
using hcomm::collective;

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
