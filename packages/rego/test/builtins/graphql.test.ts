import { compile } from "@seneschal/rego";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { documentOf } from "../document-of.ts";
import { rounds } from "../rounds.ts";

const SCHEMA = `
  type Query { hero(id: Int, kind: Kind = JEDI): Hero! any: Thing count(of: Int!): Int big(n: Int): Int }
  interface Hero { id: ID! name: String }
  type Droid implements Hero { id: ID! name: String serial: Int }
  union Thing = Droid
  enum Kind { JEDI SITH }
`;

function call(name: string, ...operands: readonly unknown[]): unknown {
  const names = operands.map((_, i) => `input[${i}]`).join(", ");
  return documentOf(`p := graphql.${name}(${names})`, operands);
}

function message(name: string, ...operands: readonly unknown[]): string {
  const names = operands.map((_, i) => `input[${i}]`).join(", ");
  const policy = compile([{ name: "t.rego", source: `package t\n\np := graphql.${name}(${names})\n` }]);
  const result = policy.evaluate("data.t.p", operands, { strict: true });
  return result.kind === "error" ? result.message.replace(/^.*?: graphql\.\w+: /, "") : result.kind;
}

const value = (Kind: number, Raw: string, more = {}) => ({ ExpectedTypeHasDefault: false, Kind, Raw, ...more });
const comment = (...texts: readonly string[]) => ({ List: texts.map((Value) => ({ Value })) });

describe("graphql.parse_query, the trees of OPA's library", () => {
  test("every kind of value has its number and its text", () => {
    const query = '{a(i:1 f:-1.5e3 s:"t" b:"""u""" t:true n:null e:E l:[1 $v] o:{k:[]})}';
    const tree = call("parse_query", query) as { Operations: [{ SelectionSet: [{ Arguments: readonly { Value: unknown }[] }] }] };
    expect(tree.Operations[0].SelectionSet[0].Arguments.map((one) => one.Value)).toEqual([
      value(1, "1"),
      value(2, "-1.5e3"),
      value(3, "t"),
      value(4, "u"),
      value(5, "true"),
      value(6, "null"),
      value(7, "E"),
      value(8, "", {
        Children: [
          { Name: "", Value: value(1, "1") },
          { Name: "", Value: value(0, "v") },
        ],
      }),
      value(9, "", { Children: [{ Name: "k", Value: value(8, "") }] }),
    ]);
  });

  test("operations, variables, fragments, spreads and directives have their fields, and no empty lists", () => {
    const query = "mutation M($v: [Int!] = 1 @d) { x: y ...F @d ... on T { z } ... { w } } fragment F($a: Int) on T { id }";
    const d = [{ Location: "", Name: "d" }];
    expect(call("parse_query", query)).toEqual({
      Operations: [
        {
          Name: "M",
          Operation: "mutation",
          SelectionSet: [
            { Alias: "x", Name: "y" },
            { Directives: d, Name: "F" },
            { SelectionSet: [{ Alias: "z", Name: "z" }], TypeCondition: "T" },
            { SelectionSet: [{ Alias: "w", Name: "w" }], TypeCondition: "" },
          ],
          VariableDefinitions: [
            {
              DefaultValue: value(1, "1"),
              Directives: d,
              Type: { Elem: { NamedType: "Int", NonNull: true }, NamedType: "", NonNull: false },
              Used: false,
              Variable: "v",
            },
          ],
        },
      ],
      Fragments: [
        {
          Name: "F",
          SelectionSet: [{ Alias: "id", Name: "id" }],
          TypeCondition: "T",
          VariableDefinition: [{ Type: { NamedType: "Int", NonNull: false }, Used: false, Variable: "a" }],
        },
      ],
    });
    expect(call("parse_query", "")).toEqual({});
  });

  test("comments belong to the node that they precede", () => {
    expect(call("parse_query", "# top\nquery { # in\n # and\n a(# x\n b: 1) # end\n}\n# over")).toEqual({
      Operations: [
        {
          Comment: comment("# top"),
          Name: "",
          Operation: "query",
          SelectionSet: [
            {
              Alias: "a",
              Arguments: [{ Comment: comment("# x"), Name: "b", Value: value(1, "1") }],
              Comment: comment("# in", "# and"),
              Name: "a",
            },
          ],
        },
      ],
    });
  });

  test.each([
    ["{", "Expected Name, found <EOF> in GraphQL string at location 1:2"],
    ["{}", "expected at least one definition, found } in GraphQL string at location 1:2"],
    ["{a(x:$)}", "Expected Name, found ) in GraphQL string at location 1:7"],
    ["{a} type", 'Unexpected Name "type" in GraphQL string at location 1:5'],
    ["fragment F T {a}", 'Expected "on", found Name "T" in GraphQL string at location 1:12'],
    ["query ($a: Int = $b) {a}", "Unexpected $ in GraphQL string at location 1:18"],
    ["\n  é", "Unexpected <Invalid> in GraphQL string at location 2:3"],
    ['"x" {a}', 'Unexpected String "x" in GraphQL string at location 1:2'],
  ])("%s is refused with OPA's words", (query, text) => {
    expect(message("parse_query", query)).toBe(text);
    expect(call("parse_query", query)).toBeUndefined();
  });
});

describe("graphql.parse_schema", () => {
  test("definitions and extensions of every kind have their fields", () => {
    const schema = `"d" type A implements I & J @x(a: 1) { "fd" f(a: Int = 1): [A] }
      scalar S union U = | A | B enum E { "v" V @x W } input N { n: S! = 2 }
      directive @x(a: Int) repeatable on OBJECT | ENUM_VALUE
      schema { query: A } extend schema { mutation: A } extend union U = C`;
    const tree = call("parse_schema", schema) as Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
    const base = (Kind: string, Name: string) => ({ BuiltIn: false, Description: "", Kind, Name });
    const type = (NamedType: string, NonNull = false) => ({ NamedType, NonNull });
    expect(tree.Definitions).toEqual([
      {
        ...base("OBJECT", "A"),
        Description: "d",
        Directives: [{ Arguments: [{ Name: "a", Value: value(1, "1") }], Location: "", Name: "x" }],
        Fields: [
          {
            Arguments: [{ DefaultValue: value(1, "1"), Description: "", Name: "a", Type: type("Int") }],
            Description: "fd",
            Name: "f",
            Type: { Elem: type("A"), NamedType: "", NonNull: false },
          },
        ],
        Interfaces: ["I", "J"],
      },
      base("SCALAR", "S"),
      { ...base("UNION", "U"), Types: ["A", "B"] },
      {
        ...base("ENUM", "E"),
        EnumValues: [
          { Description: "v", Directives: [{ Location: "", Name: "x" }], Name: "V" },
          { Description: "", Name: "W" },
        ],
      },
      {
        ...base("INPUT_OBJECT", "N"),
        Fields: [{ DefaultValue: value(1, "2"), Description: "", Name: "n", Type: type("S", true) }],
      },
    ]);
    expect(tree.Directives).toEqual([
      {
        Arguments: [{ Description: "", Name: "a", Type: type("Int") }],
        Description: "",
        IsRepeatable: true,
        Locations: ["OBJECT", "ENUM_VALUE"],
        Name: "x",
      },
    ]);
    expect(tree.Schema).toEqual([{ Description: "", OperationTypes: [{ Operation: "query", Type: "A" }] }]);
    expect(tree.SchemaExtension).toEqual([{ Description: "", OperationTypes: [{ Operation: "mutation", Type: "A" }] }]);
    expect(tree.Extensions).toEqual([{ ...base("UNION", "U"), Types: ["C"] }]);
  });

  test("comments before a description, behind it, at the end of a definition and of the document are told apart", () => {
    expect(call("parse_schema", '# b\n"d"\n# a\nenum E { # v\n V # end\n}\n# over')).toEqual({
      Comment: comment("# over"),
      Definitions: [
        {
          AfterDescriptionComment: comment("# a"),
          BeforeDescriptionComment: comment("# b"),
          BuiltIn: false,
          Description: "d",
          EndOfDefinitionComment: comment("# end"),
          EnumValues: [{ AfterDescriptionComment: comment("# v"), Description: "", Name: "V" }],
          Kind: "ENUM",
          Name: "E",
        },
      ],
    });
  });
});

describe("graphql.schema_is_valid", () => {
  test.each([
    ["", true],
    ["extend type Query { a: Int }", true],
    ["type A { t: __Type }", true],
    ["interface I { a: [I] } type A implements I { a: [A!]! }", true],
    ["directive @skip on OBJECT type A @skip { a: Int }", true],
    ["type A { b: Missing }", false],
    ["type A { a: Int } type A { b: Int }", false],
    ["type A { a: Int a: Int }", false],
    ["scalar Int", false],
    ["type A implements B { a: Int }", false],
    ["interface I { a: Int! } type A implements I { a: Int }", false],
    ["interface I { a(x: Int): Int } type A implements I { a(x: Int y: Int!): Int }", false],
    ["union U = String", false],
    ["enum E { true }", false],
    ["input N { a: A } type A { a: Int }", false],
    ["type A { a(x: A): Int }", false],
    ["type A { __a: Int }", false],
    ["type A @missing { a: Int }", false],
    ["type A { a: Int @deprecated(why: 1) }", false],
    ["scalar S @specifiedBy", false],
    ["extend scalar A @x enum A { B }", false],
    ["schema { query: Missing }", false],
    ["{", false],
  ])("%s: %s", (schema, valid) => {
    expect(call("schema_is_valid", schema)).toBe(valid);
  });
});

describe("queries against a schema", () => {
  test.each([
    "{hero{id ...on Droid{serial}}}",
    "{hero(kind:SITH){...F}} fragment F on Hero {name}",
    "query($n:Int!){count(of:$n)}",
    "{any{... @defer {__typename}}}",
    '{__schema{types{name}} __type(name:"X"){name}}',
    "{big(n:9223372036854775807)}",
  ])("%s is valid, as text and as a tree", (query) => {
    expect(call("is_valid", query, SCHEMA)).toBe(true);
    const trees = [call("parse_query", query), call("parse_schema", SCHEMA)];
    expect(call("parse_and_verify", query, SCHEMA)).toEqual([true, ...trees]);
    expect(call("parse", query, SCHEMA)).toEqual(trees);
    if (!query.includes("...")) expect(call("parse", ...trees)).toEqual(trees);
  });

  test.each([
    ["{nope}", 'Cannot query field "nope" on type "Query" in GraphQL string at location 1:2'],
    [
      "{count}",
      'Field "count" argument "of" of type "Int!" is required, but it was not provided in GraphQL string at location 1:2',
    ],
    ["mutation {a}", 'Schema does not support operation type "mutation"\n in GraphQL string at location 1:1'],
    ["{...F}", 'Unknown fragment "F" in GraphQL string at location 1:5'],
    ["{any @foo {__typename}}", 'Unknown directive "@foo"\n in GraphQL string at location 1:7'],
    ['{big(n:"s")}', 'Int cannot represent non-integer value: "s"\n in GraphQL string at location 1:9'],
    [
      "query($v:String){big(n:$v)}",
      'Variable "$v" of type "String" used in position expecting type "Int" in GraphQL string at location 1:24',
    ],
  ])("%s is not", (query, text) => {
    expect(call("is_valid", query, SCHEMA)).toBe(false);
    expect(call("parse_and_verify", query, SCHEMA)).toEqual([false, {}, {}]);
    expect(call("parse", query, SCHEMA)).toBeUndefined();
    expect(message("parse", query, SCHEMA).replace(/\n/, "")).toBe(text.replace(/\n/, ""));
  });

  test("what is no document is not valid, and an error to parse", () => {
    for (const odd of [1, null, [], true]) {
      expect(call("is_valid", odd, SCHEMA)).toBe(false);
      expect(call("is_valid", "{any{__typename}}", odd)).toBe(false);
      expect(call("schema_is_valid", odd)).toBe(false);
      expect(call("parse", odd, SCHEMA)).toBeUndefined();
    }
    expect(call("is_valid", { Operations: 3 }, SCHEMA)).toBe(false);
    expect(call("schema_is_valid", { Definitions: [{ Kind: "OBJECT", Name: "A", Fields: [{ Name: "a" }] }] })).toBe(false);
  });
});

describe("hostile documents", () => {
  const deep = 100_000;
  test.each([
    ["selections", "parse_query", ["{a".repeat(deep)]],
    ["lists", "parse_query", [`{a(x:${"[".repeat(deep)}`]],
    ["objects", "parse_query", [`{a(x:${"{k:".repeat(deep)}`]],
    ["list types", "parse_schema", [`type A {a:${"[".repeat(deep)}`]],
    ["text", "parse_query", [`{a(x:"${"s".repeat(6_000_000)}")}`]],
    ["fields of one name", "is_valid", [`{${"any{__typename} ".repeat(5_000)}}`, SCHEMA]],
    [
      "fragments everywhere",
      "is_valid",
      [Array.from({ length: 3_000 }, (_, i) => `fragment F${i} on Query{...F${i + 1}}`).join(" "), SCHEMA],
    ],
    ["suggestions", "is_valid", [`{${"x".repeat(20)}}`.repeat(3_000), SCHEMA]],
  ])("too many or too deep %s end with the engine's limit", (_, name, operands) => {
    expect(call(name, ...operands)).toBe("eval_limit_error");
  });

  test("a deep tree ends with the limit too", () => {
    let selection: unknown = { Name: "a" };
    for (let i = 0; i < 150; i++) selection = { Name: "a", SelectionSet: [selection] };
    const tree = { Operations: [{ Operation: "query", SelectionSet: [selection] }] };
    expect(call("is_valid", tree, SCHEMA)).toBe(false);
    for (let i = 0; i < 2_000; i++) selection = { Name: "a", SelectionSet: [selection] };
    const deeper = { Operations: [{ Operation: "query", SelectionSet: [selection] }] };
    expect(call("is_valid", deeper, SCHEMA)).toBe("eval_limit_error");
  });

  test("any arrangement of tokens is answered without a foreign error", () => {
    const tokens = fc.constantFrom(
      ..."{ } ( ) [ ] ! : = | & @ $ ... a b on query fragment type enum input union interface extend schema directive implements".split(
        " ",
      ),
      ...'1 -1.5 "s" """b""" #c\n true null Int Query FIELD repeatable \\ é "'.split(" "),
    );
    const text = fc.array(tokens, { maxLength: 30 }).map((found) => found.join(" "));
    fc.assert(
      fc.property(text, text, (query, schema) => {
        const open = `{ a ${query} }`;
        for (const one of [query, open]) {
          const read = message("parse_query", one);
          expect(read === "defined" || read.includes("in GraphQL string at location"), read).toBe(true);
          expect([true, false]).toContain(call("is_valid", one, SCHEMA));
        }
        expect([true, false]).toContain(call("schema_is_valid", schema));
        expect([true, false]).toContain(call("schema_is_valid", `type Query { a: Int } ${schema}`));
      }),
      { numRuns: rounds(100) },
    );
  });
});
