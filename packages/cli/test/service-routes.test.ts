import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fieldsOf } from "@seneschal/contract";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommandContext } from "../src/command-context.ts";
import { commandsFor } from "../src/commands/index.ts";
import { commandName, serviceContracts } from "../src/commands/service-routes.ts";
import { run } from "../src/run.ts";
import { type DevProcess, openDevProcess } from "./dev-process.ts";
import { scriptedHost } from "./scripted-host.ts";

const services = Object.keys(serviceContracts) as (keyof typeof serviceContracts)[];
const kebab = (name: string): string =>
  `--${name.replaceAll(/[_.]/g, "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** What a server that says nothing was asked for. */
interface Asked {
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

describe.each(services)("every route of the %s contract", (service) => {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { searchParams: query } = new URL(request.url ?? "", "http://localhost");
    asked.push({ query, body: request.headers["content-type"] === "application/json" ? JSON.parse(body) : {} });
    response.end("{}");
  });
  let url = "";
  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  it("has a command, whose help names each parameter, and an option for each field that reaches the service, whatever the program's options are called", async () => {
    const lost: string[] = [];
    const samples = { text: "x", base64: "AAAA", number: "1", boolean: "true", list: "x", json: "{}", any: "x" };
    for (const [id, route] of Object.entries(await serviceContracts[service]())) {
      const explained = scriptedHost({ cwd: "." });
      const code = await run([service, commandName(id), "--help"], explained);
      const help = explained.lines.join("\n");
      const parameters = [...route.path.matchAll(/:([a-z0-9_]+)/g)].map(([, name]) => `<${name}>`);
      const body = route.body === undefined && route.consumes === undefined ? [] : ["--body"];
      const unnamed = [...parameters, ...body].filter((name) => !help.includes(name));

      const fields = (["query", "body"] as const).flatMap((part) =>
        fieldsOf(route[part]).map(({ name, kind }) => ({ part, name, value: samples[kind] })),
      );
      const typed = fields.flatMap(({ part, name, value }) => {
        const own = kebab(name).replace("--", `--${part}-`);
        return [help.includes(` ${own} `) ? own : kebab(name), value];
      });
      asked.length = 0;
      const host = scriptedHost({ cwd: "." });
      const [type] = [route.consumes ?? []].flat();
      const file = type === undefined ? [] : ["--body", "@README.md", "--header", `content-type: ${type}`];
      const line = [service, commandName(id), ...parameters.map(() => "1"), ...typed, ...file, "--url", url];
      if (fields.length > 0) await run(line, host);
      const there = { query: new Set(asked[0]?.query.keys()), body: new Set(Object.keys(asked[0]?.body ?? {})) };
      const gone = fields.filter(({ part, name }) => !there[part].has(name)).map(({ part, name }) => `${part} ${name}`);
      if (code !== 0 || unnamed.length + gone.length > 0) lost.push(`${id}: ${[code, ...unnamed, ...gone]}, ${host.errors}`);
    }
    expect(lost).toEqual([]);
  });

  it("is listed by its summary", async () => {
    const host = scriptedHost({ cwd: "." });
    expect(await run([service, "--help"], host)).toBe(0);
    for (const id of Object.keys(await serviceContracts[service]()))
      expect(host.lines.join("\n")).toContain(` ${commandName(id)} `);
  });
});

it("a command line loads the commands of its first word, and every word has its own; help, completion and mistakes have all", async () => {
  const added = async (argv: readonly string[]) => {
    const program = new Command("seneschal");
    for (const add of await commandsFor(argv))
      add(program, { host: scriptedHost({ cwd: "." }), result: () => {}, exit: () => {} });
    return program.commands.map((command) => command.name());
  };
  const all = await added([]);
  for (const other of [["--help"], ["help", "policy"], ["completion", "bash"], ["polcy", "check"]])
    expect(await added(other)).toEqual(all);
  const families = await Promise.all(all.map(async (word) => [word, await added(["--json", word, "x"])] as const));
  for (const [word, family] of families) expect(family).toContain(word);
  expect(families.filter(([, family]) => family.length > 4).map(([word]) => word)).toEqual(["completion"]);
});

it("no command has an option of the name of one of the program's, but those that mean the same everywhere", async () => {
  const program = new Command("seneschal").version("0", "--version").option("--json");
  const context: CommandContext = { host: scriptedHost({ cwd: "." }), result: () => {}, exit: () => {} };
  for (const add of await commandsFor([])) add(program, context);
  const all = (command: Command): readonly Command[] => command.commands.flatMap((sub) => [sub, ...all(sub)]);
  const flags = (command: Command) => command.options.flatMap(({ long, short }) => [long, short]);
  const own = new Set(["--help", "-h", ...flags(program)]);
  const shared = all(program).flatMap((command) => flags(command).filter((flag) => flag !== undefined && own.has(flag)));
  expect(all(program).length).toBeGreaterThan(50);
  expect(shared).toEqual([]);
});

describe("calls by the command line", () => {
  let dev: DevProcess;
  beforeAll(async () => {
    dev = await openDevProcess();
  });
  afterAll(() => dev.close());

  const call = async (args: readonly string[], stdin = "") => {
    const host = scriptedHost({ cwd: dev.dir, stdin });
    const code = await run([...args, "--credentials", dev.credentials, "--json"], host);
    return { code, json: host.json(), errors: host.errors };
  };

  it("make a workspace, encrypt, decrypt, and say what a refusal says", async () => {
    const as = ["--as", "acme/super_admin"];
    const made = await call(["gateway", "create-workspace", "--name", "books", "--purpose", "accounts", ...as]);
    expect([made.code, made.json]).toMatchObject([0, { name: "books", purpose: "accounts", classification: "CONFIDENTIAL" }]);
    const id = String(made.json["id"]);
    const plaintext = Buffer.from("2 and 2").toString("base64");
    const sealed = await call(["gateway", "encrypt", id, "--plaintext", plaintext, ...as]);
    expect(sealed.code, JSON.stringify(sealed)).toBe(0);
    const opened = await call(
      ["gateway", "decrypt", id, "--body", "-", ...as],
      JSON.stringify({ ciphertext: sealed.json["ciphertext"] }),
    );
    expect([opened.code, opened.json]).toMatchObject([0, { plaintext }]);
    // Bytes come by a file or standard input as they are; what stands on the command line is base64 or refused, never both things.
    const encrypt = (args: readonly string[], stdin = "") => call(["gateway", "encrypt", id, ...args, ...as], stdin);
    await writeFile(join(dev.dir, "plain"), "2 and 2");
    for (const [args, stdin] of [
      [["--plaintext-file", "plain"], ""],
      [["--plaintext-file", "-"], "2 and 2"],
    ] as const) {
      const { json } = await encrypt(args, stdin);
      const back = await call(["gateway", "decrypt", id, "--ciphertext", String(json["ciphertext"]), ...as]);
      expect([back.code, back.json]).toMatchObject([0, { plaintext }]);
    }
    const nonsense = await encrypt(["--plaintext", "2 and 2!"]);
    expect([nonsense.code, nonsense.json]).toMatchObject([
      2,
      { error: { code: "usage", message: expect.stringMatching(/^--plaintext: expected base64; .*--plaintext-file/) } },
    ]);
    expect((await encrypt(["--plaintext", plaintext, "--plaintext-file", "plain"])).code).toBe(2);
    await writeFile(join(dev.dir, "body.json"), JSON.stringify({ name: "from a file" }));
    const merged = await call(["gateway", "create-workspace", "--body", "@body.json", "--mode", "standard", ...as]);
    expect(merged.json).toMatchObject({ name: "from a file", mode: "standard" });
    const listed = await call(["gateway", "list-workspaces", "--limit", "1", ...as]);
    expect(listed.json["workspaces"]).toHaveLength(1);
    const dealt = await call(["gateway", "generate-crk", "--total-shares", "3", "--threshold", "2", ...as]);
    expect([dealt.code, dealt.json]).toMatchObject([0, { total_shares: 3 }]);
    const refused = await call(["gateway", "create-workspace", "--name", "x", "--as", "acme/auditor"]);
    expect([refused.code, refused.json]).toMatchObject([4, { error: { code: "FORBIDDEN" } }]);
    const wrong = await call(["gateway", "create-workspace", "--body", "{", ...as]);
    expect([wrong.code, wrong.json]).toMatchObject([2, { error: { code: "usage" } }]);
    const unknown = await call(["gateway", "no-such-call", ...as]);
    expect([unknown.code, unknown.json]).toMatchObject([2, { error: { code: "usage" } }]);
    const pem = await call(["gateway", "instance-authority", "servers", ...as]);
    expect(String(pem.json["text"])).toContain("BEGIN CERTIFICATE");
  });

  it("redact a file by its name, with rules as they are written", async () => {
    await writeFile(join(dev.dir, "people.csv"), "id,contact\n1,ada@example.org\n");
    const line = ["governance", "redact-file", "--body", "@people.csv", "--rule", "*=mask", "--out", "hidden.csv"];
    const { code, errors } = await call([...line, "--as", "acme/any"]);
    expect([code, errors]).toEqual([0, []]);
    expect(await readFile(join(dev.dir, "hidden.csv"), "utf8")).toMatch(/^id,contact\n1,[*@.]+\n$/);
  });

  it.each([
    ["governance", "list-api-keys", "acme/any"],
    ["scheduler", "list-allocations", "acme/user"],
    ["storage", "list-pools", "any/admin"],
  ])("reach %s as its credentials say", async (service, name, as) => {
    const answer = await call([service, name, "--as", as]);
    expect(answer.code, JSON.stringify(answer.json)).toBe(0);
  });
});
