// Files that are used where they are mapped, as long as they are: once another program has cut one short, what is
// computed is not to be trusted, and the work ends.
#pragma once

namespace sheaf {

/// Called by a signal handler. `name` stays valid until forget_lost_input().
void lose_input(const char* name) noexcept;
/// The file is no longer in use.
void forget_lost_input(const char* name) noexcept;
/// An Error that names a lost file. Solvers ask at every turn (Context::check_stop), and files before they appear.
void check_inputs();

}  // namespace sheaf
