"""The records of classes as frozen dataclasses. `read` builds them from YAML, targets print them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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
    "path": "OF_TYPE_PATH",
    "nested": "OF_TYPE_NESTED",  # a tensor, or maps and lists of them
    "range": "OF_TYPE_RANGE",  # of sizes
    "function": "OF_TYPE_FUNCTION",
    "size": "OF_TYPE_SIZE",  # what is known of a size: a number, a range, or the name of an equal one
    "array": "OF_TYPE_ARRAY",  # a tensor, or what stands for one
    "positive": "OF_TYPE_POSITIVE",  # an integer above 0
    "any": "OF_TYPE_DATA",
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
    collects: str = ""  # "*": further positional arguments, "**": further named ones, "***": both
    summary: str = ""  # what it is


@dataclass(frozen=True)
class Member:
    """A method, a property, a function or a constructor: its signature, and the function that it calls.

    That is a function of the C API, or one of `runtime/objects` with arguments of the shared binder.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: ObjectType
    summary: str
    calls: str  # a function of the C API, or an empty string
    runs: str  # a function of runtime/objects, or an empty string
    location: Location
    description: str = ""
    work: str = ""  # a function of runtime/objects that says how long the work may take; "always": long
    says: str = ""  # what error texts begin with, if that is not the name
    block: str = ""  # the parameter that is the block of a language that has blocks
    options: str = ""  # the type of the arguments by name, in languages that name it
    only_here: tuple[str, ...] = ()  # the parameters that promise variants lack
    is_property: bool = False
    by_hand: bool = False  # whether each language writes it: the record only declares it
    of_tensors: bool = False  # whether it is a method of tensors
    is_overridable: bool = False  # whether the library calls the method of a subclass that overrides it
    is_async: bool = False  # whether this is the promise variant of a member
    is_context: bool = False  # whether it enters or leaves a block
    setter: Member | None = None  # of a property
    absent: Mapping[str, str] = field(default_factory=dict)  # what C gets for an argument that is None, by parameter
    names: Mapping[str, str] = field(default_factory=dict)  # by language, where its rule gives another name
    renamed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # parameters by language
    namespace: str = ""  # of a function
    owner: str = ""  # the class of a method or a constructor
    constant: str = ""  # the object whose method a function is
    method: str = ""  # the name of that method

    @property
    def type_names(self) -> set[str]:
        """Returns the names of the classes and records among the types of the result and of the parameters."""
        return {name for type_ in (self.result, *(each.type for each in self.parameters)) for name in type_.names}

    @property
    def implementation(self) -> str:
        """Returns the name by which of_implementation_find() knows it."""
        if self.owner:
            return f"{self.owner}.{self.method}{'=' * self.is_setter_of_property}"
        return ".".join(filter(None, (self.namespace, self.method)))

    @property
    def is_setter_of_property(self) -> bool:
        """Returns whether this sets a property."""
        return self.is_property and bool(self.parameters)

    @property
    def has_receiver(self) -> bool:
        """Returns whether it is called on an object."""
        return bool(self.owner) and not self.is_create and not self.constant

    @property
    def promised(self) -> Member | None:
        """Returns the promise variant of a member whose work may take long; None for others."""
        return replace(self, name=f"{self.name}_async", is_async=True) if self.work and not self.by_hand else None

    @property
    def full_name(self) -> str:
        """Returns the name of a function, or of a method after its class: "graph.capture", "Graph.run"."""
        owner = "" if self.constant or self.is_create else self.owner
        return ".".join(filter(None, (owner, self.namespace, self.name)))

    @property
    def is_create(self) -> bool:
        """Returns whether this is a constructor."""
        return self.method == "new"

    @property
    def returns_self(self) -> bool:
        """Returns whether the result is the object of the method."""
        return self.result.word == SELF


@dataclass(frozen=True)
class Record:
    """A record of named values that methods take or return."""

    name: str
    fields: tuple[Parameter, ...]
    summary: str
    location: Location
    namespace: str = ""
    text: str = ""  # the field that is its text
    is_plain: bool = False  # whether it is a list in languages whose users expect that
    names: Mapping[str, str] = field(default_factory=dict)  # by language
    renamed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # fields by language


@dataclass(frozen=True)
class Items:
    """The items of an object that is a map: the property with its keys, and the method that gets an item."""

    keys: Member
    get: Member


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
    namespace: str = ""
    by_hand: tuple[Member, ...] = ()
    context: tuple[Member, ...] = ()  # what enters and leaves a block
    needs_block: bool = False  # whether objects are of use only in blocks, in languages without a statement for that
    use: str = ""  # the method that calls a function in the context, in languages without a statement for that
    items: Items | None = None  # if the object is a map
    examples: tuple[tuple[str, Location], ...] = ()  # programs in Python's syntax
    equality: Member | None = None  # the property by which objects are equal; none: an object equals only itself
    text: Member | None = None  # the property or method that is the text of an object
    reason: str = ""  # why objects cannot be created, or what creates them
    header: str = ""  # the public header of the handle, if oneflow.h does not include it
    is_shared: bool = False  # whether threads may share an object
    omitted: Mapping[str, str] = field(default_factory=dict)  # why a language has no such class, by language

    @property
    def documentation(self) -> str:
        """Returns the summary and the description."""
        return "\n\n".join(filter(None, (self.summary, self.description.strip())))

    @property
    def members(self) -> tuple[Member, ...]:
        """Returns the constructor, if there is one, and the methods; what sets a property follows it."""
        plain = (self.create, *self.methods)
        return tuple(member for each in plain if each for member in (each, each.setter) if member)

    @property
    def is_internal(self) -> bool:
        """Returns whether the handle is a class of runtime/objects, and none of the C API."""
        return not self.handle.startswith("of_")

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
    tensor_methods: tuple[Member, ...] = ()  # what tensors have besides operators
    by_hand: tuple[Member, ...] = ()  # functions that each language writes

    @cached_property
    def classes_by_name(self) -> Mapping[str, Class]:
        """Returns the classes by their names."""
        return {each.name: each for each in self.classes}

    @cached_property
    def records_by_name(self) -> Mapping[str, Record]:
        """Returns the records by their names."""
        return {each.name: each for each in self.records}

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Returns all methods, constructors and functions, each implementation once."""
        found = {}
        for each in self.classes:
            for member in (*each.members, *each.context):
                found[member.implementation] = member
        for function in (*self.functions, *self.tensor_methods):
            found.setdefault(function.implementation, function)
        return tuple(found.values())

    def offered_in(self, language: str) -> Objects:
        """Returns what a language has: all but the classes that it omits."""
        return replace(self, classes=tuple(each for each in self.classes if language not in each.omitted))

    @property
    def declared(self) -> tuple[Member, ...]:
        """Returns all functions: those that the generator makes, and those that each language writes."""
        return (*self.functions, *self.by_hand)

    def context_of(self, function: Member) -> Class | None:
        """Returns the class of the result of a function if that is of use only in a block: the function takes one."""
        return next((each for each in self.classes if each.needs_block and each.name == function.result.word), None)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Returns the namespaces of classes and functions, without that of no name."""
        spaces = [each.namespace for each in self.classes] + [each.namespace for each in self.declared]
        return tuple(dict.fromkeys(filter(None, spaces)))

    @property
    def sources(self) -> tuple[str, ...]:
        """Returns the definition files."""
        locations = [each.location for each in self.classes]
        locations += [each.location for each in self.records]
        locations += [each.location for each in (*self.declared, *self.tensor_methods)]
        return tuple(sorted({each.file for each in locations}))
