import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY } from "@seneschal/governance";
import { expect, test } from "vitest";
import { redactParquet } from "../../src/redact-files/index.ts";

const python = new URL("../../../../.peers/tables/bin/python", import.meta.url).pathname;
const script = new URL("tables/nested_parquet.py", import.meta.url).pathname;

test.skipIf(!existsSync(python))(
  "pyarrow reads what is left of a nested file of its own, as deep and as empty as it wrote it",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "seneschal-parquet-"));
    try {
      const [given, hidden] = [join(directory, "given.parquet"), join(directory, "hidden.parquet")];
      execFileSync(python, [script, "write", given]);
      const file = readFileSync(given);
      const access = {
        byteLength: file.length,
        read: async (start: number, end: number) => new Uint8Array(file.subarray(start, end)),
      };
      const options = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] };
      writeFileSync(hidden, (await redactParquet(access, options)).bytes);
      const read = (path: string) => JSON.parse(execFileSync(python, [script, "read", path], { encoding: "utf8" }));
      const [before, after] = [read(given), read(hidden)];
      expect(after.rows).toEqual([
        {
          person: { ssn: "<US_SSN>", contact: { email: "<EMAIL_ADDRESS>" }, day: null },
          notes: ["write to <EMAIL_ADDRESS>", null, ""],
          cards: [{ password: "<PASSWORD>", size: 1 }, null],
          tags: [
            ["mail", "<EMAIL_ADDRESS>"],
            ["to", null],
          ],
          deep: [[1, null], [], null],
        },
        ...before.rows.slice(1),
      ]);
      expect(after.schema).toEqual({ ...before.schema, person: before.schema.person.replace("ssn: int32", "ssn: string") });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
