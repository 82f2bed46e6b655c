import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { startVaultEmulator } from "@seneschal/adapters/vault/emulator";
import { expect, it } from "vitest";
import { etcdInstalled } from "../../../../tools/etcd-cluster.ts";
import { logIn, startProvider } from "../../../../tools/openid-provider.ts";
import { ownAddress } from "../../../../tools/own-address.ts";
import { postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { run } from "../../src/run.ts";
import { scriptedHost } from "../scripted-host.ts";
import { endProcess, startServe } from "./serve-process.ts";

const page = await readFile(fileURLToPath(new URL("../../../../docs/operating.md", import.meta.url)), "utf8");
const section = page.split("### From empty machines to the whole\n")[1]?.split("\n### ")[0] ?? "";
const isInstalled =
  postgresBinaries() !== undefined &&
  etcdInstalled() &&
  ["curl", "openssl"].every((name) => spawnSync(name, ["--version"]).error === undefined);

it.skipIf(!isInstalled)(
  "by the commands of docs/operating.md empty machines come to two gateways and schedulers on PostgreSQL, etcd, a vault and a provider, which answer for the same data",
  async () => {
    const blocks = [...section.matchAll(/```(?:sh|yaml)\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
    expect(blocks).toHaveLength(9);
    const [database, vaultSetup, certificates, member, yaml, environment, first, second, checks] = blocks as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const root = await mkdtemp(join(tmpdir(), "seneschal-whole-"));
    const shell = async (text: string, env: Record<string, string> = {}): Promise<void> => {
      // Not at once: what it calls may be in this process.
      await promisify(execFile)("sh", ["-ec", text], { cwd: root, env: { ...process.env, ...env } });
    };
    const ends: (() => unknown)[] = [() => rm(root, { recursive: true, force: true })];
    const children = new Set<ChildProcess>();
    ends.push(() => Promise.all([...children].map((child) => endProcess(child, "SIGKILL"))));
    try {
      // Machines are addresses of the loopback, and each has directories of its own below one of ours.
      const [one, two, ...members] = (await Promise.all(Array.from({ length: 5 }, ownAddress))).map(({ host }) => host);
      const postgres = await startPostgres();
      ends.push(() => postgres.destroy());
      const provider = await startProvider(["auditor", "tenant-admin"]);
      ends.push(() => provider.close());
      await shell(
        `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=vault -addext subjectAltName=IP:127.0.0.1 -keyout vault-ca.key -out vault-ca.pem`,
      );
      const file = (name: string): Promise<string> => readFile(join(root, name), "utf8");
      const tls = { key: await file("vault-ca.key"), cert: await file("vault-ca.pem") };
      const vault = await startVaultEmulator({ crypto: nodeCrypto, random: systemRandom, now: Date.now, tls });
      ends.push(() => vault.close());
      const places: readonly (readonly [string, string])[] = [
        ["192.0.2.11", one as string],
        ["192.0.2.12", two as string],
        ["192.0.2.20:5432", `${postgres.address.host}:${postgres.address.port}`],
        ...members.map((host, at) => [`192.0.2.2${at + 1}`, host] as const),
        ["https://192.0.2.30:8200", vault.address],
        ["https://id.example.org", provider.issuer],
      ];
      const here = (text: string, machine = ""): string =>
        places
          .reduce((done, [from, to]) => done.replaceAll(from, to), text)
          .replace(/\/(?:etc|var)\/[\w./-]*/g, (path) => `${root}${machine}${path}`)
          .replaceAll("/root/acme", `${root}/acme`);

      postgres.shell(database);
      // The emulator has the engine from its start, where a new vault has none.
      await shell(
        `curl -fsS --cacert vault-ca.pem -X DELETE -H "X-Vault-Token: ${vault.rootToken}" ${vault.address}/v1/sys/mounts/transit`,
      );
      await shell(here(vaultSetup), { VAULT_TOKEN: vault.rootToken });
      // Members see each other come from the loopback's first address, and hold certificates to where they see them come from.
      await shell(here(certificates.replace(/IP:[\d.]+/g, "$&,IP:127.0.0.1")));
      for (const at of [1, 2, 3]) {
        const text = here(member.replace("NAME=etcd-1 HOST=192.0.2.21", `NAME=etcd-${at} HOST=192.0.2.2${at}`), `/etcd-${at}`);
        await mkdir(join(root, `etcd-${at}/var/lib`), { recursive: true });
        children.add(spawn("sh", ["-ec", text], { cwd: root, stdio: "ignore" }));
      }
      const url = (line: string): string => here(/_URL=(\S+)/.exec(line)?.[1] ?? "");
      expect(environment).toContain("export SENESCHAL_SCHEDULER_SERVER_INSTANCE_ID=$(hostname)\n");
      const machines = [one, two].map((host, at) => ({
        host: host as string,
        at: `/machine-${at + 1}`,
        env: {
          SENESCHAL_GATEWAY_DATABASE_URL: url(environment),
          SENESCHAL_SCHEDULER_SERVER_INSTANCE_ID: `${hostname()}-${at + 1}`,
        },
      }));
      for (const { at } of machines) {
        await mkdir(join(root, at, "etc/seneschal"), { recursive: true });
        for (const name of ["vault-ca.pem", "vault-secret-id", "etcd-ca.pem", "etcd.pem", "etcd.key"])
          await cp(join(root, name), join(root, at, "etc/seneschal", name));
        await writeFile(join(root, at, "etc/seneschal/seneschal.yaml"), here(yaml, at));
      }
      const type = async (commands: string, which: 0 | 1): Promise<void> => {
        const { at, env, host } = machines[which] as (typeof machines)[number];
        // Both are one machine here, and the provider has no certificate.
        const set = [
          `gateway.server.host=${host}`,
          `scheduler.server.host=${host}`,
          "auth.oidc.allow_http=true",
          "log.level=warn",
        ];
        for (const line of here(commands, at).trim().split("\n")) {
          const [program, ...args] = line.split(" ");
          expect(program).toBe("seneschal");
          const own = line.includes(" -c ") ? ["--set", ...set] : [];
          if (args[0] === "serve") await startServe([...args, ...own], { ...process.env, ...env }, children);
          else {
            const console = scriptedHost({ cwd: root, env });
            const code = await run([...args, ...own, "--json"], console);
            expect([line, code, code === 0 ? "" : console.lines.join() + console.errors.join()]).toEqual([line, 0, ""]);
          }
        }
      };
      await type(first, 0);
      for (const name of ["cert.pem", "key.pem"])
        await cp(join(root, "machine-1/etc/seneschal", name), join(root, "machine-2/etc/seneschal", name));
      await type(second, 1);
      await writeFile(join(root, "token"), await logIn(provider.issuer, "bob@acme", "openid"));
      await type(checks, 0);

      const show = async (args: string): Promise<Record<string, unknown>> => {
        const console = scriptedHost({ cwd: root });
        expect([await run([...args.split(" "), "--json"], console), console.errors]).toEqual([0, []]);
        return console.json();
      };
      const ada = `--ca ${root}/acme/ca.pem --cert ${root}/acme/admin.pem --key ${root}/acme/admin-key.pem`;
      const made = await show(`gateway create-workspace --name shared --url https://${one}:8443 ${ada}`);
      const read = await show(`gateway get-workspace ${made["id"]} --url https://${two}:8443 ${ada}`);
      expect(read["name"]).toBe("shared");
    } finally {
      for (const end of ends.reverse()) await end();
    }
  },
);
