// What the process does instead of `main`.
#pragma once

namespace memfence::running {

int explore_program(int (*main)(int, char**, char**), int argc, char** argv, char** environment);

}  // namespace memfence::running
