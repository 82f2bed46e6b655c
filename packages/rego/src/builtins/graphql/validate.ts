import {
  type ASTNode,
  buildASTSchema,
  type DocumentNode,
  GraphQLError,
  specifiedRules,
  type ValidationRule,
  validate,
} from "graphql";
import { BuiltinError, EvaluationError } from "../../errors.ts";
import { charge } from "../../value/meter.ts";
import { child, list, type Node, type Position, positionOf, text, texts } from "./node.ts";
import { VALUE_KINDS } from "./parse.ts";
import type { Schema } from "./schema.ts";

/** Suggestions compare each unknown name with all names there are; more or longer ones are not suggested. */
const MAX_NAMES = 500;
const MAX_NAME = 40;

const DEFINITIONS: Readonly<Record<string, string>> = {
  SCALAR: "Scalar",
  OBJECT: "Object",
  INTERFACE: "Interface",
  UNION: "Union",
  ENUM: "Enum",
  INPUT_OBJECT: "InputObject",
};

/** A node of the specification's trees, with OPA's idea of where it begins. */
type Made = { readonly kind: string } & Readonly<Record<string, unknown>>;

/** Turns OPA's trees into those of the validator, counting what its rules will do. */
class Converter {
  readonly places = new Map<unknown, Position>();
  nodes = 0;
  spreads = 0;
  longest = 0;
  readonly fields = new Map<string, number>();

  #make(kind: string, from: Node | undefined, fields: Readonly<Record<string, unknown>>): Made {
    charge(16);
    this.nodes++;
    const made = { kind, ...fields };
    const position = from === undefined ? undefined : positionOf(from);
    if (position !== undefined) this.places.set(made, position);
    return made;
  }

  #name(value: string, from?: Node): Made {
    this.longest = Math.max(this.longest, value.length);
    return this.#make("Name", from, { value });
  }

  #typeName(value: string, from: Node): Made {
    return this.#make("NamedType", from, { name: this.#name(value, from) });
  }

  #type(from: Node | undefined): Made {
    if (from === undefined) throw new BuiltinError("GraphQL tree lacks a type");
    const elem = child(from, "Elem");
    const type =
      elem === undefined
        ? this.#typeName(text(from, "NamedType"), from)
        : this.#make("ListType", from, { type: this.#type(elem) });
    return from.NonNull === true ? this.#make("NonNullType", from, { type }) : type;
  }

  #value(from: Node | undefined): Made {
    if (from === undefined) throw new BuiltinError("GraphQL tree lacks a value");
    const raw = text(from, "Raw");
    const kind = VALUE_KINDS[from.Kind as number];
    const children = list(from, "Children");
    switch (kind) {
      case undefined:
        throw new BuiltinError("GraphQL tree has a value of no kind");
      case "Variable":
        return this.#make("Variable", from, { name: this.#name(raw, from) });
      case "String":
      case "BlockString":
        return this.#make("StringValue", from, { value: raw, block: kind === "BlockString" });
      case "Boolean":
        return this.#make("BooleanValue", from, { value: raw === "true" });
      case "List":
        return this.#make("ListValue", from, { values: children.map((one) => this.#value(child(one, "Value"))) });
      case "Object":
        return this.#make("ObjectValue", from, {
          fields: children.map((one) =>
            this.#make("ObjectField", one, { name: this.#name(text(one, "Name"), one), value: this.#value(child(one, "Value")) }),
          ),
        });
      default:
        return this.#make(`${kind}Value`, from, { value: raw });
    }
  }

  #named(kind: string, from: Node, fields: Readonly<Record<string, unknown>>): Made {
    return this.#make(kind, from, { name: this.#name(text(from, "Name"), from), ...fields });
  }

  #arguments(from: Node): readonly Made[] {
    return list(from, "Arguments").map((one) => {
      const made = this.#named("Argument", one, { value: this.#value(child(one, "Value")) });
      // an unknown argument is told at its owner, an equal one at its own place
      const owner = positionOf(from);
      if (owner !== undefined) this.places.set(made, owner);
      return made;
    });
  }

  #directives(from: Node): readonly Made[] {
    return list(from, "Directives").map((one) => this.#named("Directive", one, { arguments: this.#arguments(one) }));
  }

  #selectionSet(from: Node): Made {
    return this.#make("SelectionSet", from, { selections: list(from, "SelectionSet").map((one) => this.#selection(one)) });
  }

  #selection(from: Node): Made {
    const directives = this.#directives(from);
    if (Object.hasOwn(from, "TypeCondition")) {
      this.spreads++;
      const condition = text(from, "TypeCondition");
      const typeCondition = condition === "" ? undefined : this.#typeName(condition, from);
      return this.#make("InlineFragment", from, { typeCondition, directives, selectionSet: this.#selectionSet(from) });
    }
    if (!Object.hasOwn(from, "Alias")) {
      this.spreads++;
      return this.#named("FragmentSpread", from, { directives });
    }
    const alias = text(from, "Alias");
    const shown = alias === "" ? text(from, "Name") : alias;
    this.fields.set(shown, (this.fields.get(shown) ?? 0) + 1);
    return this.#named("Field", from, {
      alias: alias === "" || alias === text(from, "Name") ? undefined : this.#name(alias, from),
      arguments: this.#arguments(from),
      directives,
      selectionSet: list(from, "SelectionSet").length === 0 ? undefined : this.#selectionSet(from),
    });
  }

  query(document: Node): Made {
    const operations = list(document, "Operations").map((one) =>
      this.#make("OperationDefinition", one, {
        operation: text(one, "Operation"),
        name: text(one, "Name") === "" ? undefined : this.#name(text(one, "Name"), one),
        variableDefinitions: list(one, "VariableDefinitions").map((variable) => this.#variable(variable)),
        directives: this.#directives(one),
        selectionSet: this.#selectionSet(one),
      }),
    );
    const fragments = list(document, "Fragments").map((one) =>
      this.#named("FragmentDefinition", one, {
        typeCondition: this.#typeName(text(one, "TypeCondition"), one),
        directives: this.#directives(one),
        selectionSet: this.#selectionSet(one),
      }),
    );
    return this.#make("Document", undefined, { definitions: [...operations, ...fragments] });
  }

  #variable(from: Node): Made {
    const value = child(from, "DefaultValue");
    return this.#make("VariableDefinition", from, {
      variable: this.#make("Variable", from, { name: this.#name(text(from, "Variable"), from) }),
      type: this.#type(child(from, "Type")),
      defaultValue: value === undefined ? undefined : this.#value(value),
      directives: this.#directives(from),
    });
  }

  #input(from: Node): Made {
    const value = child(from, "DefaultValue");
    return this.#named("InputValueDefinition", from, {
      type: this.#type(child(from, "Type")),
      defaultValue: value === undefined ? undefined : this.#value(value),
      directives: this.#directives(from),
    });
  }

  #definition(from: Node): Made {
    const kind = text(from, "Kind");
    const fields = list(from, "Fields");
    return this.#named(`${DEFINITIONS[kind]}TypeDefinition`, from, {
      directives: this.#directives(from),
      interfaces: texts(from, "Interfaces").map((one) => this.#typeName(one, from)),
      types: texts(from, "Types").map((one) => this.#typeName(one, from)),
      values: list(from, "EnumValues").map((one) =>
        this.#named("EnumValueDefinition", one, { directives: this.#directives(one) }),
      ),
      fields:
        kind === "INPUT_OBJECT"
          ? fields.map((one) => this.#input(one))
          : fields.map((one) =>
              this.#named("FieldDefinition", one, {
                arguments: list(one, "Arguments").map((argument) => this.#input(argument)),
                type: this.#type(child(one, "Type")),
                directives: this.#directives(one),
              }),
            ),
    });
  }

  schema({ types, directives, roots }: Schema): Made {
    const known = [...types.values()].filter((type) => Object.hasOwn(DEFINITIONS, text(type, "Kind")));
    return this.#make("Document", undefined, {
      definitions: [
        ...known.map((type) => this.#definition(type)),
        ...[...directives.values()].map((one) =>
          this.#named("DirectiveDefinition", one, {
            arguments: list(one, "Arguments").map((argument) => this.#input(argument)),
            // OPA's library allows no directive twice
            repeatable: false,
            locations: texts(one, "Locations").map((location) => this.#name(location)),
          }),
        ),
        this.#make("SchemaDefinition", undefined, {
          directives: [],
          operationTypes: [...roots].map(([operation, type]) =>
            this.#make("OperationTypeDefinition", undefined, {
              operation,
              type: this.#make("NamedType", undefined, { name: this.#name(type) }),
            }),
          ),
        }),
      ],
    });
  }
}

const ROOTS: ReadonlySet<string> = new Set(["query", "mutation", "subscription"]);

/** An operation needs a root type. */
const knownRootType: ValidationRule = (context) => ({
  OperationDefinition(operation) {
    if (ROOTS.has(operation.operation) && !context.getSchema().getRootType(operation.operation)) {
      const message = `Schema does not support operation type "${operation.operation}"`;
      context.reportError(new GraphQLError(message, { nodes: [operation] }));
    }
  },
});

/** OPA's integers have 64 bits, the specification's 32. */
function isWide(error: GraphQLError): boolean {
  const digits = /^Int cannot represent non 32-bit signed integer value: (-?\d{1,20})$/.exec(error.message)?.[1];
  return digits !== undefined && BigInt.asIntN(64, BigInt(digits)) === BigInt(digits);
}

/** Where OPA tells an error: at the last of the nodes that are equal, at the use and not at the definition of a variable. */
function placeOf(error: GraphQLError, places: ReadonlyMap<unknown, Position>): Position | undefined {
  const nodes: readonly ASTNode[] = error.nodes ?? [];
  const told = nodes.filter((one, i) => i === 0 || one.kind !== "OperationDefinition");
  const last = /^There can be only one|used in position expecting|conflict because|only be used once|within itself/.test(
    error.message,
  );
  return places.get(last ? told.at(-1) : told[0]);
}

/** What the validator may do with a document of this size: it compares fields of one name, and follows fragments from everywhere. */
function chargeRules(query: Converter, document: Node, types: number): void {
  const definitions = list(document, "Operations").length + list(document, "Fragments").length;
  for (const count of query.fields.values()) charge(2 * count * count);
  charge(query.nodes * (definitions + 4) + query.spreads * (query.spreads + types));
}

/** Validates a query. Throws {@link BuiltinError} with what is wrong, in OPA's words. */
export function validateQuery(schema: Schema, document: Node): void {
  const declared = new Converter();
  const asked = new Converter();
  let errors: readonly GraphQLError[];
  try {
    const types = buildASTSchema(declared.schema(schema) as unknown as DocumentNode, { assumeValid: true, assumeValidSDL: true });
    const query = asked.query(document) as unknown as DocumentNode;
    chargeRules(asked, document, schema.types.size);
    const names = declared.nodes + asked.nodes;
    const hideSuggestions = names > MAX_NAMES || Math.max(declared.longest, asked.longest) > MAX_NAME;
    errors = validate(types, query, [knownRootType, ...specifiedRules], { hideSuggestions }).filter((error) => !isWide(error));
  } catch (error) {
    if (error instanceof BuiltinError || error instanceof EvaluationError) throw error;
    throw new BuiltinError(`GraphQL validation failed: ${error instanceof Error ? error.message : "unknown"}`);
  }
  if (errors[0] === undefined) return;
  const told = errors.map((error) => {
    const at = placeOf(error, asked.places);
    return `input:${at === undefined ? "" : `${at.line}:${at.column}:`} ${error.message}\n`;
  });
  const place = placeOf(errors[0], asked.places);
  if (place === undefined) throw new BuiltinError(`GraphQL parse error: ${told.join("")}`);
  const message = told
    .join("")
    .replace(/^input:\d+:\d+: /, "")
    .replace(/\.\n$/, "");
  throw new BuiltinError(`${message} in GraphQL string at location ${place.line}:${place.column}`);
}
