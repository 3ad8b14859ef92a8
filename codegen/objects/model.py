"""The records of classes as frozen dataclasses. `read` builds them from YAML, targets print them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from codegen.errors import Location

# The types that need no record, by their words in signatures, with the enumerators of of_type_kind.
PLAIN = {
    "None": "OF_TYPE_NONE",
    "bool": "OF_TYPE_BOOL",
    "int": "OF_TYPE_INT",
    "word": "OF_TYPE_WORD",
    "float": "OF_TYPE_FLOAT",
    "str": "OF_TYPE_TEXT",
    "dtype": "OF_TYPE_DTYPE",
    "device": "OF_TYPE_DEVICE",
    "Tensor": "OF_TYPE_TENSOR",
}
SELF = "self"  # as a result: the object of the method


@dataclass(frozen=True)
class ObjectType:
    """A type: a plain one, a class or a record by its name; `item` is that of the items of a list or a map."""

    word: str  # "list" and "map" have items
    optional: bool = False
    item: ObjectType | None = None

    def __str__(self) -> str:
        """Returns the type in the grammar of signatures."""
        mark = "?" * self.optional
        return f"{self.item}{'[]' if self.word == 'list' else '{}'}{mark}" if self.item else f"{self.word}{mark}"

    @property
    def names(self) -> Iterator[str]:
        """Yields the names of classes and records in the type."""
        if self.item:
            yield from self.item.names
        elif self.word not in PLAIN and self.word != SELF:
            yield self.word


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method or a function, or a field of a record."""

    name: str
    type: ObjectType
    default: bool | int | float | str | None = None
    has_default: bool = False
    is_named: bool = False  # whether it is passed by name only
    summary: str = ""  # what a field is


@dataclass(frozen=True)
class Member:
    """A method, a function or a constructor: its signature, and the function of the C API that it calls."""

    name: str
    parameters: tuple[Parameter, ...]
    result: ObjectType
    summary: str
    calls: str
    location: Location
    absent: Mapping[str, str] = field(default_factory=dict)  # what C gets for an argument that is None, by parameter
    names: Mapping[str, str] = field(default_factory=dict)  # by language, where its rule gives another name
    owner: str = ""  # the class of a method or a constructor
    constant: str = ""  # the object whose method a function is
    method: str = ""  # the name of that method

    @property
    def implementation(self) -> str:
        """Returns the name by which of_implementation_find() knows it."""
        return f"{self.owner}.{self.method}" if self.owner else self.name

    @property
    def is_create(self) -> bool:
        """Returns whether this is a constructor."""
        return self.method == "new"

    @property
    def returns_self(self) -> bool:
        """Returns whether the result is the object of the method."""
        return self.result.word == SELF

    @property
    def is_getter(self) -> bool:
        """Returns whether some languages have a property in its place: `get_state()`."""
        return self.name.startswith("get_") and not self.parameters

    @property
    def is_setter(self) -> bool:
        """Returns whether some languages assign to a property in its place: `set_state(state)`."""
        return self.name.startswith("set_") and len(self.parameters) == 1


@dataclass(frozen=True)
class Record:
    """A record of named values that methods take or return."""

    name: str
    fields: tuple[Parameter, ...]
    summary: str
    location: Location


@dataclass(frozen=True)
class Class:
    """A class of objects with a handle of the C API."""

    name: str
    handle: str
    summary: str
    description: str
    create: Member | None
    methods: tuple[Member, ...]
    state: tuple[Member, Member] | None  # the methods that get and set what copies have in common with their original
    location: Location

    @property
    def members(self) -> tuple[Member, ...]:
        """Returns the constructor, if there is one, and the methods."""
        return (*filter(None, [self.create]), *self.methods)

    @property
    def retain(self) -> str:
        """Returns the function of the C API that adds a reference."""
        return f"{self.handle}_retain"

    @property
    def release(self) -> str:
        """Returns the function of the C API that releases a reference."""
        return f"{self.handle}_release"


@dataclass(frozen=True)
class Constant:
    """An object that lives as long as the process."""

    name: str
    type: str
    calls: str
    summary: str
    location: Location


@dataclass(frozen=True)
class Objects:
    """All records of classes, in the order of files and lines."""

    classes: tuple[Class, ...] = ()
    records: tuple[Record, ...] = ()
    constants: tuple[Constant, ...] = ()
    functions: tuple[Member, ...] = ()

    @cached_property
    def records_by_name(self) -> Mapping[str, Record]:
        """Returns the records by their names."""
        return {each.name: each for each in self.records}

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Returns all methods, constructors and functions, each implementation once."""
        found = {}
        for each in self.classes:
            for member in each.members:
                found[member.implementation] = member
        for function in self.functions:
            found.setdefault(function.implementation, function)
        return tuple(found.values())

    @property
    def sources(self) -> tuple[str, ...]:
        """Returns the definition files."""
        locations = [each.location for each in self.classes]
        locations += [each.location for each in self.records]
        locations += [each.location for each in self.functions]
        return tuple(sorted({each.file for each in locations}))
