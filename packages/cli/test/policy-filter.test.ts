import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

describe("policy filter", () => {
  let cwd: string;
  let section: string;
  const shown = (language: string): string => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)?.[1] ?? "";
  beforeAll(async () => {
    const page = await readFile(new URL("../../../docs/rego.md", import.meta.url), "utf8");
    section = /## Filters of rows\n([\s\S]*?)\n## /.exec(page)?.[1] ?? "";
    cwd = await mkdtemp(join(tmpdir(), "seneschal-filter-"));
    await mkdir(join(cwd, "policies"));
    await writeFile(join(cwd, "policies", "rows.rego"), /source: `([\s\S]*?)`/.exec(shown("ts"))?.[1] ?? "");
    await writeFile(join(cwd, "columns.json"), shown("json"));
    await writeFile(join(cwd, "input.json"), '{"user": "ada"}');
    await writeFile(join(cwd, "data.json"), '{"teams": {"ada": ["crm", "mail"]}}');
    await writeFile(join(cwd, "odd.rego"), "package odd\n\ninclude if json.marshal(input.row.owner) == input.user\n");
    await writeFile(join(cwd, "few.json"), '{"input.row.owner": {"column": "owner", "type": "text"}}');
    await writeFile(join(cwd, "more.json"), '{"input.row.owner": {"column": "owner", "type": "text", "collation": "C"}}');
    await writeFile(join(cwd, "list.json"), "[]");
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));
  const call = async (...args: string[]) => {
    const host = scriptedHost({ cwd });
    const code = await run(args, host);
    return { code, lines: host.lines, text: host.lines.join("\n"), errors: host.errors.join("\n"), host };
  };

  test("what docs/rego.md says to type gives the condition, and the SQL that it shows with its parameters", async () => {
    const [first = "", second = ""] = [...shown("sh").matchAll(/^seneschal (.*)$/gm)].map(([, line = ""]) => line);
    const condition = await call(...first.split(" "));
    expect(condition.code).toBe(0);
    expect(JSON.parse(condition.text)).toMatchObject({ type: "compound", operator: "or" });
    const { code, text } = await call(...second.split(" "));
    expect(code).toBe(0);
    expect(text.split("\n")).toEqual([shown("sql").trim(), '"ada"', '"crm"', '"mail"']);
    const json = await call(...second.split(" "), "--json");
    expect(json.host.json()).toMatchObject({ kind: "condition", sql: shown("sql").trim(), parameters: ["ada", "crm", "mail"] });
  });

  test("what is refused says where and no, and writes no filter", async () => {
    const told = await call(
      "policy",
      "filter",
      "data.odd.include",
      "odd.rego",
      "--dialect",
      "postgres",
      "--columns",
      "columns.json",
    );
    expect([told.code, told.text]).toEqual([
      1,
      "odd.rego:3:12: partial_function: json.marshal of a column cannot be a condition",
    ]);
    const wrong = await call("policy", "filter", "data.odd.include ==", "odd.rego");
    expect([wrong.code, wrong.lines]).toEqual([2, []]);
  });

  test.each([
    [["--dialect", "postgres"], /go together/],
    [["--columns", "columns.json"], /go together/],
    [["--dialect", "oracle", "--columns", "columns.json"], /Allowed choices are postgres, bigquery, snowflake/],
    [["--dialect", "postgres", "--columns", "few.json"], /no column is named for input\.row\.team/],
    [["--dialect", "postgres", "--columns", "more.json"], /collation is not known/],
    [["--dialect", "postgres", "--columns", "list.json"], /expected an object of columns/],
    [["--dialect", "postgres", "--columns", "none.json"], /cannot be read/],
    [["-u", "data.rows"], /--unknowns\[0\]: expected a path such as input\.row/],
    [["-u", "input.row", "-u", "input"], /--unknowns\[1\]: holds another one/],
  ])("%j is refused before anything is written", async (options, message) => {
    const args = ["policy", "filter", "data.rows.include", "policies/", "-i", "input.json", "-d", "data.json"];
    const { code, lines, errors } = await call(...args, ...options);
    expect([code, lines]).toEqual([2, []]);
    expect(errors).toMatch(message);
  });
});
