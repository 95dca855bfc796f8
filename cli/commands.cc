#include "cli/commands.h"

namespace amdahl {

const std::vector<const Command*>& commands() {
  static const std::vector<const Command*> list{
      &kTuneCommand,   &kResumeCommand, &kProfileCommand, &kStatusCommand, &kReportCommand,   &kVerifyCommand, &kCompareCommand,
      &kReplayCommand, &kExportCommand, &kRunCommand,     &kModelsCommand, &kPlaybookCommand, &kWisdomCommand, &kDoctorCommand,
  };
  return list;
}

}  // namespace amdahl
