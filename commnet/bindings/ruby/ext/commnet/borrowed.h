// Bytes of Ruby objects that the library uses without Ruby's lock: they must not move, shrink or be freed meanwhile.
//
// A short String has its bytes in the object itself. Marking keeps that in its place, but while the collector compacts,
// it takes the access rights from whole pages of objects, which only threads of Ruby survive. The library therefore
// gets copies of such bytes, and never an address in an object.
#pragma once

#include <ruby.h>

#include <cstddef>

namespace commnet::ruby {

struct Borrowed {
  enum class Lock { kNone, kString, kBuffer, kIoBuffer };

  VALUE object;  // what holds the bytes, to be marked by mark(); Qnil: nothing
  char* data;
  size_t size;
  Lock lock;
  char* staged;  // a copy that `data` points to, which is owned; NULL: none
};

// Borrows the bytes of a String, of which it takes a frozen copy that shares them, of a Buffer, an IO::Buffer or an
// Address. Raises WrongType for others.
Borrowed borrow_for_reading(const char* name, VALUE object);
// Borrows bytes that the library changes: a String and an IO::Buffer are locked until give_back(), which copies bytes
// to a short String.
Borrowed borrow_for_writing(const char* name, VALUE object);
// Borrows what peers read, or also write: an IO::Buffer is locked, and of a String it takes a copy in a Buffer. The
// memory of a Buffer cannot be released while it is borrowed.
Borrowed borrow_for_peers(const char* name, VALUE object, bool is_changed);
// Ends the use, and forgets the object.
void give_back(Borrowed& borrowed);
// Keeps the object, and where it is.
inline void mark(const Borrowed& borrowed) { rb_gc_mark(borrowed.object); }

// Finds Commnet::Address, which is defined in Ruby.
void find_address_class(VALUE module);

}  // namespace commnet::ruby
