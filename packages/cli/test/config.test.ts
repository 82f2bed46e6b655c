import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { governanceSchema } from "@seneschal/app/governance";
import type { Commit } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

const hasBash = spawnSync("bash", ["-c", ":"]).status === 0;

describe("configuration by the command line", () => {
  let cwd: string;
  let data: Record<string, string>;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "seneschal-config-"));
    await run(["init", "--data", "data"], scriptedHost({ cwd }));
    data = { SENESCHAL_DATA_DIR: join(cwd, "data") };
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));

  it("flags win over the environment, the environment over the file, and secrets are masked", async () => {
    await writeFile(
      join(cwd, "c.yaml"),
      "gateway:\n  server: { port: 1111, host: 127.0.0.2 }\n  vault: { passphrase: hunter2 }\nauth:\n  jwt: { clock_skew: 10s }\n",
    );
    const env = { ...data, SENESCHAL_GATEWAY_SERVER_PORT: "2222", SENESCHAL_AUTH_JWT_CLOCK_SKEW: "20s", OTHER: "x" };
    const host = scriptedHost({ cwd, env });
    expect(await run(["config", "check", "-c", "c.yaml", "--set", "auth.jwt.clock_skew=30s"], host), host.errors.join()).toBe(0);
    const text = host.lines.join("\n");
    // The verdict first and last: what is in force is a long list.
    expect([text.split("\n")[0], text.split("\n").at(-1)]).toEqual(Array(2).fill("nothing is wrong with it"));
    expect(text).toContain("gateway.server.port: 2222");
    expect(text).toContain('gateway.server.host: "127.0.0.2"');
    expect(text).toContain("auth.jwt.clock_skew: 30000");
    expect(text).not.toContain("hunter2");
    expect(await run(["config", "check", "-c", "c.yaml", "--json"], host)).toBe(0);
    expect(host.json()["settings"]).toMatchObject({
      "gateway.server.port": 2222,
      "gateway.server.tls_cert": null,
      "gateway.vault.passphrase": "********",
    });
  });

  it("settings of services that do not run are not shown, but to programs, and no URL tells a secret", async () => {
    const host = scriptedHost({ cwd, env: data });
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const hook = { name: "told", tenants: ["acme"], url: "https://hooks.example.org/in?token=hunter2", secret };
    const set = ["--offline", "--set", "services=storage", `storage.notifications.webhooks=${JSON.stringify([hook])}`];
    await run(["config", "check", ...set], host);
    const text = host.lines.join("\n");
    const tops = new Set(text.split("\n").flatMap((line) => /^(\w+)\.\S*: /.exec(line)?.[1] ?? []));
    expect(["gateway", "governance", "scheduler", "storage", "auth"].filter((top) => tops.has(top))).toEqual(["storage", "auth"]);
    expect(text).toContain("https://hooks.example.org/********?********");
    await run(["config", "check", ...set, "--json"], host);
    expect(host.json()["settings"]).toHaveProperty(["gateway.server.port"]);
    expect(host.lines.join("\n")).not.toContain("hunter2");
  });

  it("an unknown key of any source stops everything, by its name", async () => {
    await writeFile(join(cwd, "bad.yaml"), "gateway:\n  sever: {}\n");
    const host = scriptedHost({ cwd, env: { SENESCHAL_GATEWAY_PROT: "1" } });
    expect(await run(["config", "check", "-c", "bad.yaml"], host)).toBe(2);
    expect(host.errors.join()).toMatch(/gateway\.sever.*|SENESCHAL_GATEWAY_PROT/);
    expect(host.errors.join()).toContain("gateway.sever");
  });

  it("a storage node's environment is in force as it will be at the start, and half of its TLS files is refused", async () => {
    const env = { ...data, STORE_NODE_ID: "n7", STORE_DATA_ADDR: "10.0.0.7:9100", STORE_BACKUP_RETENTION_DAYS: "30" };
    const host = scriptedHost({ cwd, env });
    expect(await run(["config", "check", "--json"], host), host.errors.join()).toBe(0);
    expect(host.json()["settings"]).toMatchObject({
      "storage.node_id": "n7",
      "storage.grpc.address": "10.0.0.7:9100",
      "storage.backup.retention_days": 30,
    });
    const half = scriptedHost({ cwd, env: { ...data, STORE_CA_PATH: "/ca.pem", STORE_CERT_PATH: "/cert.pem" } });
    expect(await run(["config", "check"], half)).toBe(2);
    expect(half.errors.join()).toContain("STORE_KEY_PATH");
    expect(await run(["config", "check", "--set", "services=gateway"], half)).toBe(0);
    const gone = scriptedHost({ cwd, env: data });
    expect(
      await run(
        [
          "config",
          "check",
          "--set",
          "services=gateway",
          "--set",
          "gateway.server.tls_cert=/no.pem",
          "--set",
          "gateway.server.tls_key=/no.pem",
        ],
        gone,
      ),
    ).toBe(1);
    expect(gone.lines.join("\n")).toMatch(/^serve would refuse it; mistakes: 2\nerror: gateway\.server\.tls_cert: /);
  });

  it("init makes the unseal key once, for its owner only", async () => {
    const host = scriptedHost({ cwd });
    const data = join(cwd, "made");
    expect(await run(["init", "--data", data, "--json"], host)).toBe(0);
    expect(host.json()).toMatchObject({ made: true });
    const key = await readFile(join(data, "unseal.key"), "utf8");
    expect(Buffer.from(key, "base64")).toHaveLength(32);
    expect((await stat(join(data, "unseal.key"))).mode & 0o077).toBe(0);
    expect(await run(["init", "--data", data, "--json"], host)).toBe(0);
    expect(host.json()).toMatchObject({ made: false });
    expect(await readFile(join(data, "unseal.key"), "utf8")).toBe(key);
  });

  it("an organisation is created without a running gateway, no gap is accepted that is none, and the vault is never opened by a made-up key", async () => {
    const host = scriptedHost({ cwd });
    const fresh = join(cwd, "fresh");
    expect(await run(["org", "create", "initech", "--set", `data_dir=${fresh}`], host)).toBe(2);
    expect(host.errors.at(-1)).toContain("unseal.key");
    expect(await run(["init", "--data", fresh], host)).toBe(0);
    expect(await run(["org", "create", "initech", "--set", `data_dir=${fresh}`, "--json"], host)).toBe(0);
    expect(host.json()).toEqual({ id: "initech" });
    for (const key of ["AAAA", "no base64", Buffer.alloc(33).toString("base64")]) {
      expect(await run(["org", "create", "other", "--crk-public-key", key, "--set", `data_dir=${fresh}`], host)).toBe(2);
      expect(host.errors.at(-1)).toContain("32 bytes");
    }
    const anchored = JSON.stringify([{ id: "acme", crk_public_key: "AAAA" }]);
    expect(await run(["config", "check", "--set", `gateway.organizations=${anchored}`], host)).toBe(2);
    expect(host.errors.at(-1)).toMatch(/organizations.*crk_public_key.*32 bytes/);
    expect(await run(["org", "create", "a/b", "--set", `data_dir=${fresh}`], host)).toBe(2);
    const accept = async (first: string, last: string, reason: string) => {
      const args = ["--first", first, "--last", last, "--reason", reason, "--set", `data_dir=${fresh}`];
      return [await run(["audit", "accept-gap", ...args], host), host.errors.at(-1)];
    };
    expect(await accept("1", "1", "a disk")).toEqual([2, expect.stringContaining("are signed")]);
    expect(await accept("900", "900", "a disk")).toEqual([2, expect.stringContaining("no event behind 900")]);
    for (const [first, last, reason] of [
      ["2", "1", "r"],
      ["0", "1", "r"],
      ["1", "1", " "],
      ["x", "1", "r"],
    ] as const)
      expect(await accept(first, last, reason)).toEqual([2, expect.any(String)]);
  });

  it("moves audit events into an archive and verifies that by its files alone, and says by its exit code what it is not", async () => {
    const host = scriptedHost({ cwd });
    const [data, directory] = [join(cwd, "archived"), join(cwd, "archive")];
    const set = (after: string) => [
      "--set",
      `data_dir=${data}`,
      `gateway.audit.archive.to.directory=${directory}`,
      `gateway.audit.archive.after=${after}`,
    ];
    expect(await run(["init", "--data", data], host)).toBe(0);
    expect(await run(["org", "create", "initech", "--set", `data_dir=${data}`], host)).toBe(0);
    expect(await run(["audit", "archive", "--set", `data_dir=${data}`], host)).toBe(2);
    expect(host.errors.at(-1)).toContain("gateway.audit.archive is not set");
    expect(await run(["audit", "archive", ...set("1d"), "--json"], host)).toBe(0);
    expect(host.json()).toEqual({ segments: [] });
    expect(await run(["audit", "archive", ...set("0s"), "--json"], host)).toBe(0);
    const [segment] = (host.json() as { segments: { id: string; last: number }[] }).segments;
    const verify = (...args: string[]) => run(["audit", "verify", "--archive", directory, "--json", ...args], host);
    expect(await verify()).toBe(0);
    expect(host.json()).toMatchObject({ valid: true, segments: 1, last: segment?.last });
    const { verifier_key } = host.json() as { verifier_key: string };
    expect(await verify("--verifier-key", verifier_key)).toBe(0);
    expect(await verify("--since", "2026-01-01T00:00:00Z")).toBe(2);
    const events = join(directory, segment?.id ?? "", "events.jsonl");
    await writeFile(events, (await readFile(events, "utf8")).replace("system", "nobody"));
    expect(await verify()).toBe(1);
    expect(host.json()).toMatchObject({ valid: false });
    expect(await run(["audit", "verify", "--archive", join(cwd, "nowhere"), "--json"], host)).toBe(1);
  });

  it("moves audit events of data governance too, each service's into a place of its own, and mends what is kept of them", async () => {
    const host = scriptedHost({ cwd });
    const [data, directory] = [join(cwd, "both"), join(cwd, "both-archive")];
    const set = (...more: string[]) => [
      "--set",
      `data_dir=${data}`,
      `governance.audit.archive.to.directory=${directory}`,
      ...more,
    ];
    expect(await run(["init", "--data", data], host)).toBe(0);
    expect(await run(["org", "create", "initech", "--set", `data_dir=${data}`], host)).toBe(0);
    const write = async (commit: Commit): Promise<void> => {
      const store = await openLevelStore({ ...governanceSchema, path: join(data, "governance") });
      await store.commit(commit);
      await store.close();
    };
    const event = { id: "e", timestamp: "2026-01-01T00:00:00.000Z", user_id: "person:x", operation_type: "READ" };
    await write({ commitId: "old", audit: [{ stream: "default", event }] });
    const same = `gateway.audit.archive.to.directory=${directory}`;
    expect(await run(["audit", "archive", ...set(same)], host)).toBe(2);
    expect(host.errors.at(-1)).toContain("a place of its own");
    const gateway = `gateway.audit.archive.to.directory=${join(cwd, "gateway-archive")}`;
    const after = ["gateway.audit.archive.after=0s", "governance.audit.archive.after=0s"];
    expect(await run(["audit", "archive", ...set(gateway, ...after), "--json"], host)).toBe(0);
    const { segments } = host.json() as { segments: { service: string }[] };
    expect(segments.map(({ service }) => service)).toEqual(["gateway", "governance"]);
    expect(await run(["audit", "verify", "--archive", directory, "--json"], host)).toBe(0);
    const instance = await readFile(join(data, "instance-id"), "utf8");
    expect(host.json()).toMatchObject({ valid: true, segments: 1, last: 1, instance: expect.stringContaining(instance.trim()) });
    const mend = async () => {
      expect(await run(["audit", "mend", ...set(gateway), "--json"], host)).toBe(0);
      return host.json();
    };
    expect(await mend()).toEqual({ mended: [] });
    await write({ commitId: "lost", dels: [{ coll: "audit_tiles", id: "0/0/default" }] });
    expect(await mend()).toEqual({ mended: [{ service: "governance", log: "default" }] });
    expect(await mend()).toEqual({ mended: [] });
    expect(await run(["audit", "mend", "--set", `data_dir=${data}`], host)).toBe(2);
  });

  it("completion knows every command", async () => {
    const host = scriptedHost({ cwd });
    expect(await run(["completion", "bash"], host)).toBe(0);
    for (const word of ["ceremony", "open-share", "audit verify", "--credentials"]) expect(host.lines.join()).toContain(word);
    expect(await run(["completion", "fish"], host)).toBe(2);
  });

  it.skipIf(!hasBash)("bash completes commands, sub-commands and options, also behind an option's value", async () => {
    const host = scriptedHost({ cwd });
    await run(["completion", "bash"], host);
    const complete = (...words: string[]): string[] => {
      const list = words.map((word) => `'${word}'`).join(" ");
      const script = `${host.lines.join("\n")}\nCOMP_WORDS=(seneschal ${list}); COMP_CWORD=${words.length}; _seneschal; echo "\${COMPREPLY[@]}"`;
      return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.trim().split(" ");
    };
    expect(complete("cer")).toEqual(["ceremony"]);
    expect(complete("audit", "ver")).toEqual(["verify"]);
    expect(complete("audit", "list", "--lim")).toEqual(["--limit"]);
    expect(complete("audit", "--json", "list", "--limit", "5", "--ty")).toEqual(["--type"]);
  });
});
