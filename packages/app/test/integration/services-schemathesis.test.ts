import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openapi } from "@seneschal/contract";
import { governanceContract, governanceInfo } from "@seneschal/contract/governance";
import { schedulerContract, schedulerInfo } from "@seneschal/contract/scheduler";
import { storageContract, storageInfo } from "@seneschal/contract/storage";
import { serve } from "@seneschal/server-express";
import { describe, expect, it } from "vitest";
import { startRig } from "../governance/rig.ts";
import { tokenOf as schedulerToken, startScheduler } from "../scheduler/harness.ts";
import { startStorage, tokenOf as storageToken } from "../storage/harness.ts";
import { probe, schemathesis } from "./schemathesis.ts";

if (schemathesis === undefined) console.warn("no Schemathesis: governance, scheduler and storage are not probed by it");

describe.skipIf(schemathesis === undefined)(
  "an independent tester finds no 5xx, no undocumented status, no broken schema",
  () => {
    it.each(["admin", "reader", undefined])("in data governance, as %s", async (who) => {
      const rig = await startRig(serve, { settings: { rate_limit: { authenticated: { limit: 1_000_000 } } } });
      const document = openapi(governanceContract, { ...governanceInfo, version: "test" });
      const token = who === undefined ? {} : { token: `key-of-${who}` };
      const { clean, text } = await probe({ url: rig.service.url, document, ...token });
      await rig.stop();
      expect(clean, text).toBe(true);
    });

    it.each(["root", "ada", "agent-1", undefined] as const)("in the scheduler, as %s", async (who) => {
      const backups = mkdtempSync(join(tmpdir(), "schemathesis-backups-"));
      const harness = await startScheduler(serve, { storage: { backups } });
      const document = openapi(schedulerContract, { ...schedulerInfo, version: "test" });
      // Streams that end when the caller goes.
      const streams = Object.entries(schedulerContract).filter(
        ([, route]) => "produces" in route && /event-stream/.test(route.produces),
      );
      const token = who === undefined ? {} : { token: schedulerToken(who) };
      const without = streams.map(([id]) => id);
      const { clean, text } = await probe({ url: harness.service.url, document, without, ...token });
      await harness.stop();
      rmSync(backups, { recursive: true });
      expect(clean, text).toBe(true);
    });

    it.each(["root", "oncall", undefined] as const)("in the storage node, as %s", async (who) => {
      const harness = await startStorage(serve);
      const document = openapi(storageContract, { ...storageInfo, version: "test" });
      const token = who === undefined ? {} : { token: storageToken(who) };
      // The S3 destination of backups is not configured here, and in maintenance writes wait: 503, as documented.
      const without = ["startBackup", "listBackups", "restoreBackup", "setMaintenance"];
      const { clean, text } = await probe({ url: harness.service.url, document, without, ...token });
      await harness.stop();
      expect(clean, text).toBe(true);
    });
  },
);
