#include "cli/commands.h"

int main(int argc, char** argv) {
  using namespace wago::cli;
  return run_program("wago", Edition{}, add_profile_refusal, argc, argv);
}
