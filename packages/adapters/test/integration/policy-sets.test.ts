import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { compile, type Source } from "@seneschal/rego";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { filesBelow, policySuites } from "../policy/policy-suites.ts";

const { opa, sets, skip, note } = policySuites;
const run = promisify(execFile);

/** What `opa test --format json` says of one clause. */
interface Clause {
  readonly package: string;
  readonly name: string;
  readonly fail?: boolean;
  readonly error?: unknown;
  readonly skip?: boolean;
  readonly sub_results?: Cases;
}
interface Cases {
  readonly [name: string]: { readonly fail?: boolean; readonly sub_results?: Cases };
}

/** Builtins that regal's own program adds, as rules: enough of a syntax tree that most of what reads one runs. */
const STUBS = `package stubs

last(list) := list[count(list) - 1]

is_formatted(_, _) := true

# as JSON, so that no type is known of it
parse_module(name, text) := json.unmarshal(json.marshal({
	"package": {"location": "1:1:1:8", "path": [{"type": "var", "value": "data"}, {"type": "string", "value": "policy"}]},
	"imports": [],
	"rules": [],
	"comments": [],
	"regal": {
		"file": {"name": name, "abs": concat("/", ["", name]), "lines": split(text, "\\n"), "rego_version": "v1"},
		"environment": {"path_separator": "/"},
	},
}))
`;
/** The engine has no parser at run time either. */
const STUBBED = /(?<![.\w])(?:regal|rego)\.(last|is_formatted|parse_module)\(/g;

/** Base documents below a directory, where OPA finds them: each at the path of its directory. */
function dataBelow(root: string): unknown {
  const data = {};
  for (const name of filesBelow(root, /(^|\/)data\.(json|yaml)$/)) {
    const place = dirname(name)
      .split("/")
      .filter((part) => part !== ".")
      .reduce<Record<string, unknown>>((at, part) => {
        at[part] ??= {};
        return at[part] as Record<string, unknown>;
      }, data);
    Object.assign(place, parse(readFileSync(join(root, name), "utf8")));
  }
  return data;
}

/** Outcomes of all clauses by the name of their test, in any order: which clause of several files is the first is OPA's secret. */
class Outcomes {
  readonly byName = new Map<string, string[]>();
  clauses = 0;

  add(name: string, outcome: string): void {
    const plain = name.replace(/#\d+$/, "");
    this.byName.set(plain, [...(this.byName.get(plain) ?? []), outcome].sort());
    this.clauses += 1;
  }
}

async function byOpa(root: string): Promise<Outcomes> {
  const args = ["test", "--v1-compatible", "--timeout", "120s", "--format", "json", "."];
  // exit code 2: a test failed
  const { stdout } = await run(opa, args, { cwd: root, maxBuffer: 1e9 }).catch((error: { stdout: string }) => error);
  const outcomes = new Outcomes();
  const failing = (cases: Cases, path: readonly string[]): string[] =>
    Object.entries(cases).flatMap(([name, { fail, sub_results }]) => [
      ...(sub_results === undefined ? (fail === true ? [[...path, name].join("/")] : []) : failing(sub_results, [...path, name])),
    ]);
  for (const { package: path, name, fail, error, skip, sub_results } of JSON.parse(stdout) as readonly Clause[]) {
    const cases = failing(sub_results ?? {}, []).sort();
    const outcome = skip === true ? "skip" : fail === true || error !== undefined ? `fail ${cases.join(", ")}` : "pass";
    outcomes.add(`${path}.${name}`, outcome);
  }
  return outcomes;
}

function byUs(root: string): Outcomes {
  const sources = filesBelow(root, /\.rego$/).map((name): Source => ({ name, source: readFileSync(join(root, name), "utf8") }));
  const policy = compile(sources, { tests: true });
  const data = dataBelow(root);
  const outcomes = new Outcomes();
  for (const one of policy.tests) {
    if (one.todo) outcomes.add(one.rule, "skip");
    else {
      const { passed, failed } = policy.runTest(one, undefined, {
        data,
        now: Date.now(),
        budgets: { ticks: 1e9, elements: 1e8 },
      });
      outcomes.add(one.rule, passed ? "pass" : `fail ${[...failed].sort().join(", ")}`);
    }
  }
  return outcomes;
}

describe.skipIf(skip)(`public policy sets beside opa test${note}`, () => {
  let work: string;
  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), "seneschal-policies-"));
  });
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  /** The set's Rego and data in a directory of the test's own, each file as `edit` leaves it. */
  const copy = (name: string, edit: (source: string) => string = (source) => source): string => {
    const target = join(work, name);
    const from = join(sets, name);
    for (const file of filesBelow(from, /\.rego$|(^|\/)data\.(json|yaml)$/)) {
      mkdirSync(dirname(join(target, file)), { recursive: true });
      if (file.endsWith(".rego")) writeFileSync(join(target, file), edit(readFileSync(join(from, file), "utf8")));
      else cpSync(join(from, file), join(target, file));
    }
    return target;
  };
  const expectAgreement = async (roots: readonly string[], atLeast: number): Promise<void> => {
    let clauses = 0;
    for (const root of roots) {
      const theirs = await byOpa(root);
      const ours = byUs(root);
      clauses += theirs.clauses;
      const different = [...new Set([...theirs.byName.keys(), ...ours.byName.keys()])].flatMap((name) => {
        const [a, b] = [theirs.byName.get(name)?.join("; "), ours.byName.get(name)?.join("; ")];
        return a === b ? [] : [`${name}: OPA ${a}, here ${b}`];
      });
      expect(different, relative(work, root)).toEqual([]);
      expect(ours.clauses).toBe(theirs.clauses);
    }
    expect(clauses).toBeGreaterThanOrEqual(atLeast);
  };

  test("Gatekeeper's library, converted to Rego v1, has the same outcome clause by clause", async () => {
    const root = copy("gatekeeper-library");
    await run(opa, ["fmt", "--v0-v1", "--write", root]);
    const roots = [...new Set(filesBelow(root, /_test\.rego$/).map((name) => join(root, dirname(name))))];
    await expectAgreement(roots, 900);
  });

  test("ScubaGear's baselines have the same outcome clause by clause", async () => {
    await expectAgreement([copy("scubagear")], 1000);
  });

  test("regal's rules, its own builtins stubbed alike on both sides, have the same outcome clause by clause", async () => {
    const root = join(
      copy("regal", (source) => source.replace(STUBBED, "data.stubs.$1(")),
      "bundle",
    );
    writeFileSync(join(root, "stubs.rego"), STUBS);
    await expectAgreement([root], 700);
  });
});
