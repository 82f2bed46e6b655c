import { GraphQLError, Lexer, Source, type Token } from "graphql";
import { BuiltinError, EvaluationError } from "../../errors.ts";
import { allocateText, charge } from "../../value/meter.ts";
import { type Node, node, type Position } from "./node.ts";

const MAX_NESTING = 200;
const OPERATIONS = ["query", "mutation", "subscription"];
const LOCATIONS = new Set(
  "QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT VARIABLE_DEFINITION SCHEMA SCALAR OBJECT FIELD_DEFINITION ARGUMENT_DEFINITION INTERFACE UNION ENUM ENUM_VALUE INPUT_OBJECT INPUT_FIELD_DEFINITION".split(
    " ",
  ),
);
const KINDS: Readonly<Record<string, string>> = {
  scalar: "SCALAR",
  type: "OBJECT",
  interface: "INTERFACE",
  union: "UNION",
  enum: "ENUM",
  input: "INPUT_OBJECT",
};
/** What the numbers in `Kind` of a value stand for. */
export const VALUE_KINDS = [
  "Variable",
  "Int",
  "Float",
  "String",
  "BlockString",
  "Boolean",
  "Null",
  "Enum",
  "List",
  "Object",
] as const;

/** Reads GraphQL by the grammar of OPA's reader, which is wider than the specification's in places, into OPA's trees. */
class Parser {
  readonly #lexer: Lexer;
  #nesting = 0;
  token: Token;

  constructor(source: string) {
    charge(source.length);
    allocateText(source.length);
    this.#lexer = new Lexer(new Source(source));
    this.token = this.#lexer.token;
    this.#advance();
  }

  #advance(): Token {
    const consumed = this.token;
    charge(2);
    try {
      this.token = this.#lexer.advance();
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      const { line, column } = error.locations?.[0] ?? consumed;
      // the reader has an invalid token there, and says what it wanted instead
      this.token = { ...consumed.toJSON(), kind: "<Invalid>", value: "", line, column, prev: null } as unknown as Token;
    }
    return consumed;
  }

  #fail(message: string, { line, column }: Position = this.position()): never {
    throw new BuiltinError(`${message} in GraphQL string at location ${line}:${column}`);
  }

  #unexpected(token: Token = this.token): never {
    this.#fail(`Unexpected ${shown(token)}`, place(token));
  }

  position(): Position {
    return place(this.token);
  }

  at(kind: string): boolean {
    return this.token.kind === kind;
  }

  /** Whether the token's text is the word, be it a name or a string, as the reader sees it. */
  #word(word: string): boolean {
    return this.token.value === word;
  }

  #skip(kind: string): boolean {
    if (!this.at(kind)) return false;
    this.#advance();
    return true;
  }

  #expect(kind: string): Token {
    if (!this.at(kind)) this.#fail(`Expected ${kind}, found ${this.token.kind}`);
    return this.#advance();
  }

  #keyword(word: string): void {
    if (!this.at("Name") || !this.#word(word)) {
      this.#fail(`Expected ${JSON.stringify(word)}, found ${shown(this.token)}`);
    }
    this.#advance();
  }

  #name(): string {
    return this.#expect("Name").value;
  }

  /** The comments before the token. */
  #comment(): Node | undefined {
    const found: Node[] = [];
    for (let at = this.token.prev; at?.kind === "Comment"; at = at.prev) found.push(node({ Value: `#${at.value}` }));
    charge(found.length);
    return found.length === 0 ? undefined : node({ List: found.reverse() });
  }

  /** One level down, which is refused when it is one of too many. */
  #nested<T>(read: () => T): T {
    if (++this.#nesting > MAX_NESTING) throw new EvaluationError("eval_limit_error", "GraphQL text is nested too deeply");
    const result = read();
    this.#nesting--;
    return result;
  }

  /** Items in brackets; none without brackets. `filled` refuses empty brackets. */
  #items<T>(open: string, close: string, read: () => T, filled = true): readonly T[] {
    if (!this.#skip(open)) return [];
    if (filled && this.at(close)) this.#fail(`expected at least one definition, found ${close}`);
    return this.#untilClosed(close, read);
  }

  #untilClosed<T>(close: string, read: () => T): readonly T[] {
    const found: T[] = [];
    while (!this.at(close)) found.push(read());
    this.#advance();
    return found;
  }

  query(): Node {
    const operations: Node[] = [];
    const fragments: Node[] = [];
    while (!this.at("<EOF>")) {
      if (this.at("{") || (this.at("Name") && OPERATIONS.includes(this.token.value))) operations.push(this.#operation());
      else if (this.at("Name") && this.#word("fragment")) fragments.push(this.#fragment());
      else this.#unexpected();
    }
    return node({ Operations: operations, Fragments: fragments });
  }

  #operation(): Node {
    const position = this.position();
    // a query without its keyword has no comments
    if (this.at("{")) return node({ Operation: "query", Name: "", SelectionSet: this.#selections() }, position);
    const Comment = this.#comment();
    const Operation = this.#advance().value;
    const Name = this.at("Name") ? this.#name() : "";
    const VariableDefinitions = this.#variables();
    const Directives = this.#directives();
    return node({ Operation, Name, VariableDefinitions, Directives, SelectionSet: this.#selections(), Comment }, position);
  }

  #fragment(): Node {
    const position = this.position();
    const Comment = this.#comment();
    this.#advance();
    if (this.#word("on")) this.#unexpected();
    const Name = this.#name();
    const VariableDefinition = this.#variables();
    this.#keyword("on");
    const TypeCondition = this.#name();
    const Directives = this.#directives();
    return node({ Name, VariableDefinition, TypeCondition, Directives, SelectionSet: this.#selections(), Comment }, position);
  }

  #variables(): readonly Node[] {
    return this.#items("(", ")", () => {
      const position = this.position();
      const Comment = this.#comment();
      this.#expect("$");
      const Variable = this.#name();
      this.#expect(":");
      const Type = this.#type();
      const DefaultValue = this.#skip("=") ? this.#value(true) : undefined;
      return node({ Variable, Type, DefaultValue, Directives: this.#directives(), Used: false, Comment }, position);
    });
  }

  #selections(): readonly Node[] {
    if (!this.at("{")) this.#fail(`Expected {, found ${this.token.kind}`);
    return this.#nested(() => this.#items("{", "}", () => (this.at("...") ? this.#spread() : this.#field())));
  }

  #field(): Node {
    const position = this.position();
    const Comment = this.#comment();
    const Alias = this.#name();
    const Name = this.#skip(":") ? this.#name() : Alias;
    const Arguments = this.#args(false);
    const Directives = this.#directives();
    const SelectionSet = this.at("{") ? this.#selections() : [];
    return node({ Alias, Name, Arguments, Directives, SelectionSet, Comment }, position);
  }

  #spread(): Node {
    const Comment = this.#comment();
    this.#advance();
    const position = this.position();
    if (this.at("Name") && !this.#word("on")) {
      return node({ Name: this.#name(), Directives: this.#directives(), Comment }, position);
    }
    let TypeCondition = "";
    if (this.#word("on")) {
      this.#advance();
      TypeCondition = this.#name();
    }
    const Directives = this.#directives();
    return node({ TypeCondition, Directives, SelectionSet: this.#selections(), Comment }, position);
  }

  #args(constant: boolean): readonly Node[] {
    return this.#items("(", ")", () => {
      const position = this.position();
      const Comment = this.#comment();
      const Name = this.#name();
      this.#expect(":");
      return node({ Name, Value: this.#value(constant), Comment }, position);
    });
  }

  #directives(constant = false): readonly Node[] {
    const found: Node[] = [];
    while (this.#skip("@")) {
      const position = this.position();
      found.push(node({ Name: this.#name(), Arguments: this.#args(constant), Location: "" }, position));
    }
    return found;
  }

  #value(constant: boolean): Node {
    const position = this.position();
    const made = (
      kind: (typeof VALUE_KINDS)[number],
      Raw: string,
      more: Readonly<Record<string, Node | readonly Node[] | undefined>> = {},
    ) => node({ Raw, Kind: VALUE_KINDS.indexOf(kind), ExpectedTypeHasDefault: false, ...more }, position);
    const Comment = this.#comment();
    switch (this.token.kind) {
      case "[": {
        const item = () => node({ Name: "", Value: this.#value(constant) });
        return this.#nested(() => made("List", "", { Children: this.#items("[", "]", item, false), Comment }));
      }
      case "{":
        return this.#nested(() =>
          made("Object", "", { Children: this.#items("{", "}", () => this.#member(constant), false), Comment }),
        );
      case "$":
        if (constant) this.#unexpected();
        this.#advance();
        return made("Variable", this.#name());
      case "Int":
      case "Float":
      case "String":
      case "BlockString": {
        const kind = this.token.kind;
        return made(kind, this.#advance().value);
      }
      case "Name": {
        const name = this.#name();
        return made(name === "true" || name === "false" ? "Boolean" : name === "null" ? "Null" : "Enum", name);
      }
      default:
        return this.#unexpected();
    }
  }

  #member(constant: boolean): Node {
    const position = this.position();
    const Comment = this.#comment();
    const Name = this.#name();
    this.#expect(":");
    return node({ Name, Value: this.#value(constant), Comment }, position);
  }

  #type(): Node {
    let position = this.position();
    let Elem: Node | undefined;
    let NamedType = "";
    if (this.#skip("[")) {
      position = this.position();
      Elem = this.#nested(() => this.#type());
      this.#expect("]");
    } else NamedType = this.#name();
    if (this.at("!")) position = this.position();
    return node({ NamedType, Elem, NonNull: this.#skip("!") }, position);
  }

  schema(): Node {
    const document: Record<string, Node[]> = {
      Schema: [],
      SchemaExtension: [],
      Directives: [],
      Definitions: [],
      Extensions: [],
    };
    while (!this.at("<EOF>")) {
      const description = this.#description();
      if (!this.at("Name")) this.#unexpected();
      const word = this.token.value;
      if (Object.hasOwn(KINDS, word)) document.Definitions?.push(this.#definition(description));
      else if (word === "schema") document.Schema?.push(this.#schemaDefinition(description));
      else if (word === "directive") document.Directives?.push(this.#directiveDefinition(description));
      else if (word === "extend") {
        if (description.Description !== "") this.#unexpected(this.token.prev ?? this.token);
        const before = { Description: "", AfterDescriptionComment: this.#comment() };
        this.#advance();
        if (this.#word("schema")) document.SchemaExtension?.push(this.#schemaDefinition(before, true));
        else if (Object.hasOwn(KINDS, this.token.value ?? "")) document.Extensions?.push(this.#definition(before, true));
        else this.#unexpected();
      } else this.#unexpected();
    }
    return node({ ...document, Comment: this.#comment() });
  }

  #description(): Described {
    if (!this.at("String") && !this.at("BlockString")) return { Description: "" };
    const BeforeDescriptionComment = this.#comment();
    return { BeforeDescriptionComment, Description: this.#advance().value };
  }

  /** The description of a member of a definition, and the comments around it; those before an empty one are lost. */
  #memberDescription(): Described {
    const found = this.#description();
    const AfterDescriptionComment = this.#comment();
    return found.Description === "" ? { Description: "", AfterDescriptionComment } : { ...found, AfterDescriptionComment };
  }

  /** Members in braces, and the comments before the closing one. */
  #members(read: () => Node): readonly [readonly Node[], Node | undefined] {
    let end: Node | undefined;
    const found = this.#items("{", "}", () => {
      const member = read();
      if (this.at("}")) end = this.#comment();
      return member;
    });
    return [found, end];
  }

  #schemaDefinition(described: Described, extends_ = false): Node {
    const AfterDescriptionComment = described.AfterDescriptionComment ?? (extends_ ? undefined : this.#comment());
    this.#keyword("schema");
    const position = this.position();
    const Directives = this.#directives(true);
    const [OperationTypes, EndOfDefinitionComment] = this.#members(() => {
      const start = this.position();
      const Comment = this.#comment();
      if (!OPERATIONS.includes(this.token.value)) this.#unexpected();
      const Operation = this.#advance().value;
      this.#expect(":");
      return node({ Operation, Type: this.#name(), Comment }, start);
    });
    if (extends_ && Directives.length + OperationTypes.length === 0) this.#unexpected();
    return node({ ...described, AfterDescriptionComment, Directives, OperationTypes, EndOfDefinitionComment }, position);
  }

  #definition(described: Described, extends_ = false): Node {
    const AfterDescriptionComment = described.AfterDescriptionComment ?? (extends_ ? undefined : this.#comment());
    const word = this.#advance().value;
    const position = this.position();
    const Name = this.#name();
    const implementing = word === "type" || (word === "interface" && !extends_);
    const Interfaces = implementing && this.#word("implements") ? this.#separated("&") : [];
    const Directives = this.#directives(!(extends_ && word === "input"));
    const Types = word === "union" && this.at("=") ? this.#separated("|") : [];
    const read = {
      type: this.#fieldDefinition,
      interface: this.#fieldDefinition,
      input: this.#inputField,
      enum: this.#enumValue,
    }[word];
    const [members, EndOfDefinitionComment] = read === undefined ? [[], undefined] : this.#members(() => read.call(this));
    if (extends_ && Interfaces.length + Directives.length + Types.length + members.length === 0) this.#unexpected();
    return node(
      {
        ...described,
        AfterDescriptionComment,
        Kind: KINDS[word] as string,
        Name,
        Interfaces,
        Directives,
        Types,
        [word === "enum" ? "EnumValues" : "Fields"]: members,
        BuiltIn: false,
        EndOfDefinitionComment,
      },
      position,
    );
  }

  /** Names after the token at hand, with a separator that may lead them too. */
  #separated(separator: string): readonly string[] {
    this.#advance();
    this.#skip(separator);
    const names = [this.#name()];
    while (this.#skip(separator)) names.push(this.#name());
    return names;
  }

  #fieldDefinition(): Node {
    const position = this.position();
    const described = this.#memberDescription();
    const Name = this.#name();
    const Arguments = this.#argumentDefinitions();
    this.#expect(":");
    const Type = this.#type();
    return node({ ...described, Name, Arguments, Type, Directives: this.#directives(true) }, position);
  }

  #inputField(): Node {
    const position = this.position();
    const described = this.#memberDescription();
    const Name = this.#name();
    this.#expect(":");
    const Type = this.#type();
    const DefaultValue = this.#skip("=") ? this.#value(true) : undefined;
    return node({ ...described, Name, Type, DefaultValue, Directives: this.#directives(true) }, position);
  }

  #enumValue(): Node {
    const position = this.position();
    const described = this.#memberDescription();
    return node({ ...described, Name: this.#name(), Directives: this.#directives(true) }, position);
  }

  #argumentDefinitions(): readonly Node[] {
    return this.#items("(", ")", () => this.#inputField());
  }

  #directiveDefinition(described: Described): Node {
    const AfterDescriptionComment = this.#comment();
    this.#keyword("directive");
    this.#expect("@");
    const position = this.position();
    const Name = this.#name();
    const Arguments = this.#argumentDefinitions();
    const IsRepeatable = this.at("Name") && this.#word("repeatable");
    if (IsRepeatable) this.#advance();
    this.#keyword("on");
    const Locations: string[] = [];
    this.#skip("|");
    do {
      const location = this.#expect("Name");
      if (!LOCATIONS.has(location.value)) this.#unexpected(location);
      Locations.push(location.value);
    } while (this.#skip("|"));
    return node({ ...described, AfterDescriptionComment, Name, Arguments, Locations, IsRepeatable }, position);
  }
}

interface Described {
  readonly BeforeDescriptionComment?: Node | undefined;
  readonly Description: string;
  readonly AfterDescriptionComment?: Node | undefined;
}

/** A token in an error: its kind, and its text if it has one. */
function shown({ kind, value }: Token): string {
  return value ? `${kind} ${JSON.stringify(kind === "Comment" ? `#${value}` : value)}` : kind;
}

/** A string's place is behind its opening quote. */
function place({ kind, line, column }: Token): Position {
  const quotes = kind === "BlockString" ? 3 : kind === "String" ? 1 : 0;
  return { line, column: column + quotes };
}

/** The tree of an executable document. Throws {@link BuiltinError} with the place of the first error. */
export function parseQuery(source: string): Node {
  return new Parser(source).query();
}

/** The tree of a type system document. Throws {@link BuiltinError} with the place of the first error. */
export function parseSchema(source: string): Node {
  return new Parser(source).schema();
}
