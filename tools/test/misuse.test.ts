/**
 * Whoever calls an export of a package from JavaScript, with an argument of the wrong kind, hears which argument and what it should be, and a
 * slip of the pen in an option is not passed over. Functions are read as they are compiled: the names of their parameters are there.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createReedSolomon } from "@seneschal/adapters/erasure";
import { newId, sha256 } from "@seneschal/adapters/log";
import { createMemoryLog, openMemoryStore } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import { devIssuer } from "@seneschal/app/gateway";
import { client } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { nobleCrypto } from "@seneschal/crypto";
import { CustodianKeys } from "@seneschal/crypto/custody";
import { MerkleTree } from "@seneschal/crypto/merkle";
import { DkgParticipant } from "@seneschal/crypto/threshold";
import { createClassifier, LineageGraph } from "@seneschal/governance";
import { isCoded } from "@seneschal/kernel";
import { openReplicated } from "@seneschal/kernel/log";
import { quotaMachine, SortedMap } from "@seneschal/quota";
import { compile } from "@seneschal/rego";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ROOT } from "./fixture-tree.ts";

/** What the engine, or a library below, says when nobody looked: a place in our code, not a mistake in the caller's. */
const ENGINE =
  /Cannot (read|destructure|convert|set|use|mix)|is not (a function|iterable|a constructor)|undefined \(reading|Invalid (array|typed)|is not defined|^\[/;

type Exported = (...given: unknown[]) => unknown;

const entries = readdirSync(join(ROOT, "packages")).flatMap((folder) => {
  const { name, exports = {} } = JSON.parse(readFileSync(join(ROOT, "packages", folder, "package.json"), "utf8"));
  const paths = Object.keys(exports).filter((path) => !/package\.json|arbitraries|testing/.test(path));
  return paths.map((path) => name + path.slice(1));
});

interface Callable {
  readonly name: string;
  readonly exported: Exported;
  /** What it is asked of. */
  readonly holder?: object;
}

/** What an entry exports: functions, classes, what can be asked of them without an instance, functions of objects. Schemas are zod's. */
const callablesOf = async (entry: string): Promise<readonly Callable[]> =>
  Object.entries((await import(entry)) as Record<string, unknown>).flatMap(([name, exported]) => {
    const isClass = typeof exported === "function" && /^[A-Z]/.test(name);
    const isObject = typeof exported === "object" && exported !== null && !(exported instanceof z.ZodType);
    const own = isClass || isObject ? Object.entries(Object.getOwnPropertyDescriptors(exported as object)) : [];
    const within = own.map(([member, { value }]) => ({ name: `${name}.${member}`, exported: value, holder: exported as object }));
    return [{ name, exported }, ...within].filter((one): one is Callable => typeof one.exported === "function");
  });

/** What the function says to these arguments; undefined when it has an answer. */
async function complaint({ name, exported, holder }: Callable, given: unknown[]): Promise<unknown> {
  try {
    await (/^[A-Z][^.]*$/.test(name) ? Reflect.construct(exported, given) : Reflect.apply(exported, holder, given));
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Parameters as they are written: `options = {}`. */
function parametersOf(exported: Exported): string[] {
  const text = String(exported);
  const from = /^class\b/.test(text) ? text.indexOf("constructor(") + "constructor".length : text.indexOf("(");
  if (from < 0) return [];
  let depth = 0;
  const found = [""];
  for (const char of text.slice(from)) {
    if ("([{".includes(char) && depth++ === 0) continue;
    if (")]}".includes(char) && --depth === 0) break;
    if (char === "," && depth === 1) found.push("");
    else found[found.length - 1] += char;
  }
  return found.map((parameter) => parameter.trim()).filter((parameter) => parameter !== "");
}

describe.each(entries)("%s", (entry) => {
  test("says which argument is of the wrong kind", async () => {
    const silent: string[] = [];
    for (const callable of await callablesOf(entry)) {
      const { name, exported } = callable;
      if (exported.length === 0) continue;
      for (const wrong of [undefined, null, 5]) {
        const said = await complaint(callable, Array(exported.length).fill(wrong));
        if (said === undefined) continue; // It has an answer for that, such as isCoded.
        const { message } = said as Error;
        if (!(said instanceof TypeError || isCoded(said)) || ENGINE.test(message) || !/\w/.test(message))
          silent.push(`${name}(${wrong}): ${String(said)}`);
      }
    }
    expect(silent).toEqual([]);
  });

  test("refuses an option that there is not, by its name", async () => {
    const silent: string[] = [];
    for (const callable of await callablesOf(entry)) {
      const parameters = parametersOf(callable.exported);
      const at = parameters.findIndex((parameter) => /^options\b/.test(parameter));
      if (at < 0) continue;
      const given = parameters.map((_, place) => (place === at ? { mispelt: true } : undefined));
      const said = await complaint(callable, given);
      if (!(said instanceof TypeError) || !said.message.includes("options.mispelt: no such option"))
        silent.push(`${callable.name}: ${String(said)}`);
    }
    expect(silent).toEqual([]);
  });
});

/** What functions give that others call again and again. */
const made: Readonly<Record<string, () => object | Promise<object>>> = {
  "a document store": () => openMemoryStore({ collections: { notes: { indexes: {} } } }),
  "a policy": () => compile([{ name: "p.rego", source: "package p\n\na := 1\n" }]),
  "a classifier": () => createClassifier(),
  "a graph of lineage": () => new LineageGraph(),
  "a Merkle tree": () => new MerkleTree(),
  "a custodian's keys": () => CustodianKeys.generate(nobleCrypto, systemRandom),
  "a participant of a key generation": () => new DkgParticipant({ index: 1, threshold: 2, total: 3, random: systemRandom }),
  "a client": () =>
    client({ health: gatewayContract.health }, { baseUrl: "http://localhost", fetch: async () => Response.json({}) }),
  "quotas on a log": () =>
    openReplicated({ log: createMemoryLog().open(), machine: quotaMachine, clock: { now: () => 0 }, sha256, newId }),
  "a map": () => SortedMap.empty(),
  "an erasure code": () => createReedSolomon(2, 1),
  "an issuer of tokens": () => devIssuer(),
};

test.each(Object.entries(made))("%s says which argument is of the wrong kind", async (_, make) => {
  const holder = await make();
  const own = [holder, Object.getPrototypeOf(holder)].flatMap((one) =>
    one === Object.prototype ? [] : Object.entries(Object.getOwnPropertyDescriptors(one)),
  );
  const callables = own.flatMap(([name, { value }]): Callable[] =>
    typeof value === "function" && name !== "constructor" ? [{ name, exported: value, holder }] : [],
  );
  expect(callables.length).toBeGreaterThan(0);
  const silent: string[] = [];
  for (const callable of callables)
    for (const wrong of [null, 5]) {
      const said = await complaint(callable, Array(Math.max(1, callable.exported.length)).fill(wrong));
      if (said instanceof Error && ENGINE.test(said.message)) silent.push(`${callable.name}(${wrong}): ${said}`);
    }
  expect(silent).toEqual([]);
});
