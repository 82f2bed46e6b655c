import { BuiltinError, EvaluationError } from "../../errors.ts";
import { allocate, tick } from "../../value/meter.ts";
import { getKey, isArray, isNumber, isObject, type PlainObject, sortedKeys, typeName, type Value } from "../../value/value.ts";

/** A node of OPA's GraphQL trees: the fields of a Go struct, without what is null or empty. */
export type Node = PlainObject;

/** Where a node begins, both counted from 1. Nodes of a tree that a policy made have none. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A value may nest 200 times in a text, each time with a member between. */
const MAX_DEPTH = 450;

const positions = new WeakMap<Node, Position>();

/** Makes a node without its empty fields. */
export function node(fields: Readonly<Record<string, Value | undefined>>, position?: Position): Node {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && !(isArray(value) && value.length === 0));
  allocate(kept.length);
  const made = Object.fromEntries(kept) as Node;
  if (position !== undefined) positions.set(made, position);
  return made;
}

export function positionOf(at: Node): Position | undefined {
  return positions.get(at);
}

export function text(at: Node, field: string): string {
  const value = Object.hasOwn(at, field) ? at[field] : undefined;
  return typeof value === "string" ? value : "";
}

export function child(at: Node, field: string): Node | undefined {
  return Object.hasOwn(at, field) ? (at[field] as Node) : undefined;
}

export function list(at: Node, field: string): readonly Node[] {
  return Object.hasOwn(at, field) ? (at[field] as readonly Node[]) : [];
}

export function texts(at: Node, field: string): readonly string[] {
  return Object.hasOwn(at, field) ? (at[field] as readonly string[]) : [];
}

/** A field's type: a text, a flag, a number, selections, a struct, or a list of structs (`*name`) or texts (`*text`). */
type Structs = Readonly<Record<string, Readonly<Record<string, string>>>>;

const DESCRIBED = { BeforeDescriptionComment: "CommentGroup", Description: "text", AfterDescriptionComment: "CommentGroup" };
const ENDED = { ...DESCRIBED, EndOfDefinitionComment: "CommentGroup" };
const INPUT = { ...DESCRIBED, Name: "text", DefaultValue: "Value", Type: "Type", Directives: "*Directive" };

const STRUCTS: Structs = {
  QueryDocument: { Operations: "*OperationDefinition", Fragments: "*FragmentDefinition", Comment: "CommentGroup" },
  OperationDefinition: {
    Operation: "text",
    Name: "text",
    VariableDefinitions: "*VariableDefinition",
    Directives: "*Directive",
    SelectionSet: "selections",
  },
  FragmentDefinition: {
    Name: "text",
    VariableDefinition: "*VariableDefinition",
    TypeCondition: "text",
    Directives: "*Directive",
    SelectionSet: "selections",
  },
  Field: { Alias: "text", Name: "text", Arguments: "*Argument", Directives: "*Directive", SelectionSet: "selections" },
  FragmentSpread: { Name: "text", Directives: "*Directive", Comment: "CommentGroup" },
  InlineFragment: { TypeCondition: "text", Directives: "*Directive", SelectionSet: "selections" },
  VariableDefinition: {
    Variable: "text",
    Type: "Type",
    DefaultValue: "Value",
    Directives: "*Directive",
    Used: "flag",
    Comment: "CommentGroup",
  },
  Argument: { Name: "text", Value: "Value", Comment: "CommentGroup" },
  Directive: { Name: "text", Arguments: "*Argument", Location: "text" },
  Type: { NamedType: "text", Elem: "Type", NonNull: "flag" },
  Value: { Raw: "text", Children: "*ChildValue", Kind: "number", ExpectedTypeHasDefault: "flag", Comment: "CommentGroup" },
  ChildValue: { Name: "text", Value: "Value", Comment: "CommentGroup" },
  CommentGroup: { List: "*Comment" },
  Comment: { Value: "text" },
  SchemaDocument: {
    Schema: "*SchemaDefinition",
    SchemaExtension: "*SchemaDefinition",
    Directives: "*DirectiveDefinition",
    Definitions: "*Definition",
    Extensions: "*Definition",
    Comment: "CommentGroup",
  },
  SchemaDefinition: { ...ENDED, Directives: "*Directive", OperationTypes: "*OperationTypeDefinition" },
  OperationTypeDefinition: { Operation: "text", Type: "text", Comment: "CommentGroup" },
  DirectiveDefinition: {
    ...DESCRIBED,
    Name: "text",
    Arguments: "*ArgumentDefinition",
    Locations: "*text",
    IsRepeatable: "flag",
  },
  Definition: {
    ...ENDED,
    Kind: "text",
    Name: "text",
    Directives: "*Directive",
    Interfaces: "*text",
    Fields: "*FieldDefinition",
    Types: "*text",
    EnumValues: "*EnumValueDefinition",
    BuiltIn: "flag",
  },
  FieldDefinition: { ...INPUT, Arguments: "*ArgumentDefinition" },
  ArgumentDefinition: INPUT,
  EnumValueDefinition: { ...DESCRIBED, Name: "text", Directives: "*Directive" },
};

/** Structs whose reader takes field names literally; Go's own takes them in any case. */
const LITERAL = new Set(["OperationDefinition", "FragmentDefinition", "Field", "InlineFragment"]);

const ZERO: Readonly<Record<string, Value>> = { text: "", flag: false, number: 0 };

function mismatch(value: Value, struct: string, field: string): never {
  throw new BuiltinError(`json: cannot unmarshal ${typeName(value)} into Go struct field ${struct}.${field}`);
}

/** The node that Go's JSON reader makes of a policy's object: absent fields get their zero, unknown ones are lost. Throws {@link BuiltinError}. */
export function readNode(struct: string, value: Value, depth = 0): Node {
  tick();
  if (depth > MAX_DEPTH) throw new EvaluationError("eval_limit_error", "GraphQL tree is nested too deeply");
  if (!isObject(value)) return mismatch(value, "document", struct);
  const fields = STRUCTS[struct] as Readonly<Record<string, string>>;
  const given = new Map<string, Value>();
  for (const key of sortedKeys(value)) {
    if (typeof key !== "string") throw new BuiltinError("object has a key that is no string");
    given.set(LITERAL.has(struct) ? key : key.toLowerCase(), getKey(value, key) as Value);
  }
  const read: Record<string, Value | undefined> = {};
  for (const [field, type] of Object.entries(fields)) {
    const item = given.get(LITERAL.has(struct) ? field : field.toLowerCase());
    read[field] = item === undefined || item === null ? ZERO[type] : readField(struct, field, type, item, depth);
  }
  return node(read);
}

function readField(struct: string, field: string, type: string, item: Value, depth: number): Value {
  if (type === "selections" || type.startsWith("*")) {
    if (!isArray(item)) return mismatch(item, struct, field);
    if (type === "selections") return item.flatMap((one) => readSelection(one, depth + 1));
    return item.filter((one) => one !== null).map((one) => readField(struct, field, type.slice(1), one, depth));
  }
  switch (type) {
    case "text":
      return typeof item === "string" ? item : mismatch(item, struct, field);
    case "flag":
      return typeof item === "boolean" ? item : mismatch(item, struct, field);
    case "number":
      return isNumber(item) ? item : mismatch(item, struct, field);
    default:
      return readNode(type, item, depth + 1);
  }
}

/** A selection is the first of the three structs that fits; what fits none is lost. */
function readSelection(item: Value, depth: number): readonly Node[] {
  for (const struct of ["Field", "FragmentSpread", "InlineFragment"]) {
    try {
      return [readNode(struct, item, depth)];
    } catch (error) {
      if (!(error instanceof BuiltinError)) throw error;
    }
  }
  return [];
}
