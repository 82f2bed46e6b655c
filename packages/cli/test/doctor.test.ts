import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { node } from "../src/commands/doctor.ts";
import { run } from "../src/run.ts";
import { type DevProcess, openDevProcess } from "./dev-process.ts";
import { scriptedHost } from "./scripted-host.ts";

type Findings = readonly { readonly check: string; readonly state: string; readonly message: string; readonly advice?: string }[];

describe("seneschal doctor", () => {
  let dev: DevProcess;
  let empty: string;
  beforeAll(async () => {
    dev = await openDevProcess();
    empty = await mkdtemp(join(tmpdir(), "seneschal-doctor-"));
  });
  afterAll(async () => {
    await dev.close();
    await rm(empty, { recursive: true, force: true });
  });

  const look = async (args: readonly string[]) => {
    const host = scriptedHost({ cwd: empty });
    const code = await run(["doctor", ...args, "--json"], host);
    return { code, findings: host.json()["findings"] as Findings };
  };
  const data = () => ["--set", `data_dir=${dev.dir}`];

  it("finds a working gateway well: its health, clock, versions, log and partners", async () => {
    const { code, findings } = await look([...data(), "--as", "acme/super_admin", "--credentials", dev.credentials]);
    expect([code, findings.filter(({ state }) => state === "error")]).toEqual([0, []]);
    const well = findings.filter(({ state }) => state === "ok").map(({ check }) => check);
    // The version of a development process is not this command's.
    expect(new Set([...well, "versions"])).toEqual(
      new Set(["configuration", "vault", "gateway", "clock", "disk", "versions", "log", "partners"]),
    );
  });

  it("says what is wrong with what is not there, what to do about it, and what it does not know", async () => {
    const { code, findings } = await look(["--set", `data_dir=${join(empty, "none")}`, "--url", "https://localhost:1"]);
    expect(code).toBe(1);
    const wrong = findings.filter(({ state }) => state === "error");
    expect(wrong.map(({ check }) => check)).toEqual(expect.arrayContaining(["configuration", "gateway"]));
    for (const { advice } of wrong) expect(advice).toMatch(/\w/);
    const unasked = await look(data());
    expect(unasked.findings).toContainEqual(expect.objectContaining({ check: "gateway", state: "unknown" }));
  });

  it("tells of a Node that its makers do not mend, and what to install", () => {
    const at = Date.parse("2026-11-25");
    const advice = (running: string, now = at) => node(running, now).advice;
    for (const mended of ["22.23.3", "24.21.0", "26.9.0"]) expect(node(mended, at).state).toBe("ok");
    for (const left of ["18.20.8", "20.20.2"]) expect(advice(left)).toMatch(/has left support.*install Node 24/);
    expect(advice("22.23.3", Date.parse("2027-05-01"))).toMatch(/has left support/);
    expect(advice("25.1.0")).toMatch(/no release with long-term support/);
  });
});
