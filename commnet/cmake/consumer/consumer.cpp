// Creates an endpoint with the installed C++ interface.
#include <commnet/commnet.hpp>
#include <iostream>

int main() {
  const commnet::Endpoint endpoint;
  std::cout << "commnet " << cn_version() << ": " << endpoint.address() << "\n";
  return 0;
}
