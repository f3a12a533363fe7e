#include <hcomm/hcomm.h>

#include <string>
#include <vector>

#include "api/boundary.h"
#include "api/handles.h"
#include "comm/group.h"
#include "comm/init.h"
#include "comm/split.h"

namespace hcomm {
namespace {

Status null_argument(const char* name) {
  return Status::failure(hcommInvalidArgument, std::string(name) + " is NULL: it is where the answer goes");
}

Status outside_group(const char* function) {
  if (!in_group()) return {};
  return group_refuse(Status::failure(hcommInvalidUsage, std::string(function) + " cannot be part of a group"));
}

// Makes one communicator by `make` and its handle in *comm, which is NULL after a failure, or where there is none for this rank.
template <class Make>  // Make: () -> Result<std::unique_ptr<Communicator>>
Status make_one(hcommComm_t* comm, const char* function, Make&& make) {
  if (comm == nullptr) return null_argument("the new communicator's handle");
  *comm = nullptr;
  if (Status status = outside_group(function); !status.ok()) return status;
  Result<std::unique_ptr<Communicator>> made = make();
  if (!made.ok()) return std::move(made).status();
  if (made.value() == nullptr) return {};
  Result<hcommComm_t> handle = add_handle(std::move(made).value());
  if (!handle.ok()) return std::move(handle).status();
  *comm = handle.value();
  return {};
}

Status make_from(hcommComm_t comm, hcommComm_t* newcomm, const char* function, int color, int key) {
  return make_one(newcomm, function, [&]() -> Result<std::unique_ptr<Communicator>> {
    Communicator* const parent = find_communicator(comm);
    if (parent == nullptr) return no_such_handle(comm);
    return split(*parent, color, key);
  });
}

Status make_all(hcommComm_t* comms, int size) {
  if (comms == nullptr) return null_argument("comms");
  for (int rank = 0; rank < size && size <= kMaxInitAllRanks; ++rank) comms[rank] = nullptr;
  if (Status status = outside_group("hcommCommInitAll"); !status.ok()) return status;
  auto made = init_all(size);
  if (!made.ok()) return std::move(made).status();
  for (int rank = 0; rank < size; ++rank) {
    Result<hcommComm_t> handle = add_handle(std::move(made.value()[static_cast<std::size_t>(rank)]));
    if (!handle.ok()) {
      for (int made_before = 0; made_before < rank; ++made_before) {
        take_communicator(comms[made_before]);
        comms[made_before] = nullptr;
      }
      return std::move(handle).status();
    }
    comms[rank] = handle.value();
  }
  return {};
}

// Asks a live communicator; the answer goes to *answer.
template <class Answer, class Ask>  // Ask: (Communicator&) -> Answer
hcommResult_t ask(hcommComm_t comm, Answer* answer, const char* name, Ask&& question) {
  return boundary([&]() -> Status {
    Communicator* const communicator = find_communicator(comm);
    if (communicator == nullptr) return no_such_handle(comm);
    if (answer == nullptr) return null_argument(name);
    *answer = question(*communicator);
    return {};
  });
}

}  // namespace
}  // namespace hcomm

using hcomm::boundary;
using hcomm::Communicator;
using hcomm::Status;

extern "C" {

hcommResult_t hcommGetUniqueId(hcommUniqueId* id) {
  return boundary([&]() -> Status {
    if (id == nullptr) return hcomm::null_argument("id");
    return hcomm::make_unique_id(*id);
  });
}

hcommResult_t hcommCommInitRank(hcommComm_t* comm, int size, hcommUniqueId id, int rank) {
  return boundary([&] { return hcomm::make_one(comm, "hcommCommInitRank", [&] { return hcomm::init_rank(size, id, rank); }); });
}

hcommResult_t hcommCommInitEnv(hcommComm_t* comm) {
  return boundary([&] { return hcomm::make_one(comm, "hcommCommInitEnv", [] { return hcomm::init_env(); }); });
}

hcommResult_t hcommCommInitAll(hcommComm_t* comms, int size) {
  return boundary([&] { return hcomm::make_all(comms, size); });
}

hcommResult_t hcommCommSplit(hcommComm_t comm, int color, int key, hcommComm_t* newcomm) {
  return boundary([&] { return hcomm::make_from(comm, newcomm, "hcommCommSplit", color, key); });
}

hcommResult_t hcommCommDup(hcommComm_t comm, hcommComm_t* newcomm) {
  return boundary([&] { return hcomm::make_from(comm, newcomm, "hcommCommDup", 0, 0); });
}

hcommResult_t hcommCommDestroy(hcommComm_t comm) {
  return boundary([&]() -> Status {
    if (comm == nullptr) return {};
    if (Status status = hcomm::outside_group("hcommCommDestroy"); !status.ok()) return status;
    return hcomm::take_communicator(comm) != nullptr ? Status() : hcomm::no_such_handle(comm);
  });
}

hcommResult_t hcommCommAbort(hcommComm_t comm) {
  return boundary([&]() -> Status {
    Communicator* const communicator = hcomm::find_communicator(comm);
    if (communicator == nullptr) return hcomm::no_such_handle(comm);
    communicator->abort();
    return {};
  });
}

hcommResult_t hcommCommCount(hcommComm_t comm, int* count) {
  return hcomm::ask(comm, count, "count", [](Communicator& communicator) { return communicator.ranks(); });
}

hcommResult_t hcommCommUserRank(hcommComm_t comm, int* rank) {
  return hcomm::ask(comm, rank, "rank", [](Communicator& communicator) { return communicator.rank(); });
}

hcommResult_t hcommCommGetAsyncError(hcommComm_t comm, hcommResult_t* result) {
  return hcomm::ask(comm, result, "result", [](Communicator& communicator) { return communicator.async_error(); });
}

}  // extern "C"
