/* Reads handwritten digits with a network that a program in another language has trained and saved: see examples/train.
 *
 *     cc classify.c $(pkg-config --cflags --libs oneflow) -o classify
 *     zcat ../data/digits.csv.gz | ./classify digits.flow
 *
 * A line of the input has the 64 numbers of an image, from 0 to 16, and its digit. Prints how many of the images that
 * the training has not seen, every third one, are read correctly.
 */
#include <oneflow/session.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIXELS = 64, MAX_IMAGES = 4096, CLASSES = 10 };

/* Ends the program with the library's error text if a call failed. */
static void check(of_status status) {
  if (status == OF_OK) return;
  fprintf(stderr, "%s: %s\n", of_status_name(status), of_last_error());
  exit(1);
}

/* Reads every third image and its label. Returns their number. */
static int64_t read_images(float* images, int* labels) {
  int64_t count = 0;
  for (int line = 0; count < MAX_IMAGES; ++line) {
    float* image = images + count * PIXELS;
    for (int i = 0; i < PIXELS; ++i) {
      if (scanf("%f,", &image[i]) != 1) return count;
      image[i] /= 16;
    }
    if (scanf("%d", &labels[count]) != 1) return count;
    if (line % 3 == 0) ++count;
  }
  return count;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: classify MODEL < IMAGES\n");
    return 2;
  }
  of_session session = NULL;
  check(of_session_open(argv[1], NULL, &session));
  of_graph_value wanted = {.struct_size = sizeof wanted};
  check(of_graph_value_at(of_session_graph(session), OF_GRAPH_INPUT, 0, &wanted));

  float* images = malloc(sizeof(float) * PIXELS * (MAX_IMAGES + 1));
  int* labels = malloc(sizeof(int) * (MAX_IMAGES + 1));
  if (!images || !labels) return 1;
  const int64_t count = read_images(images, labels), sizes[] = {count, 1, 8, 8};
  of_tensor_source source = {.struct_size = sizeof source,
                             .dtype = OF_FLOAT32,
                             .device = wanted.device,
                             .rank = 4,
                             .sizes = sizes,
                             .data = images,
                             .bytes = (uint64_t)count * PIXELS * sizeof(float)};
  of_tensor input = NULL;
  check(of_tensor_create(&source, &input));

  of_value scores = {0};
  check(of_session_run(session, &input, 1, &scores, 1, NULL));
  float* found = malloc(sizeof(float) * CLASSES * (size_t)count);
  if (!found) return 1;
  check(of_tensor_read(scores.as.tensor, found, sizeof(float) * CLASSES * (uint64_t)count));
  int64_t right = 0;
  for (int64_t i = 0; i < count; ++i) {
    int best = 0;
    for (int digit = 1; digit < CLASSES; ++digit)
      if (found[i * CLASSES + digit] > found[i * CLASSES + best]) best = digit;
    right += best == labels[i];
  }
  printf("accuracy: %.6f (%ld of %ld)\n", (double)right / (double)count, (long)right, (long)count);

  free(found);
  free(labels);
  free(images);
  of_value_release(&scores);
  of_tensor_release(input);
  of_session_release(session);
  return 0;
}
