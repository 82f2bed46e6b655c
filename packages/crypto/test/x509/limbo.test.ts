import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { nobleCrypto } from "../../src/index.ts";
import {
  type Certificate,
  type ChainDecision,
  parseCertificate,
  parseRevocationList,
  verifyChain,
  verifyRevocationList,
} from "../../src/x509/index.ts";

const suite = new URL("../../../../../shared/suites/x509-limbo/limbo.json.gz", import.meta.url);
const table = new URL("../../../../docs/certificates.md", import.meta.url);

interface Case {
  readonly id: string;
  readonly validation_kind: "SERVER" | "CLIENT";
  readonly trusted_certs: readonly string[];
  readonly untrusted_intermediates: readonly string[];
  readonly peer_certificate: string;
  readonly validation_time: string | null;
  readonly expected_result: "SUCCESS" | "FAILURE";
  readonly crls: readonly string[];
}

/** A certificate that cannot be read cannot be part of a path. */
function readable(list: readonly string[]): readonly Certificate[] {
  return list.flatMap((pem) => {
    try {
      return [parseCertificate(pem)];
    } catch {
      return [];
    }
  });
}

/** As a program would: read everything, then judge the chain, with the lists that the case brings. */
function judge(test: Case): "SUCCESS" | "FAILURE" {
  const now = test.validation_time === null ? Date.UTC(2026, 0, 1) : Date.parse(test.validation_time);
  let decision: ChainDecision;
  try {
    const [roots, intermediates] = [readable(test.trusted_certs), readable(test.untrusted_intermediates)];
    const lists = test.crls.map((pem) => parseRevocationList(pem));
    const leaf = parseCertificate(test.peer_certificate);
    const all = [...roots, ...intermediates];
    decision = verifyChain(nobleCrypto, leaf, {
      roots,
      intermediates,
      now,
      purpose: test.validation_kind === "SERVER" ? "serverAuth" : "clientAuth",
      ...(lists.length > 0 && {
        isRevoked: (certificate) => {
          const of = lists.filter((list) => Buffer.from(list.issuerDer).equals(certificate.issuerDer));
          const signed = of.filter((list) => all.some((ca) => verifyRevocationList(nobleCrypto, list, ca)));
          if (signed.length === 0) throw new Error("revocation is not known");
          return signed.some((list) => list.entries.has(certificate.serialText));
        },
      }),
    });
  } catch {
    return "FAILURE";
  }
  return decision.valid ? "SUCCESS" : "FAILURE";
}

describe.skipIf(!existsSync(suite))("x509-limbo", () => {
  it("every case comes out as expected, or docs/certificates.md says why not", () => {
    const { testcases } = JSON.parse(gunzipSync(readFileSync(suite)).toString()) as { testcases: readonly Case[] };
    const rows = readFileSync(table, "utf8")
      .split("\n")
      .filter((line) => /^\| (?:accepted|refused) \|/.test(line));
    const explained = rows.flatMap((row) => {
      const [, outcome, , ids = ""] = row.split("|").map((cell) => cell.trim());
      return [...ids.matchAll(/`([^`]+)`/g)].map(([, id]) => `${id} ${outcome}`);
    });
    const differing = testcases
      .filter((test) => judge(test) !== test.expected_result)
      .map(({ id, expected_result }) => `${id} ${expected_result === "FAILURE" ? "accepted" : "refused"}`);
    expect(testcases.length).toBeGreaterThan(100);
    expect(differing.sort()).toEqual(explained.sort());
  });
});
