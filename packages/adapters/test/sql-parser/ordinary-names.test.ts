import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifierKnowing, rankOf } from "./support/registered.ts";

/** Names that tables have and that all code has, too. */
const NAMES = [
  ..."abcijknxyz",
  "id",
  "fn",
  "data",
  "value",
  "key",
  "list",
  "name",
  "type",
  "row",
  "result",
  "text",
  "node",
  "file",
];
const ordinary = fc.constantFrom(...NAMES);
const known = (name: string) => classifierKnowing({ [name]: { tier: "RESTRICTED" } });
const nothing = classifierKnowing({});
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

describe("a registered resource whose name is a word that all code has", () => {
  const code = fc.constantFrom<(name: string) => string>(
    (a) => `for (let ${a} = 0; ${a} < n.length; ${a}++) total += n[${a}];`,
    (a) => `def mean(${a}):\n    return sum(${a}) / len(${a})`,
    (a) => `const ${a} = await load();\nconsole.log(${a}.length, obj.${a}, { ${a}: 1 });`,
    (a) => `if (${a} == null) return ${a}/b;`,
    (a) => `func (s *Server) Put(${a} string) error { return s.put(${a}) }`,
    (a) => `map.get("${a}") ?? hash.update('${a}')`,
    (a) => `Buffer.from("${a}").toString()`,
    (a) => `let ${a} = items.map((${a}) => ${a} * 2)`,
    (a) => `import os\n${a} = os.path.join(base, "${a}")`,
    (a) => `echo "$${a}" | grep ${a}`,
    (a) => `if (check(x, ${a})) return ${a};`,
    (a) => `update(${a}); select(${a})`,
    (a) => `get${capital(a)}() { return this.${a}; }`,
  );
  test("raises no code that has the word", () =>
    fc.assert(
      fc.property(ordinary, code, (name, write) => {
        const text = write(name);
        expect([name, text, known(name)(text).tier]).toEqual([name, text, nothing(text).tier]);
      }),
      { numRuns: 200 },
    ));

  const uses = fc.constantFrom<(name: string) => string>(
    (a) => `select * from ${a}`,
    (a) => `summarize ${a}`,
    (a) => `select x from foo9, ${a} qualify weird of`,
    (a) => `please dump table ${a}`,
    (a) => `db.${a}.find({})`,
    (a) => `await prisma.${a}.findMany()`,
    (a) => `spark.read.table("${a}").show()`,
    (a) => `supabase.from('${a}').select('*')`,
    (a) => `${capital(a)}.objects.all()`,
    (a) => `session.query(${capital(a)}).all()`,
    (a) => `pg_dump shop -t ${a}`,
    (a) => `mongoexport --collection=${a}`,
    (a) => `query { ${a} { id } }`,
    (a) => `export "${a}"`,
  );
  test("is found where the word stands as a table's name does", () =>
    fc.assert(
      fc.property(ordinary, uses, (name, write) => {
        const text = write(name);
        if (text.length > 1) expect([text, known(name)(text).tier]).toEqual([text, "RESTRICTED"]);
      }),
      { numRuns: 200 },
    ));

  test("is found by its schema wherever it is named", () =>
    fc.assert(
      fc.property(ordinary, code, fc.boolean(), (name, write, both) => {
        const classify = classifierKnowing({
          [`hr9.${name}`]: { tier: "RESTRICTED" },
          ...(both ? { [name]: { tier: "PUBLIC" } } : {}),
        });
        const text = `${write(name)}\nopen(hr9.${name})`;
        expect([text, rankOf(classify(text).tier)]).toEqual([text, rankOf("RESTRICTED")]);
      }),
      { numRuns: 100 },
    ));
});
