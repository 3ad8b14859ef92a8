/* Embeds sentences with a graph of minilm.py, without Python.
 *
 *     python minilm.py save MODEL minilm.flow
 *     python minilm.py tokens MODEL < sentences.txt | ./embed minilm.flow
 *
 * A line of the input has the numbers of the tokens of a sentence; a line of the output has the numbers of its
 * embedding.
 */
#include <oneflow/session.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_TOKENS = 512, WIDTH = 384 };

/* Ends the program with the library's error text if a call failed. */
static void check(of_status status) {
  if (status == OF_OK) return;
  fprintf(stderr, "%s: %s\n", of_status_name(status), of_last_error());
  exit(1);
}

/* Reads the numbers of a line. Returns how many there are; 0 at the end of the input. */
static int64_t read_tokens(int64_t* tokens) {
  long number;
  char after = ' ';
  int64_t count = 0;
  while (count < MAX_TOKENS && after != '\n' && scanf("%ld%c", &number, &after) == 2) tokens[count++] = number;
  return count;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: embed GRAPH < TOKENS\n");
    return 2;
  }
  of_session session = NULL;
  check(of_session_open(argv[1], NULL, &session));
  of_graph_value wanted = {.struct_size = sizeof wanted};
  check(of_graph_value_at(of_session_graph(session), OF_GRAPH_INPUT, 0, &wanted));

  int64_t tokens[MAX_TOKENS], sizes[] = {1, 0};
  while ((sizes[1] = read_tokens(tokens)) > 0) {
    of_tensor_source source = {.struct_size = sizeof source,
                               .dtype = OF_INT64,
                               .device = wanted.device,
                               .rank = 2,
                               .sizes = sizes,
                               .data = tokens,
                               .bytes = (uint64_t)sizes[1] * sizeof(int64_t)};
    of_tensor input = NULL;
    check(of_tensor_create(&source, &input));
    of_value result = {0};
    check(of_session_run(session, &input, 1, &result, 1, NULL));
    float embedding[WIDTH];
    check(of_tensor_read(result.as.tensor, embedding, sizeof embedding));
    for (int i = 0; i < WIDTH; ++i) printf("%.7f%c", embedding[i], i + 1 < WIDTH ? ' ' : '\n');
    of_tensor_release(input);
    of_value_release(&result);
  }
  of_session_release(session);
  return 0;
}
