/* An endpoint in an epoll loop, without callbacks, and one without a thread in a poll loop, which ask each other. */
#include <commnet/commnet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum { QUESTION = 1, ANSWER = 2, QUESTIONS = 100, PATIENCE_MS = 20000 };

static void check(cn_status status, const char* what) {
  if (status == CN_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, cn_status_name(status), cn_error());
  exit(1);
}

static cn_endpoint* create(const char* name, uint32_t flags) {
  const cn_endpoint_options options = {
      .struct_size = sizeof options, .name = name, .secret = "loop", .secret_size = 4, .flags = flags};
  cn_endpoint* endpoint = NULL;
  check(cn_endpoint_create(&options, &endpoint), "create");
  return endpoint;
}

static void send_number(cn_peer* peer, uint32_t handler, uint32_t number) {
  const cn_call call = {.struct_size = sizeof call, .flags = CN_COPY};
  check(cn_send(peer, handler, 0, &number, sizeof number, &call, NULL), "send");
}

static uint32_t number_of(const cn_message* message) {
  uint32_t number = 0;
  if (cn_message_size(message) == sizeof number) memcpy(&number, cn_message_data(message), sizeof number);
  return number;
}

/* Answers questions, until the one who asks has left. */
static int answer(int write_address) {
  cn_endpoint* endpoint = create("answers", 0);
  check(cn_set_event_handler(endpoint, QUESTION, NULL), "set handler");
  check(cn_watch_peers(endpoint, true), "watch peers");
  const char* address = cn_endpoint_address(endpoint);
  if (write(write_address, address, strlen(address) + 1) < 0) return 1;

  /* [loop] */
  int poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event watched = {.events = EPOLLIN, .data.fd = cn_event_descriptor(endpoint)};
  epoll_ctl(poller, EPOLL_CTL_ADD, watched.data.fd, &watched);
  for (bool goes_on = true; goes_on;) {
    struct epoll_event ready;
    if (epoll_wait(poller, &ready, 1, PATIENCE_MS) <= 0) return 1;
    cn_event event = {.struct_size = sizeof event};
    while (cn_next_event(endpoint, &event, 0) == CN_OK) {
      if (event.kind == CN_EVENT_MESSAGE) {
        send_number(cn_message_peer(event.message), ANSWER, number_of(event.message) + 1);
        cn_message_release(event.message);
      } else if (event.kind == CN_EVENT_LEFT) {
        goes_on = false;
      }
    }
  }
  close(poller);
  cn_endpoint_close(endpoint);
  /* [loop] */
  return 0;
}

struct answers {
  uint32_t count, right;
};

static void take_answer(void* user, cn_message* message) {
  struct answers* answers = user;
  ++answers->count;
  answers->right += number_of(message) == answers->count;
}

/* Asks, with one thread for everything. */
static int ask(int read_address) {
  char address[4096] = "";
  if (read(read_address, address, sizeof address - 1) <= 0) return 1;
  struct answers answers = {0, 0};
  cn_endpoint* endpoint = create("asks", CN_MANUAL_PROGRESS);
  check(cn_set_handler(endpoint, ANSWER, take_answer, &answers), "set handler");
  cn_operation* operation = NULL;
  check(cn_connect(endpoint, address, NULL, &operation), "connect");
  check(cn_wait(operation, PATIENCE_MS), "connect");
  cn_peer* peer = cn_operation_peer(operation);
  cn_operation_release(operation);
  for (uint32_t i = 0; i < QUESTIONS; ++i) send_number(peer, QUESTION, i);

  /* [manual] */
  struct pollfd watched = {.fd = cn_event_descriptor(endpoint), .events = POLLIN};
  while (answers.count < QUESTIONS && cn_peer_is_connected(peer)) {
    poll(&watched, 1, 1000);
    check(cn_progress(endpoint, 0), "progress"); /* calls take_answer() */
  }
  /* [manual] */
  cn_endpoint_close(endpoint);
  printf("%u of %d answers are right\n", answers.right, QUESTIONS);
  return answers.right == QUESTIONS ? 0 : 1;
}

int main(void) {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) return answer(ends[1]);
  close(ends[1]);
  const int result = ask(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return result != 0 || status != 0;
}
