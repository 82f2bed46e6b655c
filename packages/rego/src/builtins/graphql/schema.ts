import { BuiltinError } from "../../errors.ts";
import { charge } from "../../value/meter.ts";
import { child, list, type Node, node, positionOf, text, texts } from "./node.ts";
import { parseSchema, VALUE_KINDS } from "./parse.ts";

/** What a type system document says, its extensions applied. */
export interface Schema {
  readonly types: ReadonlyMap<string, Node>;
  readonly directives: ReadonlyMap<string, Node>;
  /** Names of the root types by operation. */
  readonly roots: ReadonlyMap<string, string>;
}

/** Names that every schema has. */
const BUILT_IN_TYPES: Readonly<Record<string, readonly string[]>> = {
  SCALAR: ["Int", "Float", "String", "Boolean", "ID"],
  OBJECT: ["__Schema", "__Type", "__Field", "__InputValue", "__EnumValue", "__Directive"],
  ENUM: ["__TypeKind", "__DirectiveLocation"],
};
const BUILT_IN_NAMES: ReadonlySet<string> = new Set(Object.values(BUILT_IN_TYPES).flat());

/** The directives that every schema has; a schema may declare them again. */
const BUILT_IN_DIRECTIVES = `
directive @include(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @skip(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @deprecated(reason: String = "No longer supported") on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE
directive @specifiedBy(url: String!) on SCALAR
directive @defer(if: Boolean = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @oneOf on INPUT_OBJECT
`;

const INPUT_KINDS = ["SCALAR", "ENUM", "INPUT_OBJECT"];
const OUTPUT_KINDS = ["SCALAR", "OBJECT", "INTERFACE", "UNION", "ENUM"];

function fail(at: Node, message: string): never {
  const { line, column } = positionOf(at) ?? { line: -1, column: -1 };
  throw new BuiltinError(`Error in gqlparser SchemaDocument to Schema conversion: input:${line}:${column}: ${message}`);
}

/** The type's name without lists and exclamation marks. */
function nameOf(type: Node | undefined): string {
  let at = type;
  for (let elem = at && child(at, "Elem"); elem !== undefined; elem = child(elem, "Elem")) at = elem;
  return at === undefined ? "" : text(at, "NamedType");
}

function typeText(type: Node): string {
  const elem = child(type, "Elem");
  return `${elem === undefined ? text(type, "NamedType") : `[${typeText(elem)}]`}${type.NonNull === true ? "!" : ""}`;
}

function named(nodes: readonly Node[], name: string): Node | undefined {
  charge(nodes.length);
  return nodes.find((one) => text(one, "Name") === name);
}

/** The members of extensions, added to those of their types; an extension of nothing is a type. */
function extended(document: Node): Map<string, Node> {
  const types = new Map<string, Node>();
  for (const [kind, names] of Object.entries(BUILT_IN_TYPES)) {
    for (const name of names) types.set(name, node({ Kind: kind, Name: name, BuiltIn: true }));
  }
  for (const definition of list(document, "Definitions")) {
    const name = text(definition, "Name");
    if (types.has(name)) fail(definition, `Cannot redeclare type ${name}.`);
    types.set(name, definition);
  }
  const additions = new Map<string, Node[]>();
  for (const extension of list(document, "Extensions")) {
    const name = text(extension, "Name");
    const base = types.get(name);
    if (base === undefined) types.set(name, extension);
    else {
      const [is, not] = [text(base, "Kind"), text(extension, "Kind")];
      if (is !== not) fail(extension, `Cannot extend type ${name} because the base type is a ${is}, not ${not}.`);
      const before = additions.get(name);
      if (before === undefined) additions.set(name, [extension]);
      else before.push(extension);
    }
  }
  for (const [name, extensions] of additions) {
    const base = types.get(name) as Node;
    const all = (field: string) => [base, ...extensions].flatMap((one) => list(one, field));
    const lists = ["Directives", "Interfaces", "Fields", "Types", "EnumValues"].map((field) => [field, all(field)]);
    types.set(name, node({ ...base, ...Object.fromEntries(lists) }, positionOf(base)));
  }
  return types;
}

function directivesOf(document: Node): Map<string, Node> {
  const builtIn = list(parseSchema(BUILT_IN_DIRECTIVES), "Directives");
  const found = new Map(builtIn.map((one) => [text(one, "Name"), one]));
  for (const definition of list(document, "Directives")) {
    const name = text(definition, "Name");
    const before = found.get(name);
    if (before !== undefined && !builtIn.some((one) => text(one, "Name") === name)) {
      fail(definition, `Cannot redeclare directive ${name}.`);
    }
    found.set(name, definition);
  }
  return found;
}

function rootsOf(document: Node, types: ReadonlyMap<string, Node>): Map<string, string> {
  const roots = new Map<string, string>();
  const definitions = list(document, "Schema");
  if (definitions[1] !== undefined) {
    fail(definitions[1], "Cannot have multiple schema entry points, consider schema extensions instead.");
  }
  for (const definition of [...definitions, ...list(document, "SchemaExtension")]) {
    for (const entry of list(definition, "OperationTypes")) {
      const [operation, type] = [text(entry, "Operation"), text(entry, "Type")];
      if (!types.has(type)) fail(entry, `Schema root ${operation} refers to a type ${type} that does not exist.`);
      roots.set(operation, type);
    }
  }
  return roots;
}

/** Checks one schema by the rules of OPA's library. */
class Checker {
  readonly #types: ReadonlyMap<string, Node>;
  readonly #directives: ReadonlyMap<string, Node>;
  /** The types that implement an interface or belong to a union, by its name. */
  readonly #possible = new Map<string, Set<string>>();

  constructor(types: ReadonlyMap<string, Node>, directives: ReadonlyMap<string, Node>) {
    this.#types = types;
    this.#directives = directives;
    const add = (abstract: string, name: string) => {
      const known = this.#possible.get(abstract) ?? new Set();
      this.#possible.set(abstract, known.add(name));
    };
    for (const [name, type] of types) {
      for (const member of texts(type, "Types")) add(name, member);
      for (const parent of texts(type, "Interfaces")) add(parent, name);
    }
  }

  check(document: Node): void {
    for (const definition of [...list(document, "Schema"), ...list(document, "SchemaExtension")])
      this.#applied(definition, "SCHEMA");
    for (const [, type] of [...this.#types].sort(([a], [b]) => (a < b ? -1 : 1))) this.#definition(type);
    for (const [, directive] of [...this.#directives].sort(([a], [b]) => (a < b ? -1 : 1))) {
      this.#name(directive);
      this.#args(directive, directive);
    }
  }

  #name(at: Node): void {
    const name = text(at, "Name");
    if (name.startsWith("__")) {
      fail(at, `Name "${name}" must not begin with "__", which is reserved by GraphQL introspection.`);
    }
  }

  /** The kind of the type that a member has. */
  #kind(member: Node): string {
    charge(4);
    const type = child(member, "Type");
    const found = this.#types.get(nameOf(type));
    if (found === undefined) fail(type ?? member, `Undefined type ${nameOf(type)}.`);
    return text(found, "Kind");
  }

  #args(owner: Node, directive?: Node): void {
    for (const argument of list(owner, "Arguments")) {
      this.#name(argument);
      const kind = this.#kind(argument);
      if (!INPUT_KINDS.includes(kind)) {
        const type = typeText(child(argument, "Type") as Node);
        fail(argument, `cannot use ${type} as argument ${text(argument, "Name")} because ${kind} is not a valid input type`);
      }
      this.#applied(argument, "ARGUMENT_DEFINITION", directive);
    }
  }

  #applied(owner: Node, location: string, within?: Node): void {
    for (const directive of list(owner, "Directives")) {
      this.#name(directive);
      const name = text(directive, "Name");
      if (within !== undefined && name === text(within, "Name")) fail(directive, `Directive ${name} cannot refer to itself.`);
      const definition = this.#directives.get(name);
      if (definition === undefined) fail(directive, `Undefined directive ${name}.`);
      if (!texts(definition, "Locations").includes(location)) {
        fail(directive, `Directive ${name} is not applicable on ${location}.`);
      }
      const given = list(directive, "Arguments");
      const wanted = list(definition, "Arguments");
      for (const argument of given) {
        if (named(wanted, text(argument, "Name")) === undefined) {
          fail(argument, `Undefined argument ${text(argument, "Name")} for directive ${name}.`);
        }
      }
      for (const argument of wanted) {
        if (child(argument, "Type")?.NonNull !== true || child(argument, "DefaultValue") !== undefined) continue;
        const value = child(named(given, text(argument, "Name")) ?? {}, "Value");
        if (value === undefined || VALUE_KINDS[value.Kind as number] === "Null") {
          fail(directive, `Argument ${text(argument, "Name")} for directive ${name} cannot be null.`);
        }
      }
    }
  }

  #definition(type: Node): void {
    const [kind, name, fields] = [text(type, "Kind"), text(type, "Name"), list(type, "Fields")];
    for (const field of fields) {
      this.#name(field);
      this.#kind(field);
      this.#args(field);
      this.#applied(field, kind === "INPUT_OBJECT" ? "INPUT_FIELD_DEFINITION" : "FIELD_DEFINITION");
    }
    for (const value of list(type, "EnumValues")) this.#applied(value, "ENUM_VALUE");
    for (const member of texts(type, "Types")) {
      const found = this.#types.get(member);
      if (found === undefined) fail(type, `Undefined type ${JSON.stringify(member)}.`);
      if (text(found, "Kind") !== "OBJECT") fail(type, `${kind} type ${JSON.stringify(member)} must be OBJECT.`);
    }
    for (const parent of texts(type, "Interfaces")) this.#implementation(type, parent);
    this.#members(type, kind, name, fields);
    const seen = new Set<string>();
    for (const field of fields) {
      const own = text(field, "Name");
      if (seen.has(own)) fail(field, `Field ${name}.${own} can only be defined once.`);
      seen.add(own);
    }
    if (type.BuiltIn !== true) this.#name(type);
    this.#applied(type, kind);
  }

  #members(type: Node, kind: string, name: string, fields: readonly Node[]): void {
    if (BUILT_IN_NAMES.has(name)) return;
    if (kind === "OBJECT" || kind === "INTERFACE") {
      if (fields.length === 0) fail(type, `${kind} ${name}: must define one or more fields.`);
      for (const field of fields) {
        if (!OUTPUT_KINDS.includes(this.#kind(field))) {
          fail(field, `${kind} ${name}: field must be one of ${OUTPUT_KINDS.join(", ")}.`);
        }
      }
    }
    if (kind === "ENUM") {
      const values = list(type, "EnumValues").map((value) => text(value, "Name"));
      if (values.length === 0) fail(type, `ENUM ${name}: must define one or more unique enum values.`);
      const wrong = values.find((value) => ["true", "false", "null"].includes(value));
      if (wrong !== undefined) fail(type, `ENUM ${name}: non-enum value ${wrong}.`);
    }
    if (kind === "INPUT_OBJECT") {
      if (fields.length === 0) fail(type, `INPUT_OBJECT ${name}: must define one or more input fields.`);
      for (const field of fields) {
        const own = this.#kind(field);
        if (!INPUT_KINDS.includes(own))
          fail(field, `${own} ${text(field, "Name")}: field must be one of ${INPUT_KINDS.join(", ")}.`);
      }
    }
  }

  #implementation(type: Node, parent: string): void {
    const required = this.#types.get(parent);
    if (required === undefined) fail(type, `Undefined type ${JSON.stringify(parent)}.`);
    if (text(required, "Kind") !== "INTERFACE") {
      fail(type, `${JSON.stringify(parent)} is a non interface type ${text(required, "Kind")}.`);
    }
    const claim = `For ${text(type, "Name")} to implement ${parent}`;
    for (const wanted of list(required, "Fields")) {
      const name = text(wanted, "Name");
      const field = named(list(type, "Fields"), name);
      if (field === undefined) fail(type, `${claim} it must have a field called ${name}.`);
      const wantedType = child(wanted, "Type");
      const fieldType = child(field, "Type");
      if (wantedType === undefined || fieldType === undefined || !this.#covariant(wantedType, fieldType)) {
        fail(field, `${claim} the field ${name} must have type ${typeText(wantedType ?? {})}.`);
      }
      this.#implementedArguments(claim, name, wanted, field);
    }
    const own = texts(type, "Interfaces");
    for (const transitive of texts(required, "Interfaces")) {
      charge(own.length);
      if (own.includes(transitive)) continue;
      const name = text(type, "Name");
      if (transitive === name) {
        fail(type, `Type ${name} cannot implement ${parent} because it would create a circular reference.`);
      }
      fail(type, `Type ${name} must implement ${transitive} because it is implemented by ${parent}.`);
    }
  }

  #implementedArguments(claim: string, name: string, wanted: Node, field: Node): void {
    const same = `${claim} the field ${name} must have the same arguments but`;
    for (const argument of list(wanted, "Arguments")) {
      const found = named(list(field, "Arguments"), text(argument, "Name"));
      if (found === undefined) fail(field, `${same} it is missing ${text(argument, "Name")}.`);
      if (!compatible(child(argument, "Type"), child(found, "Type"))) {
        fail(found, `${same} ${text(argument, "Name")} has the wrong type.`);
      }
    }
    for (const argument of list(field, "Arguments")) {
      const own = text(argument, "Name");
      const demanded = child(argument, "Type")?.NonNull === true && child(argument, "DefaultValue") === undefined;
      if (demanded && named(list(wanted, "Arguments"), own) === undefined) {
        fail(
          argument,
          `${claim} any additional arguments on ${name} must be optional or have a default value but ${own} is required.`,
        );
      }
    }
  }

  #covariant(required: Node, actual: Node): boolean {
    if (required.NonNull === true && actual.NonNull !== true) return false;
    const [name, own] = [text(required, "NamedType"), text(actual, "NamedType")];
    if (name !== "") return name === own || this.#possible.get(name)?.has(own) === true;
    const [wanted, given] = [child(required, "Elem"), child(actual, "Elem")];
    return wanted !== undefined && given !== undefined && this.#covariant(wanted, given);
  }
}

function compatible(type: Node | undefined, other: Node | undefined): boolean {
  if (type === undefined || other === undefined) return type === other;
  if (text(type, "NamedType") !== text(other, "NamedType")) return false;
  const elem = child(type, "Elem");
  if (elem !== undefined && !compatible(elem, child(other, "Elem"))) return false;
  return other.NonNull !== true || type.NonNull === true;
}

/** The schema of a type system document. Throws {@link BuiltinError} for one that is not valid; it need not have a query type. */
export function makeSchema(document: Node): Schema {
  const types = extended(document);
  const directives = directivesOf(document);
  const roots = rootsOf(document, types);
  new Checker(types, directives).check(document);
  if (list(document, "Schema").length === 0) {
    for (const [operation, name] of [
      ["query", "Query"],
      ["mutation", "Mutation"],
      ["subscription", "Subscription"],
    ] as const) {
      if (!roots.has(operation) && types.has(name)) roots.set(operation, name);
    }
  }
  return { types: new Map([...types].filter(([name]) => !BUILT_IN_NAMES.has(name))), directives, roots };
}
