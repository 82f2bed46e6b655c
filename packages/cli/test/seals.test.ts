import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "../src/run.ts";
import { type ScriptedHost, scriptedHost } from "./scripted-host.ts";

const page = fileURLToPath(new URL("../../../docs/operating.md", import.meta.url));
let root: string;
let yaml: string;
let commands: readonly string[];
let url = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "seneschal-seals-"));
  const text = (await readFile(page, "utf8")).split("## Sealing the vault")[1]?.split("\n## ")[0] ?? "";
  const blocks = [...text.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, language, body]) => ({ language, body: body ?? "" }));
  commands = blocks.filter(({ language }) => language === "").flatMap(({ body }) => body.trim().split("\n"));
  yaml = blocks.find(({ language }) => language === "yaml")?.body ?? "";
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** The machine's directories are below one of ours, and its port is any that is free. */
const here = (text: string): string =>
  text.replace(/\/(?:etc|var|root)\/[\w./-]*/g, (path) => `${root}${path}`).replaceAll("https://localhost:8443", url);

/** The page's command that begins so, typed by people who have these shares. */
async function type(start: string, secrets: readonly string[] = []): Promise<{ code: number; host: ScriptedHost }> {
  const line = commands.find((command) => command.startsWith(`seneschal ${start}`)) ?? `seneschal ${start} is not on the page`;
  const host = scriptedHost({ cwd: root, secrets });
  return { code: await run([...here(line).split(" ").slice(1), "--json"], host), host };
}
async function typed(start: string, secrets: readonly string[] = []): Promise<Record<string, unknown>> {
  const { code, host } = await type(start, secrets);
  expect([start, code, code === 0 ? "" : host.lines.join()]).toEqual([start, 0, ""]);
  return host.json();
}

/** `serve`, up to its first line. */
async function serve() {
  let end = (): void => undefined;
  const host = scriptedHost({ cwd: root, interrupted: new Promise((resolve) => (end = resolve)) });
  const line = commands.find((command) => command.startsWith("seneschal serve")) ?? "";
  const lines = (async function* () {
    for (let at = 0; ; at++) {
      while (host.lines[at] === undefined) await new Promise((resolve) => setImmediate(resolve));
      yield JSON.parse(host.lines[at] ?? "") as Record<string, { url: string }>;
    }
  })();
  const served = run([...here(line).split(" ").slice(1), "--set", "gateway.server.port=0", "log.level=silent"], host);
  const first = (await lines.next()).value ?? {};
  const port = new URL(String(first["sealed"]?.url)).port;
  url = `https://localhost:${port}`;
  const stop = async (): Promise<number> => {
    end();
    return served;
  };
  return { next: async () => (await lines.next()).value, stop };
}

it("operators come from an empty machine to a served organisation, seal it, and change their number by the commands of docs/operating.md", async () => {
  const file = here("/etc/seneschal/seneschal.yaml");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, here(yaml));
  const { shares } = (await typed("vault init")) as { shares: string[] };
  expect(shares).toHaveLength(5);
  expect((await type("bootstrap", shares.slice(0, 2))).code).toBe(2);
  await typed("bootstrap", shares.slice(0, 3));

  const first = await serve();
  try {
    const status = await type("vault status");
    expect([status.code, status.host.json()]).toEqual([1, expect.objectContaining({ sealed: true, t: 3, n: 5, progress: 0 })]);
    for (const [at, share] of shares.slice(2).entries())
      expect(await typed("vault unseal", [share])).toMatchObject({ sealed: at < 2, progress: (at + 1) % 3 });
    expect(await first.next()).toMatchObject({ services: [{ name: "gateway" }] });
    expect((await type("vault status")).code).toBe(0);
    const doctor = scriptedHost({ cwd: root });
    await run(["doctor", "-c", file, "--url", url, "--ca", here("/root/acme/ca.pem"), "--json"], doctor);
    expect(doctor.json()["findings"]).toContainEqual({ check: "vault", state: "ok", message: "open, its seal is shamir" });
    expect((await type("vault seal", [shares[4]?.replace(/.$/, "!") ?? ""])).code).toBe(2);
    expect(await typed("vault seal", [shares[4] ?? ""])).toMatchObject({ sealed: true });
    expect(await first.next()).toMatchObject({ sealed: { name: "gateway" } });
    await run(["doctor", "-c", file, "--url", url, "--ca", here("/root/acme/ca.pem"), "--json"], doctor);
    expect(doctor.json()["findings"]).toContainEqual(expect.objectContaining({ check: "vault", state: "error" }));
  } finally {
    expect(await first.stop()).toBe(0);
  }

  const next = (await typed("vault rekey --shares", shares)) as { shares: string[]; in_force: boolean };
  expect([next.shares.length, next.in_force]).toEqual([7, false]);
  await typed("vault rekey --verify", next.shares.slice(3));
  const settings = here(yaml).replace("{ kind: shamir }", `{ kind: key_file, key_file: ${root}/var/other.key }`);
  await writeFile(here("/etc/seneschal/next.yaml"), settings);
  expect((await type("vault rekey --to", shares)).code).toBe(2);
  expect(await typed("vault rekey --to", next.shares)).toEqual({ shares: [], in_force: true });
  await writeFile(file, settings);
  const org = scriptedHost({ cwd: root });
  expect(await run(["org", "create", "globex", "-c", file, "--json"], org)).toBe(0);

  // The operator reads what belongs to no organisation, in pages, and nothing of one.
  const instance = async (...more: string[]) => {
    const reader = scriptedHost({ cwd: root });
    expect(await run(["audit", "instance", "-c", file, "--json", ...more], reader)).toBe(0);
    return reader.json()["events"] as { seq: number; event_type: string; org_id: string }[];
  };
  const all = await instance();
  expect(all.map(({ event_type }) => event_type)).toEqual(expect.arrayContaining(["vault.init", "vault.seal", "vault.rekey"]));
  expect(new Set(all.map(({ org_id }) => org_id))).toEqual(new Set(["/instance"]));
  expect(await instance("--after", String(all[0]?.seq), "--limit", "2")).toEqual(all.slice(1, 3));
});
