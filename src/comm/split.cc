#include "comm/split.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "bootstrap/job_id.h"
#include "comm/coordinators.h"
#include "comm/init.h"
#include "net/mac.h"

namespace hcomm {
namespace {

struct Wish {
  std::int64_t colour = 0;
  std::int64_t key = 0;
};

// What the first rank of a colour tells the others.
struct Invitation {
  std::int64_t code = hcommSuccess;
  JobIdBytes id{};  // with a number in place of its secret
};

// What each rank says, told to all.
template <class Word>
Result<std::vector<Word>> tell_all(Communicator& parent, const Word& own) {
  std::vector<Word> all(static_cast<std::size_t>(parent.ranks()));
  const Status status = parent.run(
      {.collective = Collective::allgather, .send = &own, .recv = all.data(), .count = sizeof(Word), .dtype = hcommUint8});
  if (!status.ok()) return Status::failure(status.code(), status.trail());
  return all;
}

// The ranks of a colour in the parent, in the order of their ranks in the new communicator.
std::vector<int> members_of(const std::vector<Wish>& wishes, std::int64_t colour) {
  std::vector<int> members;
  for (std::size_t rank = 0; rank < wishes.size(); ++rank) {
    if (wishes[rank].colour == colour) members.push_back(static_cast<int>(rank));
  }
  std::ranges::stable_sort(members, {}, [&](int rank) { return wishes[static_cast<std::size_t>(rank)].key; });
  return members;
}

Secret secret_of(const Communicator& parent, const Secret& number) { return code_of(parent.kin(), {number}); }

Result<JobIdBytes> invite(const Communicator& parent) {
  Result<JobId> made = make_job_id();
  if (!made.ok()) return std::move(made).status();
  JobId& job = made.value();
  const Secret number = job.secret;
  job.secret = secret_of(parent, number);
  if (Status status = serve(job, parent.settings()); !status.ok()) return status;
  job.secret = number;
  return to_bytes(job);
}

Result<hcommUniqueId> accept(const Communicator& parent, const Invitation& invitation, int from) {
  if (invitation.code != hcommSuccess) {
    const std::string who = "rank " + std::to_string(from) + ", the first of its colour, ";
    return Status::failure(hcommRemoteError, who + "could not serve the meeting of the new communicator; its own error says why");
  }
  Result<JobId> job = job_id_from_bytes(invitation.id);
  if (!job.ok()) return std::move(job).status();
  job.value().secret = secret_of(parent, job.value().secret);
  const JobIdBytes bytes = to_bytes(job.value());
  hcommUniqueId id;
  static_assert(sizeof id.internal == sizeof bytes);
  std::memcpy(id.internal, bytes.data(), bytes.size());
  return id;
}

}  // namespace

Result<std::unique_ptr<Communicator>> split(Communicator& parent, int colour, int key) {
  if (colour < 0 && colour != HCOMM_SPLIT_NOCOLOR) {
    return Status::failure(hcommInvalidArgument, "color " + std::to_string(colour) +
                                                     " is negative; legal are 0 and more, and HCOMM_SPLIT_NOCOLOR");
  }
  const Result<std::vector<Wish>> wishes = tell_all(parent, Wish{colour, key});
  if (!wishes.ok()) return Status::failure(wishes.status().code(), wishes.status().trail());
  const std::vector<int> members = members_of(wishes.value(), colour);
  const bool serves = colour >= 0 && members.size() > 1 && members.front() == parent.rank();

  Invitation own;
  Status trouble;
  if (serves) {
    Result<JobIdBytes> id = invite(parent);
    if (id.ok()) own.id = id.value();
    else trouble = std::move(id).status();
    own.code = trouble.code();
  }
  const Result<std::vector<Invitation>> invitations = tell_all(parent, own);
  if (!trouble.ok()) return trouble;
  if (!invitations.ok()) return Status::failure(invitations.status().code(), invitations.status().trail());
  if (colour < 0) return std::unique_ptr<Communicator>();
  if (members.size() == 1) return init_alone(parent.settings());
  const int first = members.front();
  const Result<hcommUniqueId> id = accept(parent, invitations.value()[static_cast<std::size_t>(first)], first);
  if (!id.ok()) return Status::failure(id.status().code(), id.status().trail());
  const auto rank = static_cast<int>(std::ranges::find(members, parent.rank()) - members.begin());
  return init_rank(static_cast<int>(members.size()), id.value(), rank, parent.settings());
}

}  // namespace hcomm
