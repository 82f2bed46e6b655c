/**
 * Runs Ceph's s3-tests, unmodified, against a node of this checkout, and prints a tally by what the tests are about. A test of the
 * floor, `tools/s3-tests-floor.txt`, that ran and did not pass is named, and the exit is 1. Needs python3 and a checkout of the suite:
 *
 * `node --import ./tools/run-source.mjs --conditions=@seneschal/source tools/s3-tests.ts DIRECTORY [pytest arguments]`
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expireVersions } from "../packages/app/src/storage/jobs/expire-versions.ts";
import { operator } from "../packages/app/test/storage/rig.ts";
import { openS3Rig } from "../packages/app/test/storage/s3-rig.ts";

/** Groups by a test's name; the first that fits. */
const groups: readonly (readonly [string, RegExp])[] = [
  ["versioning", /version/],
  ["object lock", /object_lock|legal_hold|retention/],
  ["bucket logging", /logging/],
  ["lifecycle", /lifecycle/],
  ["encryption", /encrypt|sse|kms/],
  ["presigned POST", /post_object/],
  ["bucket policy", /policy|public_access|block_public/],
  ["ACL, anonymous, ownership", /acl|anon|ownership|grant|raw_/],
  ["tagging", /tag/],
  ["CORS", /cors/],
  ["SigV2", /_aws2/],
  ["checksums", /checksum|cksum/],
  ["GetObjectAttributes", /attributes/],
  ["conditional requests", /if_match|if_none|ifmatch|ifnone|condition/],
  ["core", /./],
];

const [directory, ...more] = process.argv.slice(2);
if (directory === undefined || !existsSync(join(directory, "s3tests"))) {
  console.error("usage: tools/s3-tests.ts DIRECTORY [pytest arguments], where DIRECTORY holds s3tests/");
  process.exit(2);
}
const venv = resolve(".peers/s3-tests");
if (!existsSync(join(venv, "bin/pytest"))) {
  const made = spawnSync("python3", ["-m", "venv", venv], { stdio: "inherit" }).status;
  const pip = [
    join(venv, "bin/pip"),
    "install",
    "-q",
    "--disable-pip-version-check",
    "-r",
    join(directory, "requirements.txt"),
  ] as const;
  if (made !== 0 || spawnSync(pip[0], pip.slice(1), { stdio: "inherit" }).status !== 0) process.exit(3);
}

/** What the suite calls a day of a lifecycle, seconds. */
const day = 2;
const work = await mkdtemp(join(tmpdir(), "s3-tests-"));
const tenants = ["alpha", "beta", "gamma", "delta"];
// The suite holds access logs to be delivered within five and a half seconds.
const s3 = await openS3Rig({
  // Policies of the suite name one more, which never asks.
  tenants: [...tenants, "s3tenant1"],
  capacityBytes: 4 * 2 ** 30,
  gateway: { signatureV2: true, accessLogDelayMs: 4000 },
});
// Signatures are judged by the time at which they are made, and what the suite has waited for to end has ended.
const ticking = setInterval(() => s3.rig.clock.set(Date.now() + 50), 20);
let expiring: Promise<unknown> = Promise.resolve();
const lifecycle = setInterval(() => {
  expiring = expiring.then(() => expireVersions(s3.rig.node.parts, day * 1000)).catch(() => undefined);
}, 500);
const logging = setInterval(() => void s3.gateway.deliverAccessLogs().catch(() => undefined), 250);
try {
  const { port } = s3.gateway;
  const users = await Promise.all(
    tenants.map(async (tenant) => ({ tenant, ...(await s3.credentials.create(tenant, operator)) })),
  );
  const section = (name: string, user: (typeof users)[number] | undefined) =>
    `[${name}]\ndisplay_name = ${user?.tenant}\nuser_id = ${user?.tenant}\nemail = ${user?.tenant}@example.org\napi_name = default\naccess_key = ${user?.access_key}\nsecret_key = ${user?.secret_key}\n`;
  const [main, alt, tenant, iam] = users;
  const conf = join(work, "s3tests.conf");
  await writeFile(
    conf,
    [
      `[DEFAULT]\nhost = 127.0.0.1\nport = ${port}\nis_secure = False\nssl_verify = False\n`,
      "[fixtures]\nbucket prefix = s3-tests-{random}-\niam name prefix = s3-tests-\niam path prefix = /s3-tests/\n",
      // A tenant has one key, which is called as the tenant is.
      `${section("s3 main", main)}kms_keyid = ${main?.tenant}\nkms_keyid2 = ${main?.tenant}\nlc_debug_interval = ${day}\n`,
      section("s3 alt", alt),
      `${section("s3 tenant", tenant)}tenant = gamma\n`,
      section("iam", iam),
      section("iam root", iam),
      section("iam alt root", iam),
    ].join("\n"),
  );
  const report = join(work, "report.xml");
  const suites = ["s3tests/functional/test_s3.py", "s3tests/functional/test_headers.py"];
  const args = [...suites, "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", `--junitxml=${report}`, ...more];
  const { AWS_CA_BUNDLE: _bundle, ...env } = process.env;
  const pytest = spawn(join(venv, "bin/pytest"), args, {
    cwd: directory,
    env: { ...env, S3TEST_CONF: conf, PYTHONDONTWRITEBYTECODE: "1" },
    stdio: ["ignore", process.env["S3_TESTS_LIST"] === undefined ? "ignore" : "inherit", "inherit"],
  });
  await new Promise((done) => pytest.once("exit", done));
  const floor = new Set(
    readFileSync(new URL("./s3-tests-floor.txt", import.meta.url), "utf8")
      .trim()
      .split("\n"),
  );
  const fallen: string[] = [];
  const tally = new Map(groups.map(([name]) => [name, { passed: 0, failed: 0, skipped: 0 }]));
  for (const [, name = "", rest = ""] of readFileSync(report, "utf8").matchAll(
    /<testcase [^>]*? name="([^"]+)"[^>]*?(\/>|>[\s\S]*?<\/testcase>)/g,
  )) {
    const row = tally.get(groups.find(([, pattern]) => pattern.test(name))?.[0] ?? "core");
    const outcome = /<(failure|error)/.test(rest) ? "failed" : /<skipped/.test(rest) ? "skipped" : "passed";
    if (row !== undefined) row[outcome] += 1;
    if (outcome !== "passed" && floor.has(name)) fallen.push(name);
    if (process.env["S3_TESTS_LIST"] !== undefined) console.log(`${outcome}\t${name}`);
  }
  const rows = [...tally].filter(([, row]) => row.passed + row.failed + row.skipped > 0);
  const sum = (kind: "passed" | "failed" | "skipped") => rows.reduce((n, [, row]) => n + row[kind], 0);
  for (const [name, { passed, failed, skipped }] of [
    ...rows,
    ["all", { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") }] as const,
  ])
    console.log(
      `${name.padEnd(28)}${String(passed).padStart(5)} passed${String(failed).padStart(5)} failed${String(skipped).padStart(5)} skipped`,
    );
  for (const name of fallen) console.log(`below the floor: ${name}`);
  if (fallen.length > 0) process.exitCode = 1;
} finally {
  clearInterval(lifecycle);
  clearInterval(logging);
  await expiring;
  clearInterval(ticking);
  await s3.dispose();
  await rm(work, { recursive: true, force: true });
}
