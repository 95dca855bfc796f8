#include "cli/commands.h"

namespace amdahl {

const std::vector<const Command*>& commands() {
  static const std::vector<const Command*> list{
      &kProfileCommand, &kStatusCommand, &kReportCommand,   &kRunCommand,
      &kModelsCommand,  &kPlaybookCommand, &kDoctorCommand,
  };
  return list;
}

}  // namespace amdahl
