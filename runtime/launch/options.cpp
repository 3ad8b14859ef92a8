#include "launch/options.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <functional>
#include <string_view>

#include "launch/failure.h"
#include "launch/nearest.h"

namespace oneflow::launch {

namespace {

constexpr int kMostRanks = 1 << 16;

[[noreturn]] void refuse(const std::string& text) { throw Failure(text, kWrongUsage); }

template <class Number>
Number number_of(const std::string& option, const std::string& text, Number least, Number most, const char* what) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= least && number <= most))
    refuse(option + " must be " + what + ", got '" + text + "'");
  return number;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

struct Option {
  const char* name;
  const char* value;    // what it is called in the help; NULL: there is none
  bool is_of_program;   // it is about the program that follows, and not about the job
  const char* purpose;  // NULL: the option is not for users
  void (*set)(Options&, Program&, const std::string& value);
};

const Option kOptions[] = {
    {"-n", "N", true, "start N ranks of the program; default: one for each processor, or one of each program",
     [](Options&, Program& program, const std::string& value) {
       program.ranks = number_of("-n", value, 1, kMostRanks, "a number of ranks");
     }},
    {"--tag", nullptr, false, "begin each line of output with the rank that wrote it; default with several ranks",
     [](Options& options, Program&, const std::string&) { options.has_tags = true; }},
    {"--no-tag", nullptr, false, "leave lines as they are",
     [](Options& options, Program&, const std::string&) { options.has_tags = false; }},
    {"--output", "DIR", false, "write the output of each rank to DIR/rank-0.out and DIR/rank-0.err, too",
     [](Options& options, Program&, const std::string& value) { options.output_folder = value; }},
    {"--threads", "N", false, "let each rank use N threads; default: the processors of its host, shared out",
     [](Options& options, Program&, const std::string& value) {
       options.threads = number_of("--threads", value, 1, 1024, "a number of threads, at most 1024");
     }},
    {"--grace", "S", false, "kill ranks S seconds after what should end them: 5 after a signal, 0.5 after a failure",
     [](Options& options, Program&, const std::string& value) {
       options.grace_s = number_of("--grace", value, 0.0, 1e6, "a number of seconds");
     }},
    {"--restarts", "N", false, "after a failure, start the whole job again, at most N times",
     [](Options& options, Program&, const std::string& value) {
       options.restarts = number_of("--restarts", value, 0, 1'000'000, "a number of restarts");
     }},
    {"--dry-run", nullptr, false, "say what would be started",
     [](Options& options, Program&, const std::string&) { options.mode = Options::dry_run; }},
    {"--hosts", "A:4,B:4", false, "run 4 ranks on each of these hosts; the first has rank 0",
     [](Options& options, Program&, const std::string& value) {
       for (const std::string& host : split(value, ',')) options.hosts.push_back(read_slots(host));
       if (options.hosts.empty()) refuse("--hosts names no host");
     }},
    {"--hostfile", "FILE", false, "the same from a file, with a host in each line",
     [](Options& options, Program&, const std::string& value) {
       const std::vector<Slots> hosts = read_hostfile(value);
       options.hosts.insert(options.hosts.end(), hosts.begin(), hosts.end());
     }},
    {"--remote-shell", "CMD", false, "how a command is run on another host; default: ssh -o BatchMode=yes",
     [](Options& options, Program&, const std::string& value) {
       options.remote_shell = split(value, ' ');
       if (options.remote_shell.empty()) refuse("--remote-shell must be a command, got '" + value + "'");
     }},
    {"--remote-program", "PATH", false, "the path of oneflow-run on other hosts; default: that of this one",
     [](Options& options, Program&, const std::string& value) { options.remote_program = value; }},
    {"--export", "NAME", false, "pass the variable to ranks on other hosts, as those named ONEFLOW_*",
     [](Options& options, Program&, const std::string& value) {
       for (const std::string& name : split(value, ',')) options.exported.push_back(name);
     }},
    {"--address", "A", false, "the address, or the network interface, at which other hosts reach that of rank 0",
     [](Options& options, Program&, const std::string& value) { options.address = value; }},
    {"--port", "P", false, "the port of rank 0 at which all ranks meet; default: one that is free",
     [](Options& options, Program&, const std::string& value) {
       options.port = number_of("--port", value, 1, 65535, "a port");
     }},
    {"--help", nullptr, false, "print this text",
     [](Options& options, Program&, const std::string&) { options.mode = Options::help; }},
    {"--version", nullptr, false, "print the version",
     [](Options& options, Program&, const std::string&) { options.mode = Options::version; }},
    {"--end-with", "PROCESS", false, nullptr,
     [](Options& options, Program&, const std::string& value) {
       options.parent = number_of("--end-with", value, 1, INT_MAX, "a process");
     }},
    {"--report", "DESCRIPTOR", false, nullptr,
     [](Options& options, Program&, const std::string& value) {
       options.report = number_of("--report", value, 0, INT_MAX, "a descriptor");
     }},
    {"--hold", nullptr, false, nullptr,
     [](Options& options, Program&, const std::string&) { options.mode = Options::hold; }},
    {"--node", nullptr, false, nullptr,
     [](Options& options, Program&, const std::string&) { options.mode = Options::node; }},
};

const Option& find_option(const std::string& name) {
  const auto found = std::ranges::find_if(kOptions, [&](const Option& option) { return name == option.name; });
  if (found != std::end(kOptions)) return *found;
  std::vector<std::string> names;
  for (const Option& option : kOptions)
    if (option.purpose) names.push_back(option.name);
  const std::string near = nearest(name, names);
  refuse("unknown option " + name + (near.empty() ? "; --help lists all" : "; did you mean " + near + "?"));
}

bool is_help(const Options& options) { return options.mode == Options::help || options.mode == Options::version; }

}  // namespace

Options read_options(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  Options options;
  size_t next = 0;
  do {
    Program& program = options.programs.emplace_back();
    // The options before a program.
    while (next < words.size() && words[next].size() > 1 && words[next].front() == '-') {
      std::string name = words[next++];
      if (name == "--") break;
      std::optional<std::string> value;
      if (const size_t equals = name.find('='); name.starts_with("--") && equals != std::string::npos) {
        value = name.substr(equals + 1);
        name.resize(equals);
      } else if (name.starts_with("-n") && name.find_first_not_of("0123456789", 2) == std::string::npos) {
        if (name.size() > 2) value = name.substr(2);
        name.resize(2);
      }
      const Option& option = find_option(name);
      if (!option.is_of_program && options.programs.size() > 1)
        refuse(name + " is about the whole job: it must be before the first program");
      if (option.value == nullptr && value) refuse(name + " takes no value");
      if (option.value != nullptr && !value) {
        if (next == words.size()) refuse(name + " needs a value: " + name + " " + option.value);
        value = words[next++];
      }
      option.set(options, program, value.value_or(""));
      if (is_help(options)) return options;
    }
    // A colon ends it.
    while (next < words.size() && words[next] != ":") program.arguments.push_back(words[next++]);
    if (program.arguments.empty() && options.mode != Options::node && options.mode != Options::hold)
      refuse(options.programs.size() == 1 ? "which program? oneflow-run -n 4 python train.py"
                                          : "a program is missing after ':'");
  } while (next++ < words.size());
  return options;
}

std::string help_text() {
  std::string text =
      "Starts the processes (ranks) of a job on one or several hosts, and ends them together.\n\n"
      "Usage: oneflow-run [OPTION...] PROGRAM [ARGUMENT...] [: [-n N] PROGRAM [ARGUMENT...]]...\n\n"
      "  oneflow-run -n 4 python train.py\n"
      "  oneflow-run -n 2 python a.py : -n 1 node b.js : -n 1 ruby c.rb\n"
      "  oneflow-run --hosts a:4,b:4 python train.py\n\n";
  for (const Option& option : kOptions) {
    if (option.purpose == nullptr) continue;
    std::string left = std::string("  ") + option.name + (option.value ? std::string(" ") + option.value : "");
    left.resize(std::max<size_t>(left.size() + 2, 26), ' ');
    text += left + option.purpose + "\n";
  }
  text +=
      "\nEach rank has ONEFLOW_RANK, ONEFLOW_WORLD_SIZE, ONEFLOW_LOCAL_RANK, ONEFLOW_LOCAL_WORLD_SIZE, "
      "ONEFLOW_MEETING,\n"
      "ONEFLOW_SECRET and ONEFLOW_RESTART in its environment, with hosts also ONEFLOW_LISTEN; and "
      "ONEFLOW_NUM_THREADS,\n"
      "unless it is set already. Standard input goes to rank 0.\n\n"
      "The exit status is that of the first rank that fails, 128 + N if signal N killed it; 127 if there is no such\n"
      "program, 126 if it cannot be run, 2 if an option is wrong.\n\n"
      "Ranks on several hosts authenticate each other, but what they send is not encrypted: use a network that you\n"
      "trust.\n";
  return text;
}

}  // namespace oneflow::launch
