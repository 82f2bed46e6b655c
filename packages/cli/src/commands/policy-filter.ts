import type { ConditionColumn, EnforcedDialect } from "@seneschal/governance";
import { CodedError } from "@seneschal/kernel";
import { compile } from "@seneschal/rego/bundle";
import { type Command, Option } from "commander";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { loaded } from "../policy/policy-files.ts";
import { collect, type InputOptions, inputOf, policyOf, shownSettings, withInput } from "../policy/policy-set.ts";
import { readJson } from "../read-file.ts";

/** Their names alone: what writes SQL is loaded when it is asked for. */
const dialects: Readonly<Record<EnforcedDialect, true>> = { postgres: true, bigquery: true, snowflake: true };

interface FilterOptions extends InputOptions {
  readonly unknowns?: readonly string[];
  readonly dialect?: EnforcedDialect;
  readonly columns?: string;
}

/** `policy filter`: for which rows a query holds, as a condition or as SQL. */
export function addFilter(policy: Command, { host, result, exit }: CommandContext): void {
  withInput(policy.command("filter").description("the rows for which a query holds, as a condition or as SQL with parameters"))
    .argument("<query>", "for example data.orders.include")
    .argument("[paths...]", ".rego files or directories")
    .option("-u, --unknowns <path>", "where a row stands, by default input.row; may be repeated", collect)
    .addOption(new Option("--dialect <name>", "SQL of this database").choices(Object.keys(dialects)))
    .option("--columns <file>", 'what rows have: {"input.row.owner": {"column": "owner", "type": "text"}}')
    .action(async (query: string, paths: string[], options: FilterOptions) => {
      const { dialect, columns, unknowns = ["input.row"] } = options;
      if ((dialect === undefined) !== (columns === undefined))
        throw new CodedError("usage", "--dialect and --columns go together");
      const { sources, data, options: how } = await policyOf(host, paths, options);
      const compiled = compile(sources, how);
      const input = await inputOf(host, options);
      const told = usable(() => compiled.partial(query, unknowns, input, shownSettings(host, data)));
      if (told.kind !== "condition") {
        const at = told.kind === "refused" ? `${told.file}:${told.row}:${told.col}: ` : "";
        result(told, `${at}${told.code}: ${told.message}`);
        exit(exitCode.no);
        return;
      }
      if (dialect === undefined || columns === undefined) {
        result(told, JSON.stringify(told.condition, null, 2));
        return;
      }
      const { conditionSql } = await import("@seneschal/governance");
      const known = await columnsOf(host, columns);
      const { sql, parameters } = loaded(() => conditionSql(dialect, told.condition, known));
      result({ ...told, sql, parameters }, [sql, ...parameters.map((value) => JSON.stringify(value))].join("\n"));
    });
}

/** A path that is none is the command line's fault. */
function usable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TypeError) throw new CodedError("usage", error.message.replace("unknowns", "--unknowns"), {}, error);
    throw error;
  }
}

async function columnsOf(host: Host, name: string): Promise<Readonly<Record<string, ConditionColumn>>> {
  const document = await readJson(host, name);
  const wrong = (what: string): CodedError => new CodedError("file_invalid", `${name}: ${what}`);
  if (typeof document !== "object" || document === null || Array.isArray(document)) throw wrong("expected an object of columns");
  for (const [field, column] of Object.entries(document)) {
    if (typeof column !== "object" || column === null || Array.isArray(column)) throw wrong(`${field}: expected column and type`);
    const odd = Object.keys(column).find((member) => member !== "column" && member !== "type");
    if (odd !== undefined) throw wrong(`${field}: ${odd} is not known`);
  }
  return document as Readonly<Record<string, ConditionColumn>>;
}
