import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifierKnowing, rankOf } from "./support/registered.ts";

const classify = classifierKnowing({
  "hr.vault7": { tier: "RESTRICTED" },
  products: { tier: "INTERNAL" },
  mixed3: { tier: "PUBLIC", columns: { a: "PUBLIC", k9: "RESTRICTED" } },
});
/** Blocks around a statement or an expression. */
const BLOCKS: readonly ((statement: string) => string)[] = [
  (s) => `DO $$ BEGIN ${s}; END $$`,
  (s) => `DO $x$\nDECLARE n int := 0;\nBEGIN\n  IF n = 0 THEN\n    ${s};\n  END IF;\nEND\n$x$;`,
  (s) => `BEGIN ${s}; COMMIT; END;`,
  (s) => `DECLARE n NUMBER(10,2) := 0; BEGIN ${s}; EXCEPTION WHEN OTHERS THEN NULL; END;`,
  (s) => `CREATE PROCEDURE p AS BEGIN SET NOCOUNT ON; ${s}; END`,
  (s) => `CREATE PROCEDURE p() BEGIN ${s}; END`,
  (s) => `CREATE OR REPLACE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN ${s}; END $$`,
  (s) => `CREATE FUNCTION f() RETURNS int AS $$ BEGIN ${s}; RETURN 1; END; $$ LANGUAGE plpgsql`,
  (s) => `CREATE TRIGGER t AFTER INSERT ON products FOR EACH ROW BEGIN ${s}; END`,
  (s) => `BEGIN TRY ${s}; END TRY BEGIN CATCH PRINT 'x'; END CATCH`,
  (s) => `BEGIN FOR i IN 1..10 LOOP ${s}; END LOOP; END;`,
  (s) => `WHILE 1 = 1 BEGIN ${s}; END`,
];
const SHOWING = [
  "INSERT INTO log SELECT v.q FROM vault7 v",
  "UPDATE products SET a = (SELECT max(z.k9) FROM mixed3 z)",
  "x := (SELECT max(v.q) FROM vault7 v)",
  "SELECT max(v.q) INTO n FROM vault7 v",
  "RAISE NOTICE '%', (SELECT max(v.q) FROM vault7 v)",
  "IF (SELECT max(v.q) FROM vault7 v) IS NOT NULL THEN RETURN (SELECT max(v.q) FROM vault7 v); END IF",
  "FOR r IN SELECT v.q FROM vault7 v LOOP RAISE NOTICE '%', r; END LOOP",
  "OPEN c FOR SELECT v.q FROM vault7 v",
  "EXECUTE 'SELECT q FROM ' || t",
  "EXECUTE IMMEDIATE stmt",
  "zork frobnicate vault7 (1",
];
const PLAIN = [
  "UPDATE products SET price = price + 1",
  "DELETE FROM staging WHERE loaded = 1",
  "INSERT INTO log (msg) VALUES ('done; all of it')",
  "SELECT count(*) INTO n FROM products",
  "n := n + 1",
  "RAISE NOTICE 'rows: %', n",
  "IF n > 1 THEN n := 0; ELSIF n = 1 THEN n := 2; ELSE NULL; END IF",
  "FOR r IN SELECT id FROM products LOOP n := n + 1; END LOOP",
  "SELECT a FROM mixed3",
  "CASE WHEN n = 1 THEN UPDATE products SET price = 0; ELSE NULL; END CASE",
];
const block = fc.constantFrom(...BLOCKS);

describe("a block is judged by its statements", () => {
  test("one that shows a dear table, or that nobody reads, makes the whole dear", () =>
    fc.assert(
      fc.property(block, fc.constantFrom(...SHOWING), fc.constantFrom("", ...PLAIN), (wrap, statement, other) => {
        const query = wrap(other === "" ? statement : `${other}; ${statement}`);
        expect([query, rankOf(classify(query).tier) >= 3, classify(query).reasoning]).toEqual([
          query,
          true,
          classify(query).reasoning,
        ]);
      }),
      { numRuns: 200 },
    ));

  test("plain ones make no alarm", () =>
    fc.assert(
      fc.property(block, fc.constantFrom(...PLAIN), fc.constantFrom("", ...PLAIN), (wrap, statement, other) => {
        const query = wrap(other === "" ? statement : `${other}; ${statement}`);
        const { tier, reasoning } = classify(query);
        expect([query, rankOf(tier) <= 1, reasoning]).toEqual([query, true, reasoning]);
      }),
      { numRuns: 200 },
    ));

  test.each([
    "SELECT is a keyword of SQL",
    "SELECT statements read rows",
    "Select all colours which fit",
    "From here to there is a mile",
  ])("talk is none: %s", (query) => expect(rankOf(classify(query).tier)).toBeLessThanOrEqual(1));
});
