import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { check, compile, currentCapabilities, define, readCapabilities } from "@seneschal/rego";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesBelow, policySuites } from "../policy/policy-suites.ts";

const { opa, sets, skip, note } = policySuites;
const run = promisify(execFile);
const output = { maxBuffer: 64_000_000 };

/** A ref as `opa deps` writes it. */
type Ref = readonly { readonly value: unknown }[];

const textOf = ([root, ...parts]: Ref): string =>
  `${root?.value}${parts
    .map(({ value }) => (typeof value === "string" && /^[A-Za-z_]\w*$/.test(value) ? `.${value}` : `[${JSON.stringify(value)}]`))
    .join("")}`;

/** Whether a ref is another one or lies below it. */
const within = (ref: string, above: string): boolean =>
  ref === above || (ref.startsWith(above) && /^[.[]/.test(ref.slice(above.length)));

describe.skipIf(skip)(`what is told of policies beside opa${note}`, () => {
  let work: string;
  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), "seneschal-inspect-"));
  });
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  test("dependencies of rules of a public policy set: every rule and every base document that opa deps names, and mostly no other", async () => {
    const root = join(sets, "scubagear");
    const sources = filesBelow(root, /\.rego$/)
      .filter((name) => !/_test\.rego$|(^|\/)Testing\//.test(name))
      .map((name) => ({ name, source: readFileSync(join(root, name), "utf8") }));
    const policy = compile(sources);
    const files = sources.flatMap(({ name }) => ["-d", join(root, name)]);
    const step = Math.ceil(policy.rules.length / 40);
    let equal = 0;
    let asked = 0;
    for (let i = 0; i < policy.rules.length; i += step) {
      const query = policy.rules[i] as string;
      const { stdout } = await run(opa, ["deps", ...files, query, "--format", "json"], output);
      const told = JSON.parse(stdout) as { readonly base?: readonly Ref[]; readonly virtual?: readonly Ref[] };
      const ours = policy.dependencies(query);
      const base = (told.base ?? []).map(textOf);
      const virtual = (told.virtual ?? []).map(textOf);
      // opa leaves out `else` branches, and what a variable stands for that is not used
      for (const ref of virtual) expect(ours.virtual, query).toContain(ref);
      // of what a comprehension binds opa names the whole, here the part that is read
      for (const ref of base)
        expect(
          ours.base.some((own) => within(own, ref)),
          `${query}: ${ref}`,
        ).toBe(true);
      asked++;
      if (ours.virtual.length === virtual.length && base.every((ref) => ours.base.includes(ref))) equal++;
    }
    expect(asked).toBeGreaterThan(20);
    expect(equal / asked, `${equal} of ${asked}`).toBeGreaterThan(0.8);
  });

  test("a profile counts what opa eval --profile counts, where the compiler makes one expression of a row", async () => {
    const source = `package p

found contains n if {
	some n in input.all
	n > 2
	not input.passed[n]
}

result := count(found)

pairs contains [a, b] if {
	some a in input.all
	some b in input.all
	a < b
}
`;
    const input = { all: [1, 2, 3, 4, 5], passed: { a: true } };
    const file = join(work, "p.rego");
    writeFileSync(file, source);
    writeFileSync(join(work, "input.json"), JSON.stringify(input));
    const policy = compile([{ name: file, source }]);
    for (const query of ["data.p.found", "data.p.pairs"]) {
      const args = [
        "eval",
        "-d",
        file,
        "-i",
        join(work, "input.json"),
        query,
        "--profile",
        "--profile-limit",
        "0",
        "--format",
        "json",
      ];
      const { stdout } = await run(opa, args, output);
      const { profile } = JSON.parse(stdout) as {
        readonly profile: readonly {
          readonly num_eval: number;
          readonly num_redo: number;
          readonly num_gen_expr: number;
          readonly location: { readonly file: string; readonly row: number };
        }[];
      };
      const theirs = profile.filter(({ location, num_gen_expr }) => location.file === file && num_gen_expr === 1);
      expect(theirs.length).toBeGreaterThan(1);
      const ours = policy.profile(query, input).rows;
      for (const { num_eval, num_redo, location } of theirs) {
        const row = ours.find(({ row: at }) => at === location.row);
        expect([row?.evaluations, row?.redos], `${query} row ${location.row}`).toEqual([num_eval, num_redo]);
      }
    }
  });

  test("capabilities written by either are read by both, and refuse the same", async () => {
    const { stdout } = await run(opa, ["capabilities", "--current"], output);
    const theirs = JSON.parse(stdout) as { readonly builtins: readonly { readonly name: string }[] };
    const own = currentCapabilities();
    const modules = {
      plain: "package p\n\nx := 1 + 2\n",
      calls: 'package p\n\nx := upper("a")\n',
      member: 'package p\n\nx if "a" in input.xs\n',
      walks: "package p\n\nx contains v if walk(input, [_, v])\n",
      template: 'package p\n\nx := $"{input.a}"\n',
      keyword: "package p\n\nx := input.if\n",
      prints: 'package p\n\nx if print("a")\n',
    };
    for (const left of [[], ["upper"], ["plus"], ["internal.member_2"], ["walk"]]) {
      for (const features of [["rego_v1"], ["rego_v1", "template_strings"], ["rego_v1", "keywords_in_refs"], []]) {
        for (const document of [theirs, own]) {
          const capabilities = { ...document, builtins: document.builtins.filter(({ name }) => !left.includes(name)), features };
          const file = join(work, "capabilities.json");
          writeFileSync(file, JSON.stringify(capabilities));
          for (const [name, source] of Object.entries(modules)) {
            const module = join(work, `${name}.rego`);
            writeFileSync(module, source);
            const accepted = await run(opa, ["check", "--capabilities", file, module], output).then(
              () => true,
              () => false,
            );
            const problems = check([{ name, source }], { capabilities: readCapabilities(capabilities) });
            expect([name, problems.length === 0], `${left} ${features}: ${problems[0]?.message}`).toEqual([name, accepted]);
          }
        }
      }
    }
  });

  test("an own builtin has in capabilities the type that it is declared with", async () => {
    const double = define("acme.double", "number, [string]|<string> -> {string: number}", () => undefined);
    const file = join(work, "own.json");
    writeFileSync(file, JSON.stringify(currentCapabilities({ builtins: [double] })));
    for (const [argument, fits] of [
      ["1, [`a`]", true],
      ["1, {`a`}", true],
      ["`a`, [`a`]", false],
      ["1, [1]", false],
    ] as const) {
      const source = `package p\n\nx := acme.double(${argument}).a\n`;
      const module = join(work, "own.rego");
      writeFileSync(module, source);
      const accepted = await run(opa, ["check", "--capabilities", file, module], output).then(
        () => true,
        () => false,
      );
      expect(accepted, argument).toBe(fits);
    }
  });
});
