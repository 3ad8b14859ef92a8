/* Creates an endpoint with the installed library. */
#include <commnet/commnet.h>
#include <stdio.h>

int main(void) {
  cn_endpoint* endpoint = NULL;
  if (cn_endpoint_create(NULL, &endpoint) != CN_OK) {
    fprintf(stderr, "%s\n", cn_error());
    return 1;
  }
  printf("commnet %s: %s\n", cn_version(), cn_endpoint_address(endpoint));
  cn_endpoint_close(endpoint);
  return 0;
}
