import { writeJson } from "@seneschal/rego/bundle";
import type { QueryAnswer, Solution } from "./policy-query.ts";
import { failureText } from "./policy-set.ts";

/** How `opa eval` writes what a query comes to. */
export const answerFormats = ["json", "pretty", "values", "bindings", "raw", "discard"] as const;

export type AnswerFormat = (typeof answerFormats)[number];

/** An answer in a format of `opa eval`; empty where that writes nothing. */
export function formatAnswer(answer: QueryAnswer, format: AnswerFormat): string {
  if (answer.kind === "error") {
    const { code, message } = answer;
    return format === "pretty" ? failureText(answer) : writeJson({ errors: [{ message, code }] }, 2);
  }
  const solutions = answer.kind === "defined" ? answer.result : [];
  switch (format) {
    case "json":
      return writeJson(solutions.length === 0 ? {} : { result: solutions }, 2);
    case "values":
      return solutions.map((solution) => writeJson(valuesOf(solution), 2)).join("\n");
    case "bindings":
      return solutions.map(({ bindings = {} }) => writeJson(bindings, 2)).join("\n");
    case "raw":
      return solutions.map((solution) => valuesOf(solution).map(rawText).join(" ")).join("\n");
    case "discard":
      return writeJson(solutions.length === 0 ? {} : { result: "discarded" }, 2);
    case "pretty":
      return prettyText(solutions);
    default:
      return format satisfies never;
  }
}

/** Undefined, the one value there is, or a table: of the variables, else of the expressions. */
function prettyText(solutions: readonly Solution[]): string {
  const [first] = solutions;
  if (first === undefined) return "undefined";
  const { expressions, bindings } = first;
  if (bindings !== undefined) return tableOf(solutions.map((solution) => solution.bindings ?? {}));
  if (solutions.length === 1 && expressions.length === 1) return writeJson(expressions[0]?.value, 2);
  return tableOf(solutions.map((one) => Object.fromEntries(one.expressions.map(({ text, value }) => [text, value]))));
}

function valuesOf({ expressions }: Solution): readonly unknown[] {
  return expressions.map(({ value }) => value);
}

function rawText(value: unknown): string {
  return typeof value === "string" ? value : writeJson(value);
}

/** Rows by the names of their members, the one called `value` last. */
export function tableOf(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = Object.keys(rows[0] ?? {}).sort((a, b) => Number(a === "value") - Number(b === "value"));
  const cells = [names, ...rows.map((row) => names.map((name) => writeJson(row[name])))];
  const widths = names.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [lines[0], widths.map((width) => "-".repeat(width)).join("  "), ...lines.slice(1)].join("\n");
}
