import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { serveS3 } from "@seneschal/server-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as z from "zod";
import { gatewayService } from "../../src/gateway/index.ts";
import { governanceService } from "../../src/governance/index.ts";
import { buildService } from "../../src/index.ts";
import type { ServiceDefinition } from "../../src/platform/service.ts";
import { schedulerService } from "../../src/scheduler/index.ts";
import { storageService } from "../../src/storage/index.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "settings-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const services: readonly (readonly [string, () => ServiceDefinition<z.ZodObject>])[] = [
  ["gateway", () => gatewayService(dir) as never],
  ["governance", () => governanceService(dir) as never],
  ["scheduler", () => schedulerService() as never],
  ["storage", () => storageService(dir, { serveS3 }) as never],
];

describe.each(services)("settings of the %s that an application gives", (_, definition) => {
  const refused = (settings: Record<string, unknown>): Promise<unknown> =>
    buildService(definition(), settings, { log: openLogger({ level: "silent" }) }).then(
      () => "built",
      (error: unknown) => error,
    );

  test("are refused by the name of each that is wrong or unknown, all at once, with no value repeated and nothing opened", async () => {
    const error = await refused({ rate_limit: 7, mispelt: "canary", database: { kind: "canary", mispelt: 1 } });
    expect(error).toMatchObject({
      name: "CodedError",
      code: "config_invalid",
      details: { problems: expect.arrayContaining([expect.stringMatching(/^rate_limit: /), "mispelt: unknown setting"]) },
    });
    expect(`${error} ${JSON.stringify(error)}`).not.toContain("canary");
    expect(await readdir(dir)).toEqual([]);
  });

  test("that are no object are no settings", async () => {
    for (const wrong of [undefined, null, "text", []])
      expect(await refused(wrong as never), String(wrong)).toMatchObject({ message: expect.stringMatching(/settings/) });
  });
});
