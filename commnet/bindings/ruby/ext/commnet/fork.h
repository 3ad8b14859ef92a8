// Forked processes, in which no endpoint of the parent works: its locks may be held by threads that are not there.
#pragma once

namespace commnet::ruby {

// Counts the forks between the first process and this one.
unsigned fork_count();

// Starts to count.
void watch_forks();

}  // namespace commnet::ruby
