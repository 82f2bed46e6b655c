/** The formal models in `models/`, run by Quint's own simulator: which there are, what they must keep to, and their runs as plain data. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../models/custody/", import.meta.url));
const quint = fileURLToPath(new URL("../node_modules/@informalsystems/quint/dist/src/cli.js", import.meta.url));

interface Model {
  /** Of its file. */
  readonly file: string;
  /** Steps of a run, at most: most end before. */
  readonly steps: number;
  /** What a replay must know of the first state, and finds in the last. */
  readonly start: readonly string[];
  readonly end: readonly string[];
}

const sessions = { file: "sessions", steps: 30, start: ["liars", "agreed"], end: ["sessions", "blamed"] };
const seats = { file: "seats", steps: 15, start: ["named"], end: ["seats", "status"] };

/** By the name of their module. Those that end in `_before` are rules that were broken. */
export const models = {
  ceremony: { file: "ceremony", steps: 36, start: ["cast", "liars"], end: ["relays"] },
  handover: { file: "ceremony", steps: 40, start: ["cast", "liars", "old"], end: ["relays"] },
  relay: { file: "relay", steps: 45, start: ["liars", "last"], end: ["ceremonies", "version", "enrolled"] },
  session: sessions,
  session_before: sessions,
  seats,
  seats_before: seats,
} as const satisfies Readonly<Record<string, Model>>;
export type ModelName = keyof typeof models;

/** Findings of trials from outside that a model of the rules of then has too: the law that they break. */
export const findings = {
  "security S1": { model: "seats_before", law: "noCoalitionBelowTheThresholdOwnsTheKey" },
  "gateway D1": { model: "seats_before", law: "onlyTheRegisteredSit" },
  "security S2": { model: "session_before", law: "nobodyInnocentIsBlamed" },
  "gateway D2": { model: "session_before", law: "onlyItsCustodianSits" },
} as const satisfies Readonly<Record<string, { readonly model: ModelName; readonly law: string }>>;
export type Finding = keyof typeof findings;

/** One run of a model: what each step was, and what it came to. Sets and lists are arrays, maps arrays of pairs, variants `{ tag, value }`. */
export interface Run {
  readonly start: Readonly<Record<string, unknown>>;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly end: Readonly<Record<string, unknown>>;
}

/** The laws of a model: every `val` of its file that stands for itself. */
export function lawsOf(name: ModelName): readonly string[] {
  const text = readFileSync(join(folder, `${models[name].file}.qnt`), "utf8");
  return [...text.matchAll(/^ {2}val (\w+) =/gm)].map(([, law = ""]) => law);
}

export interface Simulation {
  /** Whether every state of every run kept to the laws. */
  readonly holds: boolean;
  /** Laws that did not. */
  readonly broken: readonly string[];
  /** The runs that were asked for; the one that broke a law first. */
  readonly runs: readonly Run[];
  /** What the simulator says. */
  readonly report: string;
}

/** Runs a model `samples` times. Throws when the simulator did not get so far. `seed` is any text that Quint takes for a number. */
export function simulate(
  name: ModelName,
  {
    samples,
    laws = lawsOf(name),
    keep = 0,
    seed,
  }: { readonly samples: number; readonly laws?: readonly string[]; readonly keep?: number; readonly seed?: string },
): Simulation {
  const { file, steps } = models[name];
  const out = mkdtempSync(join(tmpdir(), "model-"));
  try {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [
        ...["--max-semi-space-size=64", "--max-old-space-size=3000", quint, "run", `${file}.qnt`, "--main", name],
        ...["--backend", "typescript", "--max-samples", String(samples), "--max-steps", String(steps), "--invariants", ...laws],
        ...(keep === 0 ? [] : ["--n-traces", String(keep), "--out-itf", join(out, "run_{seq}.itf.json")]),
        ...(seed === undefined ? [] : ["--seed", seed]),
      ],
      { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
    );
    const holds = stdout.includes("[ok]");
    if (!holds && !stdout.includes("[violation]")) throw new Error(`quint ended with ${status}: ${stdout}${stderr}`);
    const kept = readdirSync(out).sort((a, b) => Number(a.match(/\d+/)) - Number(b.match(/\d+/)));
    return {
      holds,
      // Of one alone it does not say which.
      broken: holds ? [] : laws.length === 1 ? laws : [...stdout.matchAll(/❌ (\w+)/g)].map(([, law = ""]) => law),
      runs: kept.map((one) => runOf(models[name], JSON.parse(readFileSync(join(out, one), "utf8")) as Trace)),
      report: stdout.slice(stdout.search(/\[(ok|violation)\]/)),
    };
  } finally {
    rmSync(out, { recursive: true });
  }
}

/** The Informal Trace Format (ADR 015 of Apalache). */
interface Trace {
  readonly states: readonly Readonly<Record<string, unknown>>[];
}

function runOf({ start, end }: Model, { states }: Trace): Run {
  const plain = states.map((state) =>
    Object.fromEntries(Object.entries(state).map(([name, value]) => [name.split("::").at(-1) ?? name, plainOf(value)])),
  );
  const pick = (names: readonly string[], state: Readonly<Record<string, unknown>> = {}) =>
    Object.fromEntries(names.map((name) => [name, state[name]]));
  return {
    start: pick(start, plain[0]),
    steps: plain.slice(1).map((state) => state["last"] as Readonly<Record<string, unknown>>),
    end: pick(end, plain.at(-1)),
  };
}

function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== "object" || value === null) return value;
  const { "#bigint": number, "#set": set, "#map": map, "#tup": tuple } = value as Readonly<Record<string, unknown>>;
  if (number !== undefined) return Number(number);
  if (set !== undefined || map !== undefined || tuple !== undefined) return plainOf(set ?? map ?? tuple);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainOf(one)]));
}

const kept = (name: ModelName | Finding): string => join(folder, "runs", `${name.replace(" ", "-")}.ndjson`);

/** The runs that lie beside a model, or that of a finding, one on a line. */
export function keptRuns(name: ModelName | Finding): readonly Run[] {
  const lines = readFileSync(kept(name), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Run);
}

export function keepRuns(name: ModelName | Finding, runs: readonly Run[]): void {
  writeFileSync(kept(name), runs.map((run) => `${JSON.stringify(run)}\n`).join(""));
}

/** How many fresh runs of a model are replayed: `usual`, or what `MODEL_RUNS` says. */
export const freshRuns = (usual: number): number => Number(process.env["MODEL_RUNS"] ?? usual);
