import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { opaBuild, opaWasmPolicyEngine } from "@seneschal/adapters/policy";
import { check, compile, compileToJavaScript, type Policy } from "@seneschal/rego";
import { build } from "esbuild";
import { addressed, importModule } from "../../tools/import-module.ts";
import { type Bench, type BenchResult, rate, rateAsync } from "../bench.ts";

const RBAC = `package rbac

default allow := false

allow if {
	some role in data.user_roles[input.user]
	some permission in data.role_permissions[role]
	permission == {"action": input.action, "object": input.object}
}
`;

interface Rbac {
  readonly data: {
    readonly user_roles: Readonly<Record<string, readonly string[]>>;
    readonly role_permissions: Readonly<Record<string, readonly { readonly action: string; readonly object: string }[]>>;
  };
  readonly inputs: readonly { readonly user: string; readonly action: string; readonly object: string }[];
}

const small: Rbac = {
  data: {
    user_roles: { alice: ["reader"] },
    role_permissions: {
      reader: [
        { action: "list", object: "reports" },
        { action: "read", object: "reports" },
      ],
    },
  },
  inputs: [{ user: "alice", action: "read", object: "reports" }],
};

/** 1000 users, 100 roles, 2000 permissions; requests of which about half are allowed. */
function medium(): Rbac {
  const role_permissions: Record<string, { action: string; object: string }[]> = {};
  for (let role = 0; role < 100; role++) {
    role_permissions[`role${role}`] = Array.from({ length: 20 }, (_, i) => ({
      action: `action${i % 5}`,
      object: `object${role * 4 + (i >> 2)}`,
    }));
  }
  const user_roles: Record<string, string[]> = {};
  for (let user = 0; user < 1000; user++) user_roles[`user${user}`] = [`role${user % 100}`, `role${(user * 7 + 3) % 100}`];
  const inputs = Array.from({ length: 512 }, (_, i) => {
    const user = (i * 37) % 1000;
    const held = role_permissions[`role${user % 100}`] as { action: string; object: string }[];
    const permission = held[(i * 11) % 20] as { action: string; object: string };
    return i % 2 === 0
      ? { user: `user${user}`, ...permission }
      : { user: `user${user}`, action: "none", object: permission.object };
  });
  return { data: { user_roles, role_permissions }, inputs };
}

function evaluations(policy: Policy, path: readonly string[], inputs: readonly unknown[], data: unknown): number {
  let next = 0;
  const options = { data };
  return rate(() => {
    policy.evaluate(path, inputs[next], options);
    next = next + 1 === inputs.length ? 0 : next + 1;
  });
}

function dataDirectory(): string | undefined {
  const directory = resolve(process.env["CONFORMANCE_DATA"] ?? "../shared/data");
  return existsSync(join(directory, "rego")) ? join(directory, "rego") : undefined;
}

function readJson<T>(file: string): T | undefined {
  const directory = dataDirectory();
  if (directory === undefined || !existsSync(join(directory, file))) return undefined;
  return JSON.parse(readFileSync(join(directory, file), "utf8")) as T;
}

const rbac: Bench = {
  name: "rego/rbac",
  run: async () => {
    const out: BenchResult[] = [];
    const policy = compile([{ name: "rbac.rego", source: RBAC }]);
    const cedar = await cedarRate();
    const scenarios = [
      ["small", small, 1_000_000],
      ["medium", medium(), 300_000],
    ] as const;
    for (const [size, { data, inputs }, bar] of scenarios) {
      const value = evaluations(policy, Object.freeze(["rbac", "allow"]), inputs, data);
      out.push({
        name: `rego/rbac ${size}`,
        value,
        unit: "evaluations/s",
        bar: `>= ${bar.toLocaleString("en")}`,
        ...(size === "small" ? { peer: "cedar-wasm, preparsed", peerValue: cedar, ratio: value / cedar } : {}),
      });
      const wasm = await opaWasmRate(data, inputs);
      if (wasm === undefined) continue;
      out.push({
        name: `rego/rbac ${size}, beside opa-wasm`,
        value,
        unit: "evaluations/s",
        peer: "opa-wasm, the same policy built by opa build",
        peerValue: wasm,
        ratio: value / wasm,
        bar: ">= 4x",
      });
    }
    return out;
  },
};

/** The `opa` program: `OPA`, or what tools/install-opa.sh installed; undefined where there is none. */
function findOpa(): string | undefined {
  return [process.env["OPA"], resolve(".opa/opa")].find((path) => path !== undefined && existsSync(path));
}

/** The same policy as a bundle for OPA's SDK; undefined without `opa`. */
async function opaWasmRate(data: Rbac["data"], inputs: Rbac["inputs"]): Promise<number | undefined> {
  const opa = findOpa();
  if (opa === undefined) return undefined;
  const compiled = await opaWasmPolicyEngine({ build: opaBuild(opa) }).compile([{ name: "rbac.rego", source: RBAC }]);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { policy } = compiled;
  const path = ["data", "rbac", "allow"];
  const ask = (i: number) => policy.evaluate(path, { ...(inputs[i] as Rbac["inputs"][number]) }, { now: 0, data });
  const answer = await ask(0);
  if (answer.kind !== "defined" || answer.value !== true) throw new Error(JSON.stringify(answer));
  let next = 0;
  return rateAsync(() => {
    next = next + 1 === inputs.length ? 0 : next + 1;
    return ask(next);
  });
}

/** The small scenario's rule as a Cedar policy, parsed once. */
async function cedarRate(): Promise<number> {
  const cedar = await import("@cedar-policy/cedar-wasm/nodejs");
  const policies =
    'permit(principal in Role::"reader", action in [Action::"list", Action::"read"], resource == Report::"reports");';
  const parsed = cedar.preparsePolicySet("rbac", { staticPolicies: policies });
  if (parsed.type !== "success") throw new Error(JSON.stringify(parsed.errors));
  const call = {
    principal: { type: "User", id: "alice" },
    action: { type: "Action", id: "read" },
    resource: { type: "Report", id: "reports" },
    context: {},
    entities: [
      { uid: { type: "User", id: "alice" }, attrs: {}, parents: [{ type: "Role", id: "reader" }] },
      { uid: { type: "Role", id: "reader" }, attrs: {}, parents: [] },
    ],
    preparsedPolicySetId: "rbac",
  };
  const answer = cedar.statefulIsAuthorized(call);
  if (answer.type !== "success" || answer.response.decision !== "allow") throw new Error(JSON.stringify(answer));
  return rate(() => {
    cedar.statefulIsAuthorized(call);
  });
}

interface Mix {
  readonly policies: readonly { readonly name: string; readonly rego: string; readonly inputs: readonly unknown[] }[];
}

const mix: Bench = {
  name: "rego/mix",
  run: async () => {
    const content = readJson<Mix>("bench/mix.json");
    if (content === undefined) return [];
    const calls = content.policies.flatMap(({ name, rego, inputs }) => {
      const policy = compile([{ name: `${name}.rego`, source: rego }]);
      return inputs.map((input) => ({ policy, input }));
    });
    let next = 0;
    const path = Object.freeze(["bench", "allow"]);
    const value = rate(() => {
      const { policy, input } = calls[next] as (typeof calls)[number];
      policy.evaluate(path, input);
      next = next + 1 === calls.length ? 0 : next + 1;
    });
    return [{ name: "rego/mix, parsed inputs", value, unit: "evaluations/s", bar: ">= 300,000" }];
  },
};

interface OraclePolicies {
  readonly policies: readonly {
    readonly name: string;
    readonly rego: string;
    readonly data: unknown;
    readonly cases: readonly { readonly input: unknown }[];
  }[];
}

const workspace: Bench = {
  name: "rego/workspace",
  run: async () => {
    const entry = readJson<OraclePolicies>("oracle-policies.json")?.policies.find(
      ({ name }) => name === "workspace-evaluate-input",
    );
    if (entry === undefined) return [];
    const policy = compile([{ name: "workspace.rego", source: entry.rego }]);
    const inputs = entry.cases.map(({ input }) => input);
    const value = evaluations(policy, Object.freeze(["test", "allowed"]), inputs, entry.data);
    return [{ name: "rego/workspace policy", value, unit: "evaluations/s", bar: ">= 400,000" }];
  },
};

interface Aci {
  readonly modules: readonly string[];
  readonly cases: readonly {
    readonly note: string;
    readonly query: string;
    readonly data: unknown;
    readonly input: unknown;
    readonly module_refs: readonly number[];
  }[];
}

const aci: Bench = {
  name: "rego/aci",
  run: async () => {
    const content = readJson<Aci>("extra/aci.json");
    if (content === undefined) return [];
    const sources = content.modules.map((source, i) => ({ name: `aci-${i}.rego`, source }));
    const out: BenchResult[] = [];
    for (const name of ["mount_overlay", "create_container"]) {
      const test = content.cases.find(({ note }) => note.endsWith(name));
      if (test === undefined) continue;
      const policy = compile(test.module_refs.map((ref) => sources[ref] as (typeof sources)[number]));
      const path = test.query
        .replace(/\s*=.*$/s, "")
        .split(".")
        .slice(1);
      const perSecond = evaluations(policy, path, [test.input], test.data);
      out.push({ name: `rego/aci ${name}`, value: 1e6 / perSecond, unit: "us/evaluation", bar: "<= 300" });
    }
    const first = content.cases[0];
    if (first !== undefined) {
      const used = first.module_refs.map((ref) => sources[ref] as (typeof sources)[number]);
      const perSecond = rate(() => {
        check(used);
      }, 2000);
      out.push({ name: "rego/aci compile", value: 1e3 / perSecond, unit: "ms", bar: "<= 60" });
    }
    return out;
  },
};

/** A policy of 50 lines as they are written for services: imports, defaults, sets, functions, comprehensions. */
const FIFTY_LINES = `package service.authz

import data.directory

default allow := false

default level := 0

allow if {
	count(deny) == 0
	some grant in grants
	grant.action == input.action
}

allow if is_admin(input.user)

is_admin(user) if "admin" in directory.users[user].roles

level := 3 if is_admin(input.user)

level := 2 if {
	not is_admin(input.user)
	"owner" in roles
}

roles contains role if some role in directory.users[input.user].roles

grants contains grant if {
	some role in roles
	some grant in data.grants[role]
	startswith(input.path, grant.prefix)
}

deny contains "suspended" if directory.users[input.user].suspended

deny contains msg if {
	input.method in {"DELETE", "PUT"}
	level < 2
	msg := sprintf("%v needs level 2, have %d", [input.method, level])
}

deny contains "outside of office hours" if {
	[hour, _, _] := time.clock(time.now_ns())
	hour > 20
	not is_admin(input.user)
}

summary := {
	"user": input.user,
	"roles": [role | some role in roles],
	"reasons": concat(", ", deny),
}
`;

const compilation: Bench = {
  name: "rego/compile",
  run: async () => {
    const source = [{ name: "fifty.rego", source: FIFTY_LINES }];
    const perSecond = rate(() => {
      check(source);
    });
    return [{ name: "rego/compile 50 lines, warm", value: 1e3 / perSecond, unit: "ms", bar: "<= 1" }];
  },
};

/** Milliseconds of the processor until a new process has its first answer, Node's own start in them. Of five, the middle. */
function startMs(program: string): number {
  const measured = `${program}
const { user, system } = process.cpuUsage();
if (answer.kind === "error") throw new Error(answer.message);
console.log((user + system) / 1000);`;
  const times = Array.from({ length: 5 }, () =>
    Number(execFileSync(process.execPath, ["--input-type=module", "-"], { input: measured, encoding: "utf8" })),
  );
  return times.sort((a, b) => a - b)[2] as number;
}

/** The same policy compiled ahead: evaluations, and from nothing to the first answer, as published and in one file. */
const ahead: Bench = {
  name: "rego/ahead",
  run: async () => {
    const out: BenchResult[] = [];
    const compiled = "compiled from its text";
    const empty = startMs('const answer = { kind: "undefined" };');
    for (const [name, source, path, { data, inputs }] of [
      ["rbac medium", RBAC, ["rbac", "allow"], medium()],
      ["50 lines", FIFTY_LINES, ["service", "authz", "allow"], small],
    ] as const) {
      const sources = [{ name: "policy.rego", source }];
      const entrypoint = `data.${path.join(".")}`;
      const text = compileToJavaScript(sources, { entrypoints: [entrypoint] });
      const options = { data };
      const ask = (policy: Pick<Policy, "evaluate">): number => {
        let next = 0;
        return rate(() => {
          policy.evaluate(entrypoint, inputs[next], options);
          next = next + 1 === inputs.length ? 0 : next + 1;
        });
      };
      const { load } = await importModule<{ load(): Pick<Policy, "evaluate"> }>(text);
      const [value, peerValue] = [ask(load()), ask(compile(sources))];
      out.push({ name: `rego/ahead ${name}`, value, unit: "evaluations/s", peer: compiled, peerValue, ratio: value / peerValue });
      const asked = `.evaluate(${JSON.stringify(entrypoint)}, ${JSON.stringify(inputs[0])}, ${JSON.stringify(options)});`;
      const loading = `const answer = load()${asked}`;
      const engine = `import { compile } from "@seneschal/rego";\nconst answer = compile(${JSON.stringify(sources)})${asked}`;
      const starts = [
        ["start", `${addressed(text)}\n${loading}`, addressed(engine)],
        [
          "start in one file",
          await oneFile(`${text}\n${loading}\nglobalThis.answer = answer;`),
          await oneFile(`${engine}\nglobalThis.answer = answer;`),
        ],
      ] as const;
      for (const [what, module, sourceText] of starts) {
        const [ours, theirs] = [startMs(module) - empty, startMs(sourceText) - empty];
        out.push({
          name: `rego/ahead ${name}, ${what}`,
          value: ours,
          unit: "ms",
          peer: compiled,
          peerValue: theirs,
          ratio: ours / theirs,
        });
      }
    }
    return out;
  },
};

async function oneFile(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: resolve(".") },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

export const benches: readonly Bench[] = [rbac, mix, workspace, aci, compilation, ahead];
