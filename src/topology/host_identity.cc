#include "topology/host_identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace hcomm {
namespace {

std::string boot(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (file >> text) return text;
  char host[256] = {};
  return gethostname(host, sizeof host - 1) == 0 && host[0] != '\0' ? host : "unknown";
}

}  // namespace

std::string machine_identity(const IdentityPaths& paths) { return "boot:" + boot(paths.boot_id); }

std::string host_identity(const IdentityPaths& paths) {
  std::string identity = machine_identity(paths);
  for (const char* const space : {"net", "user"}) {
    struct stat facts {};
    const bool known = stat((paths.namespaces + "/" + space).c_str(), &facts) == 0;
    identity.append(";").append(space).append(":");
    identity.append(known ? std::to_string(facts.st_dev) + "." + std::to_string(facts.st_ino) : "unknown");
  }
  return identity + ";uid:" + std::to_string(geteuid());
}

}  // namespace hcomm
