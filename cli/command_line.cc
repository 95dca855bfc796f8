// Parsing, help pages and the one place where errors become a line on stderr and an exit code.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <numeric>
#include <sstream>
#include <system_error>

#include "base/error.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/number_option.h"
#include "cli/print_json.h"
#include "cli/say.h"
#include "cli/version.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {
namespace {

Error usage_error(const std::string& message) { return Error(ExitCode::kUsage, message); }

// Kernels that run on the host share its processors; those of a device are one call of one thread.
int default_threads(const Backend& backend) { return backend.workers().candidates_run_on_host() ? backend.target().device.units : 1; }

GlobalOptions global_of(const po::variables_map& values) {
  GlobalOptions global;
  global.json = values["json"].as<bool>();
  global.quiet = values["quiet"].as<bool>();
  if (values.count("device")) global.backend = &backend_named(values["device"].as<std::string>());
  global.threads = values.count("threads") ? values["threads"].as<int>() : default_threads(*global.backend);
  global.cache_dir = values.count("cache") ? values["cache"].as<std::string>() : default_cache_dir();
  return global;
}

int print_version(bool json) {
  if (json) print_json(version_json());
  else fmt::print("{}", version_text());
  return 0;
}

void print_overview() {
  fmt::print(
      "Amdahl makes a neural network run faster on this machine: it measures where the time goes, rewrites the kernels\n"
      "that are worth it, and keeps what is proven faster.\n\n"
      "usage: amdahl COMMAND [arguments] [options]\n\n");
  for (const Command* command : commands()) fmt::print("  {:<10} {}\n", command->name, command->summary);
  fmt::print(
      "\nMODEL is an ONNX file, or builtin:NAME for one of `amdahl models`.\n"
      "`amdahl COMMAND --help` shows the options of a command, `amdahl --version` which program this is.\n");
}

void print_help(const Command& command, const Options& options) {
  fmt::print("usage: amdahl {} {}\n\n{}\n", command.name, command.usage, command.summary);
  if (!command.details.empty()) fmt::print("\n{}\n", command.details);
  std::ostringstream text;
  if (!options.named.options().empty()) text << "\n" << options.named;
  text << "\n" << global_options();
  fmt::print("{}", text.str());
}

// Boost names its errors by what its parser saw; these say which option, and what to do.
std::string explain(const po::error& error, const Command& command, const std::vector<std::string>& known) {
  const std::string help = fmt::format("`amdahl {} --help` lists the options", command.name);
  if (const auto* e = dynamic_cast<const po::unknown_option*>(&error)) {
    const std::string near = nearest(e->get_option_name(), known);
    return fmt::format("unknown option '{}'{}; {}", e->get_option_name(), near.empty() ? "" : fmt::format(", did you mean {}?", near), help);
  }
  if (const auto* e = dynamic_cast<const po::invalid_option_value*>(&error)) return fmt::format("{}; {}", e->what(), help);
  if (dynamic_cast<const po::too_many_positional_options_error*>(&error))
    return fmt::format("too many arguments (put braces in quotes, or the shell splits them into several words); usage: amdahl {} {}", command.name,
                       command.usage);
  return fmt::format("{}; {}", error.what(), help);
}

int run_command(const Command& command, const std::vector<std::string>& arguments) {
  Options options;
  if (command.declare) command.declare(options);
  po::options_description all;
  all.add(options.named).add(options.words).add(global_options());
  std::vector<std::string> known;
  for (const auto& option : all.options()) known.push_back("--" + option->long_name());

  po::variables_map values;
  try {
    using namespace po::command_line_style;
    const int style = unix_style & ~allow_guessing;  // a guessed option changes meaning when another is added
    po::store(po::command_line_parser(arguments).options(all).positional(options.positional).style(style).run(), values);
    if (values["help"].as<bool>()) {
      print_help(command, options);
      return 0;
    }
    if (values["version"].as<bool>()) return print_version(values["json"].as<bool>());
    po::notify(values);
  } catch (const po::error& error) {
    throw usage_error(explain(error, command, known));
  }
  return command.run(values, global_of(values));
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print_overview();
    return static_cast<int>(ExitCode::kUsage);
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    print_overview();
    return 0;
  }
  if (name == "--version" || name == "version") return print_version(std::find(arguments.begin(), arguments.end(), "--json") != arguments.end());
  std::vector<std::string> names;
  for (const Command* command : commands()) {
    if (command->name == name) return run_command(*command, {arguments.begin() + 1, arguments.end()});
    names.emplace_back(command->name);
  }
  if (name == kPeerArmCommand.name) return run_command(kPeerArmCommand, {arguments.begin() + 1, arguments.end()});
  const std::string near = nearest(name, names);
  throw usage_error(
      fmt::format("unknown command '{}'{}; `amdahl --help` lists the commands", name, near.empty() ? "" : fmt::format(", did you mean '{}'?", near)));
}

}  // namespace

po::options_description global_options() {
  po::options_description options("for every command");
  const std::string devices = fmt::format("{} (default: {})", device_names(), backends().front().name);
  options.add_options()                                                                                                //
      ("json", po::bool_switch(), "print one JSON document instead of text")                                           //
      ("quiet", po::bool_switch(), "no progress")                                                                      //
      ("threads", whole_number(1, 1024)->value_name("N"), "threads of a kernel (default: all cores)")                  //
      ("cache", po::value<std::string>()->value_name("DIR"), "folder of compiled kernels (default: ~/.cache/amdahl)")  //
      ("device", po::value<std::string>()->value_name("D"), devices.c_str())                                           //
      ("help,h", po::bool_switch(), "this page")                                                                       //
      ("version", po::bool_switch(), "the version of this program, and what it was built with");
  return options;
}

void Options::word(const char* name, int count) {
  words.add_options()(name, po::value<std::vector<std::string>>());
  positional.add(name, count);
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = std::max<size_t>(1, word.size() / 2);  // further than half the word is no typing error
  for (const std::string& candidate : known) {
    std::vector<size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= candidate.size(); ++j) {
        const size_t substitute = diagonal + (word[i - 1] != candidate[j - 1]);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
      }
    }
    if (row.back() <= best_distance && (best.empty() || row.back() < best_distance)) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

namespace {

constexpr const char* kOutOfMemory = "out of memory: close other programs or take a smaller model";
constexpr const char* kNoOutput = "cannot write to standard output: is the disk full, or the program closed that reads it?";

// Memory may run out where no exception can pass: in a destructor, or in a library that promised not to throw.
[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr e = std::current_exception()) std::rethrow_exception(e);
  } catch (const std::bad_alloc&) {
    for (const char* text : {"amdahl: ", kOutOfMemory, "\n"}) [[maybe_unused]] const ssize_t n = write(2, text, std::strlen(text));
    _exit(static_cast<int>(ExitCode::kIo));
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int run_amdahl(const std::vector<std::string>& arguments) {
  std::set_terminate(on_terminate);
  const auto fail = [](ExitCode code, const std::string& message) {
    std::fflush(stdout);
    say("amdahl: {}\n", shown_message(message));  // words of files and of the command line are in it
    return static_cast<int>(code);
  };
  try {
    const int code = dispatch(arguments);
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) return fail(ExitCode::kIo, kNoOutput);
    return code;
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kIo, kOutOfMemory);
  } catch (const std::filesystem::filesystem_error& error) {  // a path that cannot even be looked at
    return fail(ExitCode::kIo, fmt::format("{}; check that it exists and that you may read it", error.what()));
  } catch (const std::system_error& error) {
    if (std::ferror(stdout)) return fail(ExitCode::kIo, kNoOutput);  // fmt::print throws what a thread throws that cannot start
    return fail(ExitCode::kIo, fmt::format("the machine refuses: {}; are there too many processes, or too little memory?", error.what()));
  } catch (const std::exception& error) {
    return fail(ExitCode::kInternal, fmt::format("internal error: {}; please report this with the command line", error.what()));
  }
}

}  // namespace amdahl
