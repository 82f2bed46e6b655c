import { expect, test } from "vitest";
import { type LocalRunner, localRunner } from "../../src/runner/index.ts";

const open = (): LocalRunner => localRunner({ now: () => 7, graceMs: 200 });
const run = (runner: LocalRunner, id: string, command: string, env = {}): Promise<number> =>
  new Promise((resolve) => runner.start(id, command, env, resolve));

test("a command's exit code and both of its outputs come back, its followers hear each line", async () => {
  const runner = open();
  const ended = run(runner, "a", 'echo out; echo "$GIVEN" >&2; exit 3', { GIVEN: "err" });
  const heard: string[] = [];
  runner.follow("a", (line) => heard.push(line.message));
  expect(await ended).toBe(3);
  const lines = runner.tail("a", 10) ?? [];
  expect(lines.map(({ message, source }) => `${source} ${message}`).sort()).toEqual(["stderr err", "stdout out"]);
  expect(heard.sort()).toEqual(["err", "out"]);
  expect([runner.tail("a", 1)?.length, runner.tail("never", 1)]).toEqual([1, undefined]);
});

test("a killed command goes with everything it started, also when it ignores the polite signal", async () => {
  const runner = open();
  const ended = run(runner, "a", "trap '' TERM; echo ready; while :; do sleep 0.05; done");
  await new Promise<void>((resolve) => runner.follow("a", () => resolve()));
  expect(runner.running()).toEqual(["a"]);
  runner.kill("a");
  expect(await ended).toBe(-1);
  expect(runner.running()).toEqual([]);
});

test("commands see nothing of the environment of the process", async () => {
  process.env["RUNNER_TEST_SECRET"] = "s3cret";
  const runner = open();
  await run(runner, "a", "env");
  delete process.env["RUNNER_TEST_SECRET"];
  expect(JSON.stringify(runner.tail("a", 1000))).not.toContain("s3cret");
});

test("closing waits for everything it killed", async () => {
  const runner = open();
  const codes = [run(runner, "a", "sleep 60"), run(runner, "b", "sleep 60")];
  await runner.close();
  expect(await Promise.all(codes)).toEqual([-1, -1]);
});
