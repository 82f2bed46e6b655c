import { expect, test } from "vitest";
import { type Harness, servers, startScheduler } from "./harness.ts";

const [, serve] = servers[1]!;

/** Reads the watch stream to its end: the work has ended when it has. */
async function untilEnd(s: Harness, id: string): Promise<string> {
  const stream = await fetch(`${s.service.url}/api/v1/allocations/${id}/watch`, {
    headers: { authorization: "Bearer token-of-ada" },
  });
  await stream.text();
  return (await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).state;
}

test("the local runner executes entrypoints, reports how they ended, keeps their output, and kills on cancel", async () => {
  const s = await startScheduler(serve, { runner: { enabled: true, nodes: 4 } });
  await s.ok("root", "POST", "/api/v1/tenants", { name: "physics" });
  expect(await s.ok("root", "GET", "/api/v1/nodes")).toHaveLength(4);
  const good = await s.submit("ada", { entrypoint: 'echo "hello from $SENESCHAL_ALLOCATION"' });
  const bad = await s.submit("ada", { entrypoint: "exit 7" });
  const long = await s.submit("ada", { entrypoint: "sleep 600", nodes: 2 });
  await s.cycle();
  expect(await Promise.all([untilEnd(s, good), untilEnd(s, bad)])).toEqual(["completed", "failed"]);
  expect(await s.ok("ada", "GET", `/api/v1/allocations/${bad}`)).toMatchObject({ exit_code: 7, status_reason: "exit code 7" });
  expect(await s.ok("ada", "GET", `/api/v1/allocations/${good}/logs?lines=5`)).toMatchObject([
    { level: "info", message: `hello from ${good}`, source: "stdout" },
  ]);
  const followed = await fetch(`${s.service.url}/api/v1/allocations/${good}/logs?follow=true`, {
    headers: { authorization: "Bearer token-of-ada" },
  });
  expect(followed.headers.get("content-type")).toBe("text/event-stream");
  const lines = (await followed.text()).split("\n\n").filter((part) => part.startsWith("data: "));
  expect(lines.map((line) => JSON.parse(line.slice(6)))).toMatchObject([{ message: `hello from ${good}`, source: "stdout" }]);
  expect((await s.ok("ada", "GET", `/api/v1/allocations/${long}`)).state).toBe("running");
  await s.ok("ada", "POST", `/api/v1/allocations/${long}/cancel`);
  await s.stop(); // waits for the killed command
});

test("without the runner nothing is executed, and logs are empty", async () => {
  const s = await startScheduler(serve);
  await s.cluster(1);
  const id = await s.submit("ada", { entrypoint: "exit 1" });
  await s.cycle();
  expect(await s.ok("ada", "GET", `/api/v1/allocations/${id}/logs`)).toEqual([]);
  expect((await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).state).toBe("running");
  await s.stop();
});
