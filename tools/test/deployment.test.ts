/** What ops/ deploys starts: its settings are settings, its secrets have names that are read, and nothing runs with more than it needs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { checkConfig, processSettings } from "@seneschal/app";
import { loadConfig } from "@seneschal/app/platform";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { ROOT } from "./fixture-tree.ts";

const text = (file: string): string => readFileSync(join(ROOT, "ops", file), "utf8");
const compose = parse(text("compose/compose.yaml"), { merge: true });
const values = parse(text("helm/seneschal/values.yaml"));

/** Each configuration with the environment that comes with it. */
const configurations: Readonly<Record<string, { readonly text: string; readonly env: Readonly<Record<string, string>> }>> = {
  "compose/seneschal.yaml": { text: text("compose/seneschal.yaml"), env: compose.services.seneschal.environment },
  "systemd/seneschal.yaml": { text: text("systemd/seneschal.yaml"), env: {} },
  "haproxy/seneschal.yaml": {
    text: text("haproxy/seneschal.yaml"),
    env: { SENESCHAL_GATEWAY_DATABASE_URL: "postgres://seneschal@postgres/seneschal" },
  },
  "helm/seneschal/values.yaml": {
    text: stringify(values.config),
    env: { SENESCHAL_GATEWAY_DATABASE_URL: "postgres://seneschal@postgres/seneschal" },
  },
};

describe.each(Object.entries(configurations))("ops/%s", (name, { text, env }) => {
  test("is a configuration that config check has nothing against but files of the machine that it is for", async () => {
    const config = loadConfig(processSettings, { file: { name, text }, env });
    const findings = await checkConfig(config, { now: Date.UTC(2026, 0, 1), reach: false });
    expect(findings.filter(({ message }) => !/cannot be read: ENOENT/.test(message))).toEqual([]);
  });

  test("keeps no secret", () => {
    expect(text.replaceAll(/#.*/g, "")).not.toMatch(/token:|password|postgres:\/\//i);
  });
});

test("the image runs no shell and no root, writes to its volume alone, and says how it is", () => {
  const stages = text("container/Dockerfile").split(/^FROM /m);
  const last = stages.at(-1) ?? "";
  expect(stages).toHaveLength(3);
  expect(last).toMatch(/^\S*distroless\S*:nonroot\n/);
  expect(last).toMatch(/^USER 65532:65532$/m);
  expect(last).toMatch(/^VOLUME \/var\/lib\/seneschal$/m);
  expect(last).toMatch(/^HEALTHCHECK .*health\.mjs/m);
  expect(last).not.toMatch(/^RUN/m);
});

test("what is ours in the composition has a read-only root, no capability and no way to more", () => {
  const ours = Object.values(compose.services).filter((service) => (service as { image?: string }).image === "seneschal");
  expect(ours.length).toBeGreaterThanOrEqual(2);
  for (const service of ours)
    expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
});

test("the probe of the image ends with 0 for 200 alone", async () => {
  let status = 200;
  const server = createServer((_, response) => void response.writeHead(status).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/live`;
  const probe = async (): Promise<unknown> => {
    const env = { ...process.env, HEALTH_URL: url };
    return (await once(spawn(process.execPath, [join(ROOT, "ops/container/health.mjs")], { env, stdio: "ignore" }), "exit"))[0];
  };
  expect(await probe()).toBe(0);
  status = 503;
  expect(await probe()).toBe(1);
  server.close();
  server.closeAllConnections();
  expect(await probe()).toBe(1);
});
