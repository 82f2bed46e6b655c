import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandsFor } from "../src/commands/index.ts";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

let cwd = "";
/** An address where nobody listens. */
let nobody = "";
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "seneschal-exit-"));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  nobody = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise((resolve) => server.close(resolve));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** With these words, on a machine that has none of the files they name. */
async function ends(words: readonly string[], more: { readonly secrets?: readonly string[] } = {}) {
  const host = scriptedHost({ cwd, interrupted: Promise.resolve(), ...more });
  return { code: await run(words, host), text: host.lines.join("\n"), said: host.errors.join("\n") };
}

/** Every command but those that are made from the contracts of services, by its words. */
async function commands(): Promise<ReadonlyMap<string, Command>> {
  const program = new Command("seneschal");
  const context = { host: scriptedHost({ cwd }), result: () => undefined, exit: () => undefined };
  for (const add of await commandsFor(["--help"])) add(program, context as never);
  const found = new Map<string, Command>();
  const visit = (command: Command, words: string): void => {
    if (command.commands.length === 0) found.set(words, command);
    for (const sub of command.commands) visit(sub, `${words} ${sub.name()}`.trim());
  };
  visit(program, "");
  return found;
}

/** What each argument and option of a command is given that is asked for: names of nothing, and an address where nobody is. */
function hopeless(command: Command): readonly string[] {
  const of = (name: string, { parseArg, argChoices }: { readonly parseArg?: unknown; readonly argChoices?: string[] }): string =>
    argChoices?.[0] ?? (name === "entrypoint" ? "data.p.allow" : parseArg === undefined ? `none/${name}` : "1");
  const asked = command.registeredArguments.filter(({ required }) => required);
  const options = command.options.flatMap((option) => {
    const name = option.long?.slice(2) ?? "";
    if (name === "url") return ["--url", nobody];
    if (name === "config") return ["--config", "none/config.yaml"];
    if (!option.mandatory) return [];
    return [option.long ?? "", /base64/.test(option.flags) ? "AAAA" : of(name, option)];
  });
  return [...asked.map((argument) => of(argument.name(), argument)), ...options];
}

describe("what a command ends with", () => {
  /** What asks for nothing that could be missing. */
  const always: Readonly<Record<string, readonly string[]>> = {
    init: ["--data", "/dev/null/data"],
    dev: ["--data", "/dev/null/data"],
    completion: ["fish"],
    "policy capabilities": ["--none"],
    "policy repl": ["--data", "none.rego"],
    "policy test": [],
    "custodian new": ["--out", "none/keys.json"],
  };

  test("no command whose files are not there, or whose service is not, ends with 0, and each says why", async () => {
    const found = await commands();
    expect(found.size).toBeGreaterThan(60);
    const silent: string[] = [];
    for (const [words, command] of found) {
      const given = [...words.split(" "), ...(always[words] ?? hopeless(command))];
      const { code, text, said } = await ends(given);
      if (code === 0 || `${text}${said}` === "") silent.push(`${given.join(" ")}: ${code} ${text}`);
    }
    expect(silent).toEqual([]);
  });

  test("restore says no where values stay that another key took, and writes nothing where none came back", async () => {
    const file = (name: string, text: string) => writeFile(join(cwd, name), text);
    await file("one.key", "01".repeat(32));
    await file("other.key", "02".repeat(32));
    for (const [format, text] of [
      ["text", "write to ada@example.org"],
      ["json", '{"note":"write to ada@example.org"}'],
      ["csv", "note\nwrite to ada@example.org\n"],
    ] as const) {
      await file(`given.${format}`, text);
      const redact = (of: string, out: string, key: string) =>
        ends(["redact", of, "--out", out, "--format", format, "--key", key, "--rule", "*=tokenise"]);
      expect((await redact(`given.${format}`, `one.${format}`, "one.key")).code).toBe(0);
      const restore = (of: string, out: string, key: string) => ends(["restore", of, "--out", out, "--key", key]);
      const wrong = await restore(`one.${format}`, `wrong.${format}`, "other.key");
      expect([wrong.code, wrong.said]).toEqual([2, expect.stringMatching(/other\.key is another key: none of the 1 values/)]);
      await expect(readFile(join(cwd, `wrong.${format}`))).rejects.toMatchObject({ code: "ENOENT" });
      expect((await restore(`one.${format}`, `back.${format}`, "one.key")).code).toBe(0);
      expect(await readFile(join(cwd, `back.${format}`), "utf8")).toBe(text);
      expect((await restore(`given.${format}`, `nothing.${format}`, "one.key")).code).toBe(0);
    }
    await file("bob.text", "bob@example.org");
    await ends(["redact", "bob.text", "--out", "bob.hidden", "--format", "text", "--key", "other.key", "--rule", "*=tokenise"]);
    const parts = await Promise.all(["one.text", "bob.hidden"].map((name) => readFile(join(cwd, name), "utf8")));
    await file("both.text", parts.join(", and "));
    const both = await ends(["restore", "both.text", "--out", "half.text", "--key", "other.key"]);
    expect([both.code, both.text]).toEqual([1, "half.text: 1 values restored; 1 were taken under another key, and stay"]);
    expect(await readFile(join(cwd, "half.text"), "utf8")).toMatch(/^write to <EMAIL_ADDRESS token:\S+>, and bob@example\.org$/);
  });

  test("an answer that is no ends with 1: a session without a signature, a vault that is not sealed", async () => {
    const answers: Readonly<Record<string, object>> = {
      "/aggregate": {
        id: "01999999-9999-7999-8999-999999999999",
        org_id: "acme",
        crk_id: "01999999-9999-7999-8999-999999999998",
        crk_version: 1,
        status: "signing",
        threshold: 2,
        round: { id: "r", set_id: "AAAA", epoch: 1, message: "AAAA" },
        signs: null,
        crk: {
          set_id: "AAAA",
          epoch: 1,
          threshold: 2,
          total_shares: 3,
          public_key: "AAAA",
          commitments: [],
          verifying_shares: [],
        },
        seats: [],
        commitments: [],
        signed_indexes: [1, 2],
        signature: null,
        cheaters: [2],
        started_by: "ada",
        created_at: "2026-01-01T00:00:00Z",
        updated_at: "2026-01-01T00:00:00Z",
        expires_at: "2026-01-01T01:00:00Z",
      },
      "/seal": { type: "shamir", initialized: true, sealed: false, t: 3, n: 5, progress: 0, nonce: "", version: "1" },
    };
    const server = createServer((request, response) => {
      const answer = Object.entries(answers).find(([end]) => request.url?.endsWith(end))?.[1] ?? {};
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      expect(await ends(["ceremony", "aggregate", "s1", "--url", url])).toMatchObject({
        code: 1,
        text: expect.stringMatching(/no signature: .* 2 are not valid/),
      });
      expect(await ends(["vault", "seal", "--url", url], { secrets: ["share"] })).toMatchObject({ code: 1 });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
