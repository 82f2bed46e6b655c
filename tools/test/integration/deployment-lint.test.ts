/** The files below ops/, each by the tool of its own kind: what is installed is used, what is missing is named. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ROOT } from "../fixture-tree.ts";

const ops = join(ROOT, "ops");
const dir = mkdtempSync(join(tmpdir(), "seneschal-deployment-"));
afterAll(() => rmSync(dir, { recursive: true }));

const run = (command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", env: { ...process.env, ...env } });
  return { status, said: `${stdout}${stderr}`, stdout };
};

/** Where a tool is, among the peers or on the path; undefined and said so when it is nowhere. */
function tool(name: string, probe: readonly string[] = ["--version"]): string | undefined {
  const places = [join(ROOT, ".peers/lint/bin", name), join(ROOT, ".peers/bin", name)].filter((path) => existsSync(path));
  const found = [...places, name].find((path) => spawnSync(path, probe).status === 0);
  if (found === undefined) process.stderr.write(`${name} is not installed: what it would read below ops/ is not linted\n`);
  return found;
}

const hadolint = tool("hadolint");
test.skipIf(hadolint === undefined)("hadolint has nothing against the Dockerfile", () => {
  expect(run(hadolint ?? "", [join(ops, "container/Dockerfile")])).toMatchObject({ status: 0, said: "" });
});

const docker = tool("docker", ["compose", "version"]);
test.skipIf(docker === undefined)("docker compose reads the composition", () => {
  const env = { POSTGRES_PASSWORD: "p", VAULT_TOKEN: "t" };
  expect(run(docker ?? "", ["compose", "-f", join(ops, "compose/compose.yaml"), "config", "--quiet"], env)).toMatchObject({
    status: 0,
    said: "",
  });
});

const systemd = tool("systemd-analyze");
describe.skipIf(systemd === undefined)("the unit", () => {
  /** With a command that this machine has. */
  const unit = join(dir, "seneschal.service");
  writeFileSync(
    unit,
    readFileSync(join(ops, "systemd/seneschal.service"), "utf8").replaceAll("/usr/bin/seneschal", process.execPath),
  );

  test("is one that systemd reads without a word", () => {
    expect(run(systemd ?? "", ["verify", "--man=no", unit])).toMatchObject({ status: 0, said: "" });
  });

  test("is exposed to little: 2.0 of 10 at most", () => {
    expect(run(systemd ?? "", ["security", "--offline=yes", "--threshold=20", unit]).status).toBe(0);
  });
});

const helm = tool("helm", ["version"]);
const validate = tool("kubernetes-validate");
describe.skipIf(helm === undefined)("the chart", () => {
  const chart = join(ops, "helm/seneschal");
  const everything = ["--set", "serviceMonitor.enabled=true,backupClaim=backups,serviceMonitor.labels.team=keys"];
  const render = (...args: string[]) => run(helm ?? "", ["template", "keys", chart, "--kube-version", "1.31.0", ...args]);

  test("helm lint has nothing against it", () => {
    expect(run(helm ?? "", ["lint", "--strict", chart]).said).toContain("0 chart(s) failed");
  });

  test("has a workload with probes, a disruption budget, a network policy and, when asked for, a service monitor", () => {
    const kinds = (text: string) => [...text.matchAll(/^kind: (\w+)/gm)].map(([, kind]) => kind).sort();
    const plain = ["ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount"];
    expect(kinds(render().stdout)).toEqual(plain);
    expect(kinds(render(...everything).stdout)).toEqual([...plain, "ServiceMonitor"].sort());
    expect(kinds(render("--set", "replicas=1,networkPolicy.enabled=false").stdout)).toEqual(
      plain.filter((kind) => kind !== "NetworkPolicy" && kind !== "PodDisruptionBudget"),
    );
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) expect(render().stdout).toContain(`${probe}:`);
  });

  test.skipIf(validate === undefined)("every object fits the schemas of Kubernetes", () => {
    // Objects of other makers have no schema there.
    const objects = render("--set", "backupClaim=backups").stdout;
    const file = join(dir, "chart.yaml");
    writeFileSync(file, objects);
    const { status, said } = run(validate ?? "", ["--strict", "-k", "1.31", file]);
    expect({ status, passed: said.match(/ passed for resource /g)?.length }).toEqual({ status: 0, passed: 6 });
  });
});
