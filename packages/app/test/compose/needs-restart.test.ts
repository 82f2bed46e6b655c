import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesChanged, filesHeld, needsRestart, reloadable } from "../../src/compose/needs-restart.ts";
import { type ProcessConfig, processSettings } from "../../src/compose/process-settings.ts";
import { leaves, namedFiles } from "../../src/platform/index.ts";

const settings = leaves(processSettings).map(({ path }) => path);
const usual = processSettings.parse({});

/** A configuration in which the setting is another. */
function changed(path: readonly string[], config: unknown = usual): ProcessConfig {
  const [key = "", ...rest] = path;
  const tree = (config ?? {}) as Record<string, unknown>;
  return { ...tree, [key]: rest.length === 0 ? { changed: true } : changed(rest, tree[key]) } as ProcessConfig;
}

it("of any setting that changed it is known whether a reload takes it up, and each that none takes up is named", () => {
  const taken: string[] = [];
  for (const path of settings) {
    const named = needsRestart(usual, changed(path));
    if (named.length === 0) taken.push(path.join("."));
    else expect(named).toEqual([path.join(".")]);
  }
  const below = (setting: string) =>
    reloadable.find((one) => `${setting}.`.startsWith(`${one.replace("*", setting.split(".")[0] ?? "")}.`));
  expect(taken.filter((setting) => below(setting) === undefined)).toEqual([]);
  // None of the list is a setting that is not there.
  expect(new Set(taken.map(below))).toEqual(new Set(reloadable));
  expect(needsRestart(usual, usual)).toEqual([]);
});

it("what a service reads that is not started is nobody's", () => {
  const own = processSettings.parse({ services: ["gateway"] });
  expect(needsRestart(own, changed(["scheduler", "server", "port"], own))).toEqual([]);
  expect(needsRestart(own, changed(["gateway", "server", "port"], own))).toEqual(["gateway.server.port"]);
});

it("of any file that a configuration names a change is taken up or told: by its setting, where it is read at a start alone", async () => {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-files-"));
  try {
    const file = (name: string) => join(dir, name);
    const server = { tls_cert: file("cert"), tls_key: file("key") };
    const source = { kind: "s3", endpoint: "https://s3.example", bucket: "b", access_key: "a" };
    const destination = { name: "west", tenants: ["acme"], endpoint: "https://s3.example", access_key: "a" };
    const vault = { kind: "http", address: "https://vault.example", ca_file: file("vault-ca") };
    const config = processSettings.parse({
      services: ["gateway", "governance", "storage"],
      gateway: { server, vault: { ...vault, approle: { role_id: "r", secret_id_file: file("id") } } },
      governance: {
        sources: { lake: { ...source, secret_key_file: file("lake") } },
        policy_files: [file("policy")],
      },
      scheduler: { server },
      storage: {
        replication: { destinations: [{ ...destination, secret_key_file: file("west") }] },
        vault: { ...vault, cert: { cert_file: file("login-cert"), key_file: file("login-key") } },
      },
    });
    const files = namedFiles(processSettings, config);
    expect(files.length).toBeGreaterThan(10);
    for (const { path } of files) await writeFile(path, "before");
    const before = await filesHeld(config);
    expect(filesChanged(before, await filesHeld(config))).toEqual([]);
    // Said where the setting is declared, of what logins at a vault, scans and copies of buckets read again each time.
    expect(files.filter(({ read }) => read === "at each use").map(({ setting }) => setting)).toEqual([
      "gateway.vault.approle.secret_id_file",
      "governance.sources.lake.secret_key_file",
      "storage.replication.destinations.0.secret_key_file",
    ]);
    const told: string[] = [];
    for (const { path } of files) {
      await writeFile(path, "after");
      told.push(...filesChanged(before, await filesHeld(config)));
      await writeFile(path, "before");
    }
    expect([...new Set(told)].sort()).toEqual([
      "gateway.vault.ca_file",
      "storage.vault.ca_file",
      "storage.vault.cert.cert_file",
      "storage.vault.cert.key_file",
    ]);
    await rm(file("login-key"));
    expect(filesChanged(before, await filesHeld(config))).toEqual(["storage.vault.cert.key_file"]);
  } finally {
    await rm(dir, { recursive: true });
  }
});
