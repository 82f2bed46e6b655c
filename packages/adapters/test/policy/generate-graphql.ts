import fc from "fast-check";

const QUERIES = [
  "# c\nquery Q ( $v : Int = 3 @ d , $w : [ String ! ] = [ ] ) @ d { a ( x : $v ) b : node ( in : { n : 1 , l : $w , k : SITH } ) { id ... on Leaf { size } ... F @ skip ( if : true ) ... { id } } } fragment F on Node { id }",
  "{ a aa : a node { __typename id } # end\n any { ... on Leaf { id size } } __schema { types { name } } }",
  "mutation M { set ( kind : JEDI , ratio : 1.5e3 , on : true , none : null ) } # over",
  'subscription S { ticks } query A { a ( x : -1 ) n : node ( in : { n : 1 , l : [ "s" , """t""" ] } ) { id } }',
];
const SCHEMAS = [
  '# c\n"d" schema @ d { query : Query mutation : M subscription : S } type Query { "f" a ( x : Int = 1 ) : Int node ( in : In ) : Node ! any : Any } # i\ninterface Node { id : ID ! } type Leaf implements Node & Sized { id : ID ! size : Int ! } interface Sized { size : Int } union Any = | Leaf input In { n : Int ! l : [ String ! ] k : Kind = JEDI # end\n} enum Kind { JEDI @ deprecated SITH }',
  'type M { set ( kind : Kind , ratio : Float , on : Boolean , none : Int ) : Boolean } type S { ticks : Int } directive @ d ( n : Int = 1 ) repeatable on QUERY | SCHEMA | VARIABLE_DEFINITION | OBJECT scalar Date @ specifiedBy ( url : "u" ) extend type Query @ d { more : [ Date ! ] ! } extend union Any = Leaf2 type Leaf2 { x : Int }',
];

/** A document with some of its tokens left out, doubled or exchanged for others of it. */
function worn(documents: readonly string[]): fc.Arbitrary<string> {
  const change = fc.record({ at: fc.nat(), from: fc.nat(), how: fc.constantFrom("drop", "double", "exchange") });
  return fc.tuple(fc.constantFrom(...documents), fc.array(change, { maxLength: 2 })).map(([text, changes]) => {
    const tokens = text.split(" ");
    for (const { at, from, how } of changes) {
      const i = at % tokens.length;
      const other = tokens[from % tokens.length] as string;
      tokens.splice(i, how === "double" ? 0 : 1, ...(how === "drop" ? [] : [how === "double" ? (tokens[i] as string) : other]));
    }
    return tokens.join(" ");
  });
}

/** Calls of all `graphql` functions with documents that are good, nearly good, or trees of such. */
export function graphqlCalls(): fc.Arbitrary<readonly string[]> {
  return fc.tuple(worn(QUERIES), worn([SCHEMAS.join("\n")])).map(([query, schema]) => {
    const [q, s] = [JSON.stringify(query), JSON.stringify(schema)];
    return [
      `graphql.parse_query(${q})`,
      `graphql.parse_schema(${s})`,
      `graphql.schema_is_valid(${s})`,
      `graphql.schema_is_valid(graphql.parse_schema(${s}))`,
      `graphql.is_valid(${q}, ${s})`,
      `graphql.parse(${q}, ${s})`,
      `graphql.parse_and_verify(graphql.parse_query(${q}), graphql.parse_schema(${s}))`,
    ];
  });
}
