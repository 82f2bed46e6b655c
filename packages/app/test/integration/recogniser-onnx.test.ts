import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@seneschal/server-fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingForModels } from "../../../../tools/onnx-runtime.ts";
import { writeTinyModel } from "../../../../tools/tiny-model.ts";
import { checkConfig } from "../../src/compose/check-config.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { startRig } from "../governance/rig.ts";

if (missingForModels !== "") console.warn(`no ${missingForModels}: no model is run in this process`);

describe.skipIf(missingForModels !== "")("a model in threads of the service", () => {
  let dir = "";
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "onnx-service-"));
    await writeTinyModel(dir, { words: { Zork: "B-PER", "##blat": "I-PER" }, labels: ["O", "B-PER", "I-PER"] });
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  const settings = (more: object = {}) => ({
    kind: "onnx",
    directory: dir,
    entities: { PER: "PERSON" },
    threads: 1,
    timeout: "60s",
    ...more,
  });

  test("finds names, beside the serving thread, and its threads are counted", async () => {
    const rig = await startRig(serve, { settings: { classification: { recogniser: settings() } } });
    const text = "lunch with Zorkblat at noon";
    const { body } = await rig.call(undefined, "POST", "/api/v1/classify", { query: text });
    expect(body).toMatchObject({ tier: "CONFIDENTIAL", findings: [{ entity: "PERSON", start: 11, end: 19 }] });
    const rule = { entity: "PERSON", operator: "replace" };
    const redacted = await rig.call("admin", "POST", "/api/v1/redact", { text, format: "text", rules: [rule] });
    expect(redacted.body.text).toBe("lunch with <PERSON> at noon");
    expect((await rig.call(undefined, "GET", "/metrics")).body).toMatch(
      /^governance_workers_tasks_total\{pool="recogniser"\} [1-9]/m,
    );
    expect((await rig.call("admin", "GET", "/health")).body.components.recogniser.status).toBe("healthy");
    await rig.stop();
  });

  test("that cannot be used ends the start, and `config check` says so", async () => {
    for (const wrong of [{ directory: join(dir, "none") }, { entities: { LOC: "LOCATION" } }]) {
      const started = startRig(serve, { settings: { classification: { recogniser: settings(wrong) } } });
      await expect(started).rejects.toMatchObject({ code: "config_invalid", message: expect.stringContaining("recogniser") });
    }
    const findings = async (more: object) => {
      const governance = { classification: { recogniser: settings(more) } };
      const all = await checkConfig(processSettings.parse({ services: ["governance"], governance }), { now: 0 });
      return all.filter(({ setting }) => setting.includes("recogniser")).map(({ severity }) => severity);
    };
    expect([await findings({}), await findings({ directory: join(dir, "none") })]).toEqual([[], ["error"]]);
  });
});
