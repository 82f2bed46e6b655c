/** The unit of ops/systemd, started by a systemd of its own as docs/operating.md has it. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ROOT } from "../fixture-tree.ts";

/** Where control groups of version 2 are; undefined and said so where nothing is built, this machine has no systemd or we no right to start one. */
function ableToBoot(): string | undefined {
  const groups = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].find((path) => existsSync(join(path, "cgroup.controllers")));
  const able =
    process.getuid?.() === 0 &&
    groups !== undefined &&
    existsSync(join(ROOT, "packages/cli/dist/main.js")) &&
    existsSync("/lib/systemd/systemd") &&
    /\boverlay\b/.test(readFileSync("/proc/filesystems", "utf8")) &&
    spawnSync("unshare", ["--pid", "--fork", "--mount", "--net", "--cgroup", "true"]).status === 0;
  if (able) return groups;
  process.stderr.write("no systemd can be started here (root, unshare, overlay, npm run build): the unit is not tried\n");
  return undefined;
}

const groups = ableToBoot();
describe.skipIf(groups === undefined)("the unit, started by systemd", () => {
  let systemd: ChildProcess | undefined;
  let group = "";
  let pid = "";

  /** A command as root beside that systemd. */
  const inside = (command: string) => {
    const args = ["--target", pid, "--pid", "--mount", "--uts", "--ipc", "--net", "--cgroup", "sh", "-c", command];
    const { status, stdout, stderr } = spawnSync("nsenter", args, { encoding: "utf8" });
    return { status, said: `${stdout}${stderr}`.trim() };
  };
  const property = (name: string) => inside(`systemctl show -p ${name} --value seneschal`).said;
  const becomes = (name: string, value: string) =>
    vi.waitUntil(() => property(name) === value, { timeout: 120_000, interval: 200 });
  const probe = (path: string) =>
    inside(
      `cd /var/lib/seneschal/acme && curl -s --cacert ca.pem --cert admin.pem --key admin-key.pem https://localhost:8443${path}`,
    ).said;

  beforeAll(async () => {
    group = mkdtempSync(join(groups ?? "", "seneschal-unit-"));
    systemd = spawn(join(import.meta.dirname, "systemd-root.sh"), [group, ROOT, process.execPath], { stdio: "inherit" });
    const children = `/proc/${systemd.pid}/task/${systemd.pid}/children`;
    const booted = (): boolean => {
      pid = readFileSync(children, "utf8").trim();
      return pid !== "" && /^(?:running|degraded)$/.test(inside("systemctl is-system-running").said);
    };
    await vi.waitUntil(booted, { timeout: 100_000, interval: 200 });
    const made = inside(`
      set -e
      systemd-sysusers
      chown root:seneschal /etc/seneschal/seneschal.yaml
      chmod 640 /etc/seneschal/seneschal.yaml
      install -d -m 700 -o seneschal -g seneschal /var/lib/seneschal
      cd /var/lib/seneschal
      runuser -u seneschal -- seneschal init --data /var/lib/seneschal
      runuser -u seneschal -- seneschal bootstrap --org acme --email ada@acme.example --server-name localhost --out /var/lib/seneschal/acme -c /etc/seneschal/seneschal.yaml
    `);
    expect(made.status, made.said).toBe(0);
  });

  afterAll(async () => {
    // With the first process of a tree the whole tree ends.
    const ended = new Promise((resolve) => systemd?.once("exit", resolve));
    systemd?.kill("SIGKILL");
    await ended;
    const removed = () => spawnSync("find", [group, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+"]).status === 0;
    await vi.waitUntil(removed, { timeout: 60_000, interval: 100 });
  });

  test("serves when `systemctl start` comes back, as a user without rights", () => {
    expect(inside("systemctl start seneschal")).toEqual({ status: 0, said: "" });
    expect(probe("/ready")).toBe('{"status":"ready"}');
    const status = inside(`cat /proc/${property("MainPID")}/status`).said;
    for (const line of [/^CapEff:\t0+$/m, /^CapBnd:\t0+$/m, /^NoNewPrivs:\t1$/m, /^Seccomp:\t2$/m]) expect(status).toMatch(line);
    expect(status).not.toMatch(/^Uid:\t0\b/m);
  });

  test("takes its files in anew with `systemctl reload`, in the same process", async () => {
    const before = property("MainPID");
    expect(inside("systemctl reload seneschal")).toEqual({ status: 0, said: "" });
    await vi.waitUntil(() => /"message":"reloaded"/.test(inside("journalctl -u seneschal -o cat").said), { timeout: 60_000 });
    expect([property("MainPID"), probe("/ready")]).toEqual([before, '{"status":"ready"}']);
  });

  test("is started again when it is killed", async () => {
    const before = property("MainPID");
    inside(`kill -9 ${before}`);
    await becomes("NRestarts", "1");
    await becomes("ActiveState", "active");
    expect([property("MainPID") === before, probe("/ready")]).toEqual([false, '{"status":"ready"}']);
  });

  test("ends when it is told to, within its time and without being killed", () => {
    expect(inside("systemctl stop seneschal")).toEqual({ status: 0, said: "" });
    expect([property("ActiveState"), property("Result"), property("ExecMainStatus")]).toEqual(["inactive", "success", "0"]);
  });

  test("with a configuration that is wrong, the start fails, says why, and is not tried again", () => {
    inside("echo 'nonsense: 1' >> /etc/seneschal/seneschal.yaml");
    expect(inside("systemctl start seneschal").status).toBe(1);
    expect([property("ActiveState"), property("NRestarts"), property("ExecMainStatus")]).toEqual(["failed", "0", "2"]);
    expect(inside("journalctl -u seneschal -o cat -n 20").said).toContain("nonsense: unknown setting");
  });
});
