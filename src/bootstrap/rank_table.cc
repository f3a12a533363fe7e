#include "bootstrap/rank_table.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "bootstrap/message.h"

namespace hcomm {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxIdBytes = 255;
constexpr std::size_t kShown = 40;

Status wrong(const std::string& where, const std::string& what) {
  return Status::failure(hcommInvalidArgument, "rank table: " + (where.empty() ? "" : where + ": ") + what);
}

// A value as people wrote it, cut.
std::string shown(const Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return "'" + printable(text.substr(0, kShown)) + "'" + (text.size() > kShown ? "..." : "");
  }
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  return std::string("a value of type ") + value.type_name();
}

const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

// A number, or a string of its digits: version 1.0 quotes all of them.
std::optional<int> number_of(const Json& value, int most) {
  std::uint64_t number = 0;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return {};
  } else if (value.is_number_unsigned()) {
    number = value.get<std::uint64_t>();
  } else {
    return {};
  }
  return number <= static_cast<std::uint64_t>(most) ? std::optional(static_cast<int>(number)) : std::nullopt;
}

Result<const Json*> list_of(const Json& object, const std::string& where, const char* name) {
  const Json* const list = member(object, name);
  if (list == nullptr || !list->is_array() || list->empty()) return wrong(where, std::string(name) + " is no list with entries");
  return list;
}

Result<std::string> text_of(const Json& object, const std::string& where, const char* name) {
  const Json* const value = member(object, name);
  if (value == nullptr) return wrong(where, std::string(name) + " is missing");
  const bool fits = value->is_string() && !value->get_ref<const std::string&>().empty() &&
                    value->get_ref<const std::string&>().size() <= kMaxIdBytes;
  if (!fits) return wrong(where, std::string(name) + " is " + shown(*value) + "; legal is a text of 1 to 255 characters");
  return printable(value->get_ref<const std::string&>());
}

// What the table says of how many entries there are must be true.
Status check_count(const Json& object, const std::string& where, const char* name, std::size_t entries) {
  const Json* const value = member(object, name);
  if (value == nullptr) return {};
  const std::optional<int> count = number_of(*value, kMaxMeetingRanks);
  if (count.has_value() && static_cast<std::size_t>(*count) == entries) return {};
  return wrong(where, std::string(name) + " is " + shown(*value) + ", but there are " + std::to_string(entries) + " entries");
}

// Gathers ranks in any order.
class Places {
 public:
  struct Place {
    std::string server;
    std::string where;
  };

  Status add(const Json& entry, const std::string& where, const std::string& server) {
    const Json* const value = entry.is_object() ? member(entry, "rank_id") : nullptr;
    if (value == nullptr) return wrong(where, "rank_id is missing");
    const std::optional<int> rank = number_of(*value, kMaxMeetingRanks - 1);
    if (!rank.has_value()) {
      return wrong(where, "rank_id is " + shown(*value) + "; legal are 0 to " + std::to_string(kMaxMeetingRanks - 1));
    }
    const auto index = static_cast<std::size_t>(*rank);
    if (index >= places_.size()) places_.resize(index + 1);
    if (places_[index].has_value()) {
      return wrong(where, "rank_id is " + std::to_string(*rank) + ", which " + places_[index]->where + " has already");
    }
    places_[index] = Place{server, where};
    return {};
  }

  Result<RankTable> finish(std::string first_address) const {
    RankTable table;
    for (std::size_t rank = 0; rank < places_.size(); ++rank) {
      if (!places_[rank].has_value()) {
        return wrong("", "rank_id " + std::to_string(rank) + " is missing; the largest is " + std::to_string(places_.size() - 1));
      }
      table.servers.push_back(places_[rank]->server);
    }
    table.first_address = std::move(first_address);
    return table;
  }

  bool has_first() const { return !places_.empty() && places_[0].has_value(); }

 private:
  std::vector<std::optional<Place>> places_;  // [rank]
};

// "server_list": servers with their devices. A server's id is its address; host_ip, where it is given, is a better one.
Result<RankTable> read_servers(const Json& root) {
  Result<const Json*> list = list_of(root, "", "server_list");
  if (!list.ok()) return std::move(list).status();
  if (Status status = check_count(root, "", "server_count", list.value()->size()); !status.ok()) return status;
  Places places;
  std::vector<std::string> ids;
  std::string first_address;
  for (const Json& server : *list.value()) {
    std::string where = "server " + std::to_string(ids.size());
    if (!server.is_object()) return wrong(where, "it is " + shown(server) + " and no object");
    Result<std::string> id = text_of(server, where, "server_id");
    if (!id.ok()) return std::move(id).status();
    where += " (" + id.value() + ")";
    if (std::ranges::find(ids, id.value()) != ids.end()) return wrong(where, "another server has this server_id");
    ids.push_back(id.value());
    std::string address = id.value();
    if (member(server, "host_ip") != nullptr) {
      Result<std::string> better = text_of(server, where, "host_ip");
      if (!better.ok()) return std::move(better).status();
      address = better.value();
    }
    Result<const Json*> devices = list_of(server, where, "device");
    if (!devices.ok()) return std::move(devices).status();
    for (std::size_t device = 0; device < devices.value()->size(); ++device) {
      const bool had_first = places.has_first();
      const std::string place = where + ", device " + std::to_string(device);
      if (Status status = places.add((*devices.value())[device], place, id.value()); !status.ok()) return status;
      if (!had_first && places.has_first()) first_address = address;
    }
  }
  return places.finish(first_address);
}

// The instance of layer 0 that a rank of version 2.0 belongs to, and its first address there.
struct Layer {
  std::string instance;
  std::string address;
};
Result<Layer> read_layer(const Json& entry, const std::string& where) {
  Result<const Json*> levels = list_of(entry, where, "level_list");
  if (!levels.ok()) return std::move(levels).status();
  for (const Json& level : *levels.value()) {
    const Json* const number = level.is_object() ? member(level, "net_layer") : nullptr;
    if (number == nullptr || number_of(*number, 0) != 0) continue;
    Result<std::string> instance = text_of(level, where, "net_instance_id");
    if (!instance.ok()) return std::move(instance).status();
    Result<const Json*> addresses = list_of(level, where, "rank_addr_list");
    if (!addresses.ok()) return std::move(addresses).status();
    if (!addresses.value()->front().is_object()) return wrong(where, "rank_addr_list holds what is no object");
    Result<std::string> address = text_of(addresses.value()->front(), where, "addr");
    if (!address.ok()) return std::move(address).status();
    return Layer{instance.value(), address.value()};
  }
  return wrong(where, "level_list has no entry with net_layer 0");
}

Result<RankTable> read_ranks(const Json& root) {
  Result<const Json*> list = list_of(root, "", "rank_list");
  if (!list.ok()) return std::move(list).status();
  if (Status status = check_count(root, "", "rank_count", list.value()->size()); !status.ok()) return status;
  Places places;
  std::string first_address;
  for (std::size_t index = 0; index < list.value()->size(); ++index) {
    const Json& entry = (*list.value())[index];
    const std::string where = "entry " + std::to_string(index) + " of rank_list";
    if (!entry.is_object()) return wrong(where, "it is " + shown(entry) + " and no object");
    Result<Layer> layer = read_layer(entry, where);
    if (!layer.ok()) return std::move(layer).status();
    const bool had_first = places.has_first();
    if (Status status = places.add(entry, where, layer.value().instance); !status.ok()) return status;
    if (!had_first && places.has_first()) first_address = layer.value().address;
  }
  return places.finish(first_address);
}

// Before anything is built: a file of brackets alone would cost a hundred times its size.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (in_text && letter == '\\') {
      ++i;
    } else if (letter == '"') {
      in_text = !in_text;
    } else if (!in_text && (letter == '[' || letter == '{')) {
      if (++depth > kMaxTableDepth) return true;
    } else if (!in_text && (letter == ']' || letter == '}')) {
      --depth;
    }
  }
  return false;
}

}  // namespace

bool RankTable::one_host() const {
  return std::ranges::all_of(servers, [&](const std::string& server) { return server == servers.front(); });
}

Result<RankTable> parse_rank_table(std::string_view text) {
  if (too_deep(text)) return wrong("", "brackets are nested more than " + std::to_string(kMaxTableDepth) + " deep");
  const Json root = Json::parse(text.begin(), text.end(), nullptr, false);
  if (root.is_discarded() || !root.is_object()) return wrong("", "the file is no JSON object");
  if (const Json* const status = member(root, "status"); status != nullptr && *status != "completed") {
    return wrong("", "status is " + shown(*status) + "; only a 'completed' table has all ranks");
  }
  Result<std::string> version = text_of(root, "", "version");
  if (!version.ok()) return std::move(version).status();
  if (version.value() == "2.0") return read_ranks(root);
  if (version.value().starts_with("1.")) return read_servers(root);
  return wrong("", "version is '" + version.value() + "'; known are 1.x and 2.0");
}

}  // namespace hcomm
