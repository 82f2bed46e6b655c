import { type ProfiledRow, type ProfileOrder, sortProfile } from "@seneschal/rego/bundle";
import { type Command, InvalidArgumentError } from "commander";
import { wholeNumber } from "../whole-number.ts";

/** The options of a profile, those of `opa eval`. */
export interface ProfileOptions {
  readonly profile?: boolean;
  readonly profileSort?: readonly string[];
  readonly profileLimit?: number;
}

/** What a profile is sorted by, in OPA's words. */
const ORDERS: Readonly<Record<string, ProfileOrder>> = {
  total_time_ns: "time",
  num_eval: "evaluations",
  num_redo: "redos",
  num_gen_expr: "expressions",
  file: "file",
  line: "row",
};
const LIMIT = 10;

export const withProfile = (command: Command): Command =>
  command
    .option("--profile", "tell how often each row was evaluated, and how long that took")
    .option("--profile-sort <order>", `what the rows are sorted by, may be repeated: ${Object.keys(ORDERS).join(", ")}`, order)
    .option("--profile-limit <rows>", `rows that are told, 0 for all of them (default ${LIMIT})`, wholeNumber);

function order(name: string, before: readonly string[] = []): readonly string[] {
  if (!Object.hasOwn(ORDERS, name)) throw new InvalidArgumentError(`Allowed are ${Object.keys(ORDERS).join(", ")}.`);
  return [...before, name];
}

/** A profile as the JSON of `opa eval --profile` and as lines. */
export function showProfile(rows: readonly ProfiledRow[], options: ProfileOptions) {
  const orders = options.profileSort ?? Object.keys(ORDERS);
  const sorted = sortProfile(
    rows,
    orders.map((name) => ORDERS[name] as ProfileOrder),
  );
  const limit = options.profileLimit ?? LIMIT;
  const told = limit === 0 ? sorted : sorted.slice(0, limit);
  const value = told.map(({ file, row, col, evaluations, redos, expressions, time }) => ({
    total_time_ns: Math.round(time * 1e6),
    num_eval: evaluations,
    num_redo: redos,
    num_gen_expr: expressions,
    location: { file, row, col },
  }));
  const lines = told.map(({ file, row, text, evaluations, redos, time }) => {
    const figures = [`${(time * 1000).toFixed(1)} us`, `${evaluations} evaluated`, `${redos} redone`];
    return `${figures.map((figure, i) => figure.padStart([14, 18, 15][i] ?? 0)).join("")}  ${file}:${row}: ${text}`;
  });
  return { value, lines };
}
