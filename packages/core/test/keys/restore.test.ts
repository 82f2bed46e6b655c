import fc from "fast-check";
import { expect, test } from "vitest";
import { storedDocuments } from "../../src/arbitraries/index.ts";
import { restoreDocument, restoreRules } from "../../src/keys/index.ts";

test("time goes on: a restore brings back nothing that ended, no lower version, no earlier revision, and loses no key version", () => {
  fc.assert(
    fc.property(fc.constantFrom(...restoreRules), storedDocuments, storedDocuments, (rule, saved, current) => {
      const next = restoreDocument(rule, saved, current, "acme");
      const after = next ?? current;
      const ended = current["status"] === "revoked" || current["enrollment_status"] === "disabled" || current["active"] === false;
      if (rule === "replace") expect(next).toBe(ended ? undefined : saved);
      if (rule === "keep") expect(next).toBeUndefined();
      if (rule === "organization") expect(next === undefined).toBe(current["crk_id"] !== null);
      if (rule === "workspace" || rule === "participation") expect(next === undefined).toBe(saved["org_id"] !== "acme");
      if (rule === "workspace" && next !== undefined) {
        expect(Number(after["dek_version"])).toBe(Math.max(Number(saved["dek_version"]), Number(current["dek_version"])));
        // The age of a key is that of the key in force.
        const owner = Number(current["dek_version"]) > Number(saved["dek_version"]) ? current : saved;
        expect(after["dek_created_at"]).toBe(owner["dek_created_at"]);
        expect(Number(after["revision"])).toBeGreaterThan(Math.max(Number(saved["revision"]), Number(current["revision"])));
      }
      if (rule === "participation" && next !== undefined) {
        const { deks } = after as { readonly deks: Readonly<Record<string, string>> };
        const [old, there] = [saved, current].map((doc) => doc["deks"] as Readonly<Record<string, string>>);
        expect(Object.keys(deks).sort()).toEqual([...new Set([...Object.keys(old ?? {}), ...Object.keys(there ?? {})])].sort());
        for (const [version, text] of Object.entries(there ?? {})) expect(deks[version]).toBe(text);
      }
      if (rule === "policy")
        expect(Number(after["version"])).toBeGreaterThan(Math.max(Number(saved["version"]), Number(current["version"])));
    }),
  );
});

test("a restore that is made twice comes to the same, but for what counts its revisions", () => {
  fc.assert(
    fc.property(fc.constantFrom(...restoreRules), storedDocuments, storedDocuments, (rule, saved, current) => {
      const counted = ({ revision: _, version: __, ...rest }: Readonly<Record<string, unknown>>) => rest;
      const once = restoreDocument(rule, saved, current, "acme") ?? current;
      const twice = restoreDocument(rule, saved, once, "acme") ?? once;
      // What was put in place may say itself that it ended: then it stays.
      expect(counted(twice)).toEqual(counted(once));
    }),
  );
});
