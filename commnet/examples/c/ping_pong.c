/* Two processes send each other a message, many times, and one prints how long a round trip takes. */
#include <commnet/commnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BALL = 1, ROUNDS = 1000, PATIENCE_MS = 20000 };

static void check(cn_status status, const char* what) {
  if (status == CN_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, cn_status_name(status), cn_error());
  exit(1);
}

static cn_endpoint* create(const char* name) {
  const cn_endpoint_options options = {
      .struct_size = sizeof options, .name = name, .secret = "ping pong", .secret_size = 9};
  cn_endpoint* endpoint = NULL;
  check(cn_endpoint_create(&options, &endpoint), "create");
  return endpoint;
}

/* The bytes are a few: CN_COPY lets the library keep them, and nobody waits for the end of the operation. */
static void send_ball(cn_peer* peer, uint32_t round) {
  const cn_call call = {.struct_size = sizeof call, .flags = CN_COPY};
  check(cn_send(peer, BALL, 0, &round, sizeof round, &call, NULL), "send");
}

/* ---- the child, which returns each ball */

static void return_ball(void* user, cn_message* message) {
  (void)user;
  uint32_t round;
  memcpy(&round, cn_message_data(message), sizeof round);
  send_ball(cn_message_peer(message), round);
}

static int serve(int write_address) {
  cn_endpoint* endpoint = create("pong");
  cn_watch_peers(endpoint, true);
  check(cn_set_handler(endpoint, BALL, return_ball, NULL), "set handler");
  /* How an address gets to others is up to the program: here, over a pipe. */
  const char* address = cn_endpoint_address(endpoint);
  if (write(write_address, address, strlen(address) + 1) < 0) return 1;
  cn_event event = {.struct_size = sizeof event};
  do {
    check(cn_next_event(endpoint, &event, PATIENCE_MS), "next event");
  } while (event.kind != CN_EVENT_LEFT);
  cn_endpoint_close(endpoint);
  return 0;
}

/* ---- the parent */

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static int play(int read_address) {
  char address[4096] = "";
  if (read(read_address, address, sizeof address - 1) <= 0) return 1;
  cn_endpoint* endpoint = create("ping");
  check(cn_set_event_handler(endpoint, BALL, NULL), "set handler");
  cn_operation* operation = NULL;
  check(cn_connect(endpoint, address, NULL, &operation), "connect");
  check(cn_wait(operation, PATIENCE_MS), "connect");
  cn_peer* peer = cn_operation_peer(operation);
  cn_operation_release(operation);

  const double begin = now_us();
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    send_ball(peer, round);
    cn_event event = {.struct_size = sizeof event};
    check(cn_next_event(endpoint, &event, PATIENCE_MS), "next event");
    uint32_t returned;
    memcpy(&returned, cn_message_data(event.message), sizeof returned);
    cn_message_release(event.message);
    if (returned != round) return 1;
  }
  printf("%d round trips over %s, %.1f us each\n", ROUNDS, cn_peer_transport(peer), (now_us() - begin) / ROUNDS);
  cn_endpoint_close(endpoint);
  return 0;
}

int main(void) {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  /* Fork first: an endpoint belongs to the process that has created it. */
  const pid_t child = fork();
  if (child == 0) return serve(ends[1]);
  close(ends[1]); /* so that a child that fails is noticed */
  const int result = play(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return result != 0 || status != 0;
}
