import { execFile, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { openS3Rig } from "../storage/s3-rig.ts";

/**
 * The S3 compatibility suite of versitygw 1.8.0 (Apache-2.0), which `tools/install-peers.sh` builds. Only
 * its operations that this gateway offers; the rest is about IAM and ACLs.
 */
const own = fileURLToPath(new URL("../../../../.peers/bin/versitygw", import.meta.url));
const versitygw = process.env["VERSITYGW"] ?? (existsSync(own) ? own : "versitygw");
const { AWS_CA_BUNDLE: _bundle, ...env } = process.env;
/** Some cases call themselves as `./versitygw`. */
const cwd = dirname(versitygw);
const help = spawnSync(versitygw, ["test", "--help"], { encoding: "utf8", env });

const groups =
  "AbortMultipartUpload|Authentication|CompleteMultipartUpload|CopyObject|CreateBucket|CreateMultipartUpload|DeleteBucket|DeleteObject|DeleteObjects|GetBucketLocation|GetObject|HeadBucket|HeadObject|ListBuckets|ListMultipartUploads|ListObjects|ListObjectsV2|ListParts|PresignedAuth|PutObject|SignedStreamingPayload|SignedStreamingPayloadTrailer|UnsignedStreamingPayloadTrailer|UploadPart|UploadPartCopy";

/** Of 405. */
const passing = 330;

interface Outcome {
  readonly name: string;
  readonly kind: "passed" | "wording" | "not offered" | "failed";
  readonly why: string;
}

/** Every case gets a gateway of its own: their buckets all have the same name. */
async function judge(name: string): Promise<Outcome> {
  const s3 = await openS3Rig({ capacityBytes: 256 << 20 });
  try {
    const args = ["test", "-a", s3.keys.access_key, "-s", s3.keys.secret_key, "-e", s3.gateway.url, name];
    const ran = await promisify(execFile)(versitygw, args, { env, cwd, timeout: 300_000 }).catch(
      (e: { stdout: string; stderr: string }) => e,
    );
    const lines = stripVTControlCharacters(`${ran.stdout}\n${ran.stderr}`).split("\n");
    const why = lines.find((l) => l.startsWith("FAIL"))?.slice(5, 300) ?? "";
    if (lines.some((l) => l.startsWith("PASS")) && why === "") return { name, kind: "passed", why };
    if (/expected error message to be/.test(why)) return { name, kind: "wording", why };
    return { name, kind: /NotImplemented|501|exit status 1|iam/i.test(why) ? "not offered" : "failed", why };
  } finally {
    await s3.dispose();
  }
}

describe.skipIf(help.status !== 0)("the S3 suite of versitygw (skipped: not installed)", () => {
  test("passes at least as many cases as docs/status.md says", async () => {
    const names = [...new Set(help.stdout.match(/^ {3}\w+_\w+/gm)?.map((n) => n.trim()))];
    const wanted = names.filter((n) => new RegExp(`^(${groups})_`).test(n));
    const outcomes: Outcome[] = [];
    const lane = async () => {
      for (let name = wanted.shift(); name !== undefined; name = wanted.shift()) outcomes.push(await judge(name));
    };
    await Promise.all([lane(), lane(), lane()]);
    // Clients of the suite have time-outs of their own, which a busy machine meets: who heard no answer asks again, alone.
    for (const [i, { name, kind, why }] of outcomes.entries())
      if (kind === "failed" && (why === "" || why.includes("StatusCode: 0"))) outcomes[i] = await judge(name);
    const count = (kind: Outcome["kind"]) => outcomes.filter((o) => o.kind === kind).length;
    const report = process.env["S3_SUITE_REPORT"];
    if (report !== undefined)
      writeFileSync(
        report,
        outcomes
          .map((o) => `${o.kind}\t${o.name}\t${o.why}`)
          .sort()
          .join("\n"),
      );
    console.log(
      `${outcomes.length} cases: ${count("passed")} passed, ${count("wording")} differ in the wording of an error, ${count("not offered")} ask for what is not offered, ${count("failed")} differ`,
    );
    expect(count("passed")).toBeGreaterThanOrEqual(passing);
  }, 3_600_000);
});
