import { readText } from "@seneschal/adapters/files";
import { CodedError, checkArgument } from "@seneschal/kernel";
import type { CompiledPolicy, PolicyEngine, PolicySource } from "@seneschal/kernel/ports";
import { parseModule, type Term } from "@seneschal/rego";

/** Nobody calls a `mask` or `drop` of `system.log` that is a function: it would hide nothing. Throws `config_invalid` that names the setting. */
export function refuseLogFunctions(sources: readonly PolicySource[], setting: string): void {
  checkArgument("sources", sources, "array");
  checkArgument("setting", setting, "string");
  for (const { module } of sources.map((source) => parseModule(source))) {
    for (const { head } of module?.rules ?? []) {
      const [system, log, name] = [...(module?.packagePath ?? []), head.ref[0].name, ...head.ref.slice(1).map(nameOf)];
      if (head.args === undefined || system !== "system" || log !== "log" || (name !== "mask" && name !== "drop")) continue;
      const place = `${module?.name}:${head.loc.row}`;
      throw new CodedError("config_invalid", `${setting}: ${place}: ${name} of system.log is a function: nobody calls it`);
    }
  }
}

function nameOf(term: Term): unknown {
  return term.kind === "scalar" ? term.value : undefined;
}

/** The policy of a file that says in `data.system.log` what is not logged. Throws `config_invalid` for one that does not compile, or says nothing of the log. */
export async function compileLogPolicy(engine: PolicyEngine, name: string): Promise<CompiledPolicy> {
  checkArgument("engine", engine, "object");
  checkArgument("name", name, "string");
  const sources = [{ name, source: await readText(name) }];
  const result = await engine.compile(sources);
  if (!result.ok) {
    const [problem] = result.problems;
    throw new CodedError("config_invalid", `decision_log_policy: ${problem?.file}:${problem?.row}: ${problem?.message}`);
  }
  refuseLogFunctions(sources, "decision_log_policy");
  if (!result.policy.packages.some(([first]) => first === "system"))
    throw new CodedError("config_invalid", `decision_log_policy: ${name}: expected package system.log`);
  return result.policy;
}
