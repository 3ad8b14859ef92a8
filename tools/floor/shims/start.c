#define HIDDEN __attribute__((visibility("hidden")))

/* Since 2.34 the C library runs the constructors of a program, and what starts programs passes no `init`, with which
 * older versions run none. The oldest version of this function runs `init` with every C library. */
typedef int main_function(int, char**, char**);
typedef void constructor(int, char**, char**);
extern constructor* __init_array_start[] HIDDEN;
extern constructor* __init_array_end[] HIDDEN;

static void run_constructors(int count, char** arguments, char** environment) {
  for (constructor** each = __init_array_start; each != __init_array_end; each++)
    (*each)(count, arguments, environment);
}

extern int start_main(main_function* main, int count, char** arguments, constructor* init, void (*finish)(void),
                      void (*unload)(void), void* stack);
__asm__(".symver start_main, __libc_start_main@" OLDEST_VERSION);

HIDDEN int __libc_start_main(main_function* main, int count, char** arguments, constructor* init, void (*finish)(void),
                             void (*unload)(void), void* stack) {
  return start_main(main, count, arguments, init ? init : run_constructors, finish, unload, stack);
}
