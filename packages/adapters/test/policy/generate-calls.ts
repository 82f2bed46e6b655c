import fc from "fast-check";

/** A type as `opa capabilities` writes it. */
interface Type {
  readonly type: string;
  readonly of?: readonly Type[] | Type;
  readonly static?: readonly (Type | { readonly key: unknown; readonly value: Type })[];
  readonly dynamic?: Type | { readonly key: Type; readonly value: Type };
}

export interface Declaration {
  readonly name: string;
  readonly relation?: boolean;
  readonly deprecated?: boolean;
  readonly decl: { readonly args?: readonly Type[] };
}

/** Not called: what is off here, gives another answer each time, or is no function of its arguments. */
const LEFT_OUT = [
  /^(internal\.|rego\.|crypto\.x509|crypto\.parse|io\.jwt\.encode)/,
  // called with documents by a test of its own
  /^graphql\./,
  /^(http\.send|net\.lookup_ip_addr|opa\.runtime|rand\.intn|uuid\.rfc4122|time\.now_ns|trace|print|walk|assign|eq)$/,
];

/** The functions to compare. */
export function comparable(all: readonly Declaration[]): readonly Declaration[] {
  return all.filter(
    ({ name, deprecated, relation }) =>
      deprecated !== true && relation !== true && !LEFT_OUT.some((pattern) => pattern.test(name)),
  );
}

const NUMBERS =
  "0 1 -1 2 3 5 7 10 -10 100 255 256 1.5 -1.5 0.5 2.5 -2.5 0.1 0.2 -9223372036854775808 9223372036854775807 9223372036854775808 9007199254740993 3.14159 4294967296 64 65 1582977600000000000 0.30000000000000004".split(
    " ",
  );
const STRINGS = [
  ..."a b ab abc aaa ABC foo/bar foo.bar a:b:c é ß İ ſ 日本語 😀a 𝒳 0 1 -1 1.5 0x10 1e3 .5 5. +5 -0 007 Infinity NaN null true yes 10k 100m 1Ki 2MB 1.5Gi 3e 1E 1h30m 1d -5s 1.5h 10µs".split(
    " ",
  ),
  ..."* ** a* *.com **/b ?b [a-c] [!a] {a,b} a{b,c}d \\\\* ( [ a+ (a|b)* a(?P<n>b) ^a$ \\\\d+ a{2} \\\\pL (?i)A x*".split(" "),
  ..."1.0.0 v1.0.0 1.0 1.0.0-alpha 1.0.0-alpha.1 1.0.0+b 01.0.0 1.2.3.4".split(" "),
  ..."10.0.0.0/8 10.1.2.3 10.1.2.3/33 192.168.0.0/16 ::1 2001:db8::/32 ::ffff:10.0.0.1 ::ffff:10.0.0.0/104 fe80::1%eth0 0.0.0.0/0 ::/0 010.0.0.1 10.0.0.255/30".split(
    " ",
  ),
  ..."UTC Local America/New_York Europe/Berlin RFC3339 RFC1123Z ANSIC 2006-01-02 15:04:05 Jan MST 2020-02-30 2020-02-29T12:00:00Z 2020-02-29T12:00:00.123456789+01:30 Sat".split(
    " ",
  ),
  ..."YQ== YQ YWI= _-8= +/8= %41 %zz a=1&b=2&a=3 a+b 616 6162 zz".split(" "),
  ...'{} [1,2] {\\"a\\":1} {\\"a\\":1,\\"a\\":2} [1.50] 1.0 {bad [1,] \\"x\\" a:_1 -_1 %s %d %v %5.2f|%-4d|%+d %x %q %[2]d %[1]s%[1]v %% %t %e %c %U %T %05d %!z %*d %.3s %b %o %08.3f %g %X'
    .split(" ")
    .map((s) => s.replaceAll("_", " ")),
  "",
  " a ",
  "\\ta\\n",
  "a b",
  "a\\u0000b",
  "a,b,,c",
  "00000000-0000-1000-8000-000000000000",
  "f47ac10b-58cc-4372-a567-0e02b2c3d479",
  "Mon Jan _2 15:04:05 2006",
  "Sat Feb 29 12:00:00 2020",
  "2020-02-29 12:00:00",
];
const quoted = (text: string): string => `"${text}"`;

const scalar = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 4, arbitrary: fc.constantFrom(...STRINGS).map(quoted) },
  fc.constantFrom("null", "true", "false"),
);
const PATHS = [
  '"a"',
  '"a/b"',
  '"/a"',
  '"/a/0"',
  '"/a/-"',
  '"/b"',
  '""',
  '["a", 0]',
  '["a"]',
  '["b", "c"]',
  "[]",
  '"a/0"',
  '"/a~1b"',
  '"/a~0b"',
  "0",
];
const OPS = ["add", "remove", "replace", "move", "copy", "test", "nope"];

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(", ")}]`),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => (items.length === 0 ? "set()" : `{${items.join(", ")}}`)),
    fc
      .array(
        fc.tuple(
          fc.oneof({ weight: 4, arbitrary: fc.constantFrom("a", "b", "c", "0", "x y", "a/b", "é").map(quoted) }, scalar),
          tie("value"),
        ),
        { maxLength: 4 },
      )
      .map((entries) => object(entries)),
  ),
}));

/** Keys once: a literal that names one twice is judged by the compiler. */
function object(entries: readonly (readonly [string, string])[]): string {
  return `{${[...new Map(entries)].map(([k, v]) => `${k}: ${v}`).join(", ")}}`;
}

const patch = fc
  .record(
    { op: fc.constantFrom(...OPS).map(quoted), path: fc.constantFrom(...PATHS), from: fc.constantFrom(...PATHS), value },
    { requiredKeys: ["op", "path"] },
  )
  .map((entries) => object(Object.entries(entries).map(([k, v]) => [quoted(k), v] as const)));

function ofType(type: Type): fc.Arbitrary<string> {
  switch (type.type) {
    case "null":
      return fc.constant("null");
    case "boolean":
      return fc.constantFrom("true", "false");
    case "number":
      return fc.constantFrom(...NUMBERS);
    case "string":
      return fc.constantFrom(...STRINGS).map(quoted);
    case "array": {
      if (type.static !== undefined) {
        return fc.tuple(...type.static.map((t) => ofType(t as Type))).map((items) => `[${items.join(", ")}]`);
      }
      return fc
        .array(ofType((type.dynamic as Type | undefined) ?? { type: "any" }), { maxLength: 5 })
        .map((items) => `[${items.join(", ")}]`);
    }
    case "set":
      return fc
        .array(ofType((type.of as Type | undefined) ?? { type: "any" }), { maxLength: 5 })
        .map((items) => (items.length === 0 ? "set()" : `{${items.join(", ")}}`));
    case "object": {
      const dynamic = type.dynamic as { readonly key: Type; readonly value: Type } | undefined;
      const fixed = (type.static ?? []) as readonly { readonly key: unknown; readonly value: Type }[];
      if (fixed.some(({ key }) => key === "op")) return patch;
      const some = fc.array(fc.tuple(ofType(dynamic?.key ?? { type: "string" }), ofType(dynamic?.value ?? { type: "any" })), {
        maxLength: 4,
      });
      const all = fc.tuple(...fixed.map(({ key, value: t }) => ofType(t).map((v) => [JSON.stringify(key), v] as const)));
      return fc.tuple(all, some).map(([a, b]) => object([...a, ...b]));
    }
    default: {
      const of = Array.isArray(type.of) ? (type.of as readonly Type[]) : [];
      return of.length > 0 ? fc.oneof(...of.map(ofType)) : value;
    }
  }
}

/** Arguments that hit the middle of a function rather than its edge. */
const HINTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  sprintf: [STRINGS.filter((s) => s.includes("%")).map(quoted)],
  "json.filter": [[], ['["a", "b/c"]', '{"a/0", "c"}', '[["a"], ["b", 0]]', '[""]', '["a", "a/b"]', "[[]]", '["/a"]']],
  "json.remove": [[], ['["a", "b/c"]', '{"a/0", "c"}', '[["a"], ["b", 0]]', '[""]', '["a", "a/b"]', "[[]]", '["/a"]']],
  "time.parse_ns": [
    [
      "RFC3339",
      "RFC1123Z",
      "ANSIC",
      "2006-01-02",
      "15:04:05",
      "Jan 2 2006",
      "2006-01-02 15:04:05",
      "Mon Jan _2 15:04:05 2006",
      "02/01/06",
      "3:04PM",
      "2006-002",
    ].map(quoted),
  ],
  "time.format": [
    [
      '[1582977600000000000, "UTC", "RFC3339"]',
      '[1582977600123456789, "America/New_York", "Mon Jan _2 15:04:05.000 MST 2006"]',
      '[1582977600000000000, "Europe/Berlin", "2006-01-02T15:04:05Z07:00 PM 3 002 06 Jan"]',
      '[0, "", ""]',
      '[-1, "Local"]',
      '[1, "Nope/Nowhere"]',
      '[1e18, "UTC", "RFC850"]',
      '[1, "UTC", "Kitchen"]',
      '[1, "UTC", "StampNano"]',
    ],
  ],
  "units.parse": [
    [
      "10k",
      "1Ki",
      "100m",
      "1.5M",
      "1e3",
      "1E",
      "1e3k",
      "-1k",
      "+1k",
      "1 k",
      "k",
      "1kk",
      "0x1k",
      ".5k",
      "1_000",
      "10KI",
      "3Pi",
      "1 ",
      "5.",
      "1ei",
    ].map(quoted),
  ],
  "units.parse_bytes": [
    [
      "10k",
      "1KiB",
      "100m",
      "1.5MB",
      "1e3",
      "1E",
      "-1k",
      "1 kb",
      "kb",
      "1tib",
      "1b",
      '\\"1\\"',
      ".5k",
      "1B",
      "2eb",
      "0.1kb",
      "1.23456789kib",
    ].map(quoted),
  ],
  "regex.globs_match": [
    ["a.a.[0-9]+z", "a*", "[a-z]+", ".*", "a|b", "\\\\[", "[abc]", "x+"].map(quoted),
    ["a.a.[0-9]+z", "b*", "[0-9]+", ".*", "b", "\\\\[", "[c-f]*", "xy*"].map(quoted),
  ],
  "regex.template_match": [
    ["urn:foo:{.*}", "a{[0-9]+}b", "{a", "x<\\\\d>"].map(quoted),
    ["urn:foo:bar", "a12b", "x1"].map(quoted),
    ['"{"', '"<"', '"["'],
    ['"}"', '">"'],
  ],
  "glob.match": [
    [
      "*.github.com",
      "**/a",
      "a/**",
      "[a-c]*",
      "{a,b}.c",
      "?",
      "a?c",
      "*",
      "**",
      "\\\\*",
      "[!a]b",
      "{a*,b?}",
      "a.{b,*}.d",
      "",
    ].map(quoted),
    ["[]", "null", '["."]', '["/"]', '[":", "."]', '["ab"]'],
    ["api.github.com", "x/y/a", "a/b/c", "bz", "b.c", "abc", "a.b", "", "*", "a.x.d", "a.x.y.d"].map(quoted),
  ],
};
const hints = new Map(Object.entries(HINTS));

/** Go templates over variables that all have them; what is missing is a declared difference. */
const TEMPLATES = [
  "{{.s}} {{.n}} {{.l}} {{.o}} {{.t}}",
  "{{range $i, $x := .l}}{{if $i}}, {{end}}{{$i}}={{$x}}{{else}}none{{end}}",
  "{{range .o}}[{{.}}]{{end}} {{range $k, $v := .o}}{{$k}}:{{$v}};{{end}}",
  "{{with .e}}some{{else}}none{{end}} {{with .s}}{{.}}{{end}} {{with $x := 1}}{{$x}}{{end}}",
  "{{if and .t .n}}T{{else if .e}}E{{else}}F{{end}} {{or .e .s}} {{not .t}}",
  "{{len .s}} {{len .l}} {{len .o}} {{index .l 1}} {{index .o `a`}} {{index .s 0}} {{slice .s 1 2}} {{slice .l 1}}",
  "{{eq .s `abc`}} {{ne .s .n}} {{eq 1 1.5 2}} {{lt 1 2}} {{ge `b` `a`}} {{eq .t true}}",
  "{{eq .s 1}}",
  "{{eq .l .l}}",
  "{{printf `%05d|%-4s|%q|%v|%.2f|%t|%x` 42 .s .s .n 1.5 .t 255}}",
  "{{print 1 2 .s .n 3}} {{println .s 1}}|{{print}}",
  "{{html `<a href='x'>&`}} {{js `it's <b>`}} {{urlquery .s ` &=é`}} {{`a` | printf `%s-%s` `b`}}",
  "a {{- 1 -}} b {{/* no */ -}} c {{- /* no */}} d {{ 3 }} {{-3}} {{- 3}}",
  "{{define `x`}}<{{.}}>{{end}}{{template `x` .s}}{{template `x` .n}}{{block `y` .l}}{{len .}}{{end}}",
  "{{range 3}}{{if eq . 1}}{{continue}}{{end}}{{.}}{{end}} {{range .l}}{{break}}{{end}}",
  "{{$x := 1}}{{range .l}}{{$x = .}}{{end}}{{$x}} {{$}}",
  "{{.n.Int64}} {{.n.String}} {{(index .l 0)}} {{(.o).a}} {{$.s}}",
  "{{0x1F}} {{1e3}} {{'a'}} {{1_000}} {{0b11}} {{017}} {{-2.50}} {{true}} {{`q`}}",
  '{{"q\\n\\x41\\u00e9"}}',
  "{{nil}}",
  "{{.s.t}}",
  "{{.s 1}}",
  "{{undefined}}",
  "{{$y}}",
  "{{if}}{{end}}",
  "{{if 1}}",
  "{{end}}",
  "{{break}}",
  "{{1 | 2}}",
  "{{(1}}",
  "{{.a b}}",
  "{{template `none`}}",
  "{{range $a, $b, $c := .l}}{{end}}",
  "{{/* open",
  "{{`open}}",
  "{{3 }} {{ .}}",
  "",
];
const VARIABLES = [
  '{"s": "abc", "n": 3, "l": [1, "b", 1.5], "o": {"a": "x", "b": [1]}, "t": true, "e": []}',
  '{"s": "<é>", "n": -1.5, "l": ["x", true], "o": {"a": 0}, "t": false, "e": ""}',
  '{"s": "zz", "n": 0, "l": [[1], {"k": 2}], "o": {"a": {}, "c": "d"}, "t": true, "e": {}}',
];
const REQUESTS = [
  '{"method": "get", "url": "http://example.com"}',
  '{"method": "GET", "url": "https://u:p@example.com:8443/a b/%20é?x=1&y=a b#f", "headers": {"Foo": "bar", "Authorization": "x", "n": 1}}',
  '{"method": "POST", "url": "https://example.com/a%2Fb/[x]", "body": {"b": [1, "<&>"], "a": null}}',
  '{"method": "PUT", "url": "/path", "raw_body": "é", "body": 1}',
  '{"method": "PUT", "url": "http://h/%zz"}',
  '{"method": 1, "url": "x"}',
  '{"method": "get", "url": "http://h", "headers": []}',
  '{"method": "get", "url": "http://h", "nope": 1}',
  "{}",
];
const SIGNERS = [
  '{"aws_access_key": "A", "aws_secret_access_key": "S", "aws_service": "s3", "aws_region": "us-east-1"}',
  '{"aws_access_key": "A", "aws_secret_access_key": "S", "aws_service": "es", "aws_region": "eu-west-1", "aws_session_token": "T", "disable_payload_signing": true}',
  '{"aws_access_key": "A", "aws_secret_access_key": "S", "aws_service": "glacier", "aws_region": "", "disable_payload_signing": "no"}',
  '{"aws_access_key": 1, "aws_secret_access_key": "S", "aws_service": "s3", "aws_region": "us-east-1"}',
  "{}",
];
const VERSIONS =
  "1.0.0 1.0 2.1.3 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta.11 1.0.0-rc.1 1.0.0+b 1.0.0-1+x 1.2.3.4 1.2.x 10.20.30 a"
    .split(" ")
    .map(quoted);
const YAML = [
  "a: 1",
  "a: yes\\nb: [1, 0x10, 1e3, null, ~]\\nc: {d: e}",
  "- a\\n- b: c\\n  d: 'e'\\n-\\n  - f",
  "&x [1]",
  "a: &x [1]\\nb: *x",
  "a: *none",
  "a: b: c",
  "[a",
  "|\\n  text\\n  more\\n",
  ">-\\n  text\\n  more\\n",
  "---\\na: 1\\n",
  "a: 1\\na: 2",
  "1: a\\ntrue: b",
  "'it''s'",
  "{a: [b, {c: d}], e: ''}",
  "# nothing",
  "",
  "a:\\tb",
  "012",
  "1.50",
  "'012'",
  "no",
].map(quoted);
const DOCUMENTS = [
  '{"a": [1, "1", true, "true", null, "null", ""]}',
  '{"b": {"c": [], "d": {}}, "a b": "x: y", "- e": "# f"}',
  '["a", ["b", ["c"]], {"d": [{"e": 1, "f": "2"}]}]',
  '"line\\nline"',
  '"  lead"',
  "1.5",
  "{1, 2}",
  '{"x": "it\'s \\"q\\""}',
  '{"k": "0x10", "l": "1e3", "m": "yes", "n": "~", "o": "=", "p": "é"}',
];

const WORDS = ["-10", "-1", "0", "1", "2", "7", "255", "1.5", "9007199254740993", "-9223372036854775808"];
const SMALL = ["-3", "-1", "0", "1", "2", "5", "1.5", "10"];
/** Functions whose work grows with the size of a number, with arguments that keep it small: OPA has no budget. */
const BOUNDED: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  ["numbers.range", [SMALL, SMALL]],
  ["numbers.range_step", [SMALL, SMALL, SMALL]],
  ["bits.lsh", [WORDS, ["-1", "0", "1", "2", "64", "1.5"]]],
  ...["bits.and", "bits.or", "bits.xor", "bits.rsh"].map((name) => [name, [WORDS, WORDS]] as const),
  ["bits.negate", [WORDS]],
  ["time.add_date", [["0", "1582977600000000000", '[1582977600000000000, "Europe/Berlin"]'], SMALL, SMALL, SMALL]],
  ["net.cidr_expand", [["10.0.0.0/30", "10.0.0.5/31", "2001:db8::/126", "10.0.0.1", "10.0.0.0/33", ""].map(quoted)]],
  ["regex.globs_match", HINTS["regex.globs_match"] ?? []],
  // OPA's cache of templates forgets the delimiters: always the same
  ["regex.template_match", [...(HINTS["regex.template_match"] ?? []).slice(0, 2), ['"{"'], ['"}"']]],
  ["strings.render_template", [TEMPLATES.map((text) => JSON.stringify(text)), VARIABLES]],
  // strict SemVer 2.0 is a declared difference
  ["semver.compare", [VERSIONS, VERSIONS]],
  ["semver.is_valid", [[...VERSIONS, "1", "null"]]],
  ["yaml.unmarshal", [YAML]],
  ["yaml.is_valid", [[...YAML, "1"]]],
  ["yaml.marshal", [DOCUMENTS]],
  ["providers.aws.sign_req", [REQUESTS, SIGNERS, ["0", "1451311705000000000", "1.5", "99999999999999999999"]]],
]);

/** One call of a function as Rego text; its arguments go through `id`, so that only the run of it judges their types. */
export function calls(functions: readonly Declaration[]): fc.Arbitrary<string> {
  return fc.constantFrom(...functions).chain(({ name, decl }) => {
    const args = (decl.args ?? []).map((type, i) => {
      const bounded = BOUNDED.get(name)?.[i];
      if (bounded !== undefined) return fc.constantFrom(...bounded);
      const hinted = hints.get(name)?.[i] ?? [];
      return fc.oneof(
        { weight: 10, arbitrary: ofType(type) },
        { weight: hinted.length > 0 ? 20 : 0, arbitrary: hinted.length > 0 ? fc.constantFrom(...hinted) : value },
        { weight: 1, arbitrary: value },
      );
    });
    return fc.tuple(...args).map((texts) =>
      call(
        name,
        texts.map((text) => `id(${text})`),
      ),
    );
  });
}

/** What stands for nothing in one language or another, bare and inside. */
const NOTHINGS = ["null", "false", "0", '""', "[]", "{}", "set()", "[null]", '{"a": null}', "{null}", '["a"]', '"a"'];
/** Values an argument, by the number of arguments. */
const TRIED: readonly number[] = [0, 12, 12, 8, 5];

/** Every call of a function with values that are easily taken for none. */
export function emptyCalls({ name, decl }: Declaration): readonly string[] {
  const arity = decl.args?.length ?? 0;
  const values = NOTHINGS.slice(0, TRIED[arity] ?? 2);
  let rows: readonly (readonly string[])[] = [[]];
  for (let i = 0; i < arity; i++) rows = rows.flatMap((row) => values.map((value) => [...row, value]));
  return rows.map((row) =>
    call(
      name,
      row.map((text) => `id(${text})`),
    ),
  );
}

const INFIX: Readonly<Record<string, string>> = { "internal.member_2": "in" };
const infix = new Map(Object.entries(INFIX));

function call(name: string, args: readonly string[]): string {
  const sign = infix.get(name);
  return sign === undefined ? `${name}(${args.join(", ")})` : `${args[0]} ${sign} ${args[1]}`;
}
