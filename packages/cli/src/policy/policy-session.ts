import {
  type CompileOptions,
  compile,
  type EvaluateOptions,
  type Policy,
  type Problem,
  parseModule,
  parseQuery,
  RegoCompileError,
  type Source,
  writeJson,
} from "@seneschal/rego/bundle";

/** What a session works on. */
interface SessionParts {
  readonly sources: readonly Source[];
  readonly options: CompileOptions;
  readonly input: unknown;
  /** How an evaluation is done, asked at each. */
  readonly settings: () => EvaluateOptions;
}

/** What became of a line. */
export type SessionAnswer =
  /** More lines belong to it; an empty one ends them. */
  | { readonly kind: "more" }
  | { readonly kind: "nothing" }
  | { readonly kind: "told"; readonly text: string }
  | { readonly kind: "value"; readonly value: unknown }
  /** Solutions of a query with variables, by their names; `value` is that of a query which is one term. */
  | { readonly kind: "rows"; readonly rows: readonly Readonly<Record<string, unknown>>[] }
  | { readonly kind: "undefined" }
  | { readonly kind: "error"; readonly code: string; readonly message: string }
  | { readonly kind: "end" };

interface OwnModule {
  readonly imports: string[];
  readonly rules: { readonly names: readonly string[]; readonly text: string }[];
}

/** The words of a session. */
const SESSION_HELP = `<query>            the value or the solutions of a query: data.authz.allow, x := [1, 2][_]
<rule>             defines a rule in the current package: limit := 3, big if input.n > limit;
                   a complete rule with := takes the place of an earlier one
input := <term>    gives another input
package <path>     goes to a package; its rules are seen by their names
import <path>      imports into the current package
show               what this session has defined in the current package
unset <name>       takes a rule of this session back, or input
deps <query>       what a query reads
explain <path>     which rules held, the literal each failed at
help, exit
A line that does not end a statement is continued by the next; an empty line ends it.`;

/** A name for the value of a query that is one term; no query has it. */
const VALUE = "value__";

/** Rules and queries line by line, as in OPA's REPL. Does no I/O. */
export class PolicySession {
  readonly #parts: SessionParts;
  readonly #modules = new Map<string, OwnModule>();
  #policy: Policy;
  #package = "repl";
  #input: unknown;
  #lines: string[] = [];

  /** Throws `RegoCompileError` for sources that do not compile. */
  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#input = parts.input;
    this.#policy = compile(parts.sources, parts.options);
  }

  /** A statement has begun and not ended. */
  get open(): boolean {
    return this.#lines.length > 0;
  }

  enter(line: string): SessionAnswer {
    if (!this.open) {
      if (line.trim() === "") return { kind: "nothing" };
      const [word = "", ...rest] = line.trim().split(/\s+/);
      const answer = this.#command(word, rest.join(" "));
      if (answer !== undefined) return answer;
    }
    this.#lines.push(line);
    const text = this.#lines.join("\n");
    const statement = this.#read(text);
    if ("problems" in statement && line.trim() !== "") return { kind: "more" };
    this.#lines = [];
    try {
      if ("problems" in statement) throw new RegoCompileError(statement.problems);
      return statement.run();
    } catch (error) {
      if (!(error instanceof RegoCompileError)) throw error;
      const [problem] = error.problems;
      return { kind: "error", code: problem?.code ?? "", message: error.problems.map(told).join("\n") };
    }
  }

  #command(word: string, rest: string): SessionAnswer | undefined {
    const alone = rest === "";
    if (alone && (word === "exit" || word === "quit")) return { kind: "end" };
    if (alone && word === "help") return { kind: "told", text: SESSION_HELP };
    if (alone && word === "show") return { kind: "told", text: this.#textOf(this.#package) };
    if (alone) return undefined;
    switch (word) {
      case "package":
        return this.#attempt(() => {
          const { module, problems } = parseModule({ name: "repl", source: `package ${rest}` });
          if (module === undefined) throw new RegoCompileError(problems);
          this.#package = rest;
          return undefined;
        });
      case "import":
        return this.#attempt(() => this.#change((own) => void own.imports.push(rest)));
      case "unset":
        return this.#unset(rest);
      case "deps":
        return this.#attempt(() => {
          const { base, virtual } = this.#policy.dependencies(rest, this.#place());
          return { kind: "value", value: { base, virtual } };
        });
      case "explain": {
        const { result, rules } = this.#policy.explain(rest, this.#input, this.#parts.settings());
        if (result.kind === "error") return result;
        const lines = rules.map(
          ({ rule, held, failedAt, text }) => `${held ? "held  " : "failed"} ${rule}${failedAt === undefined ? "" : `: ${text}`}`,
        );
        return {
          kind: "told",
          text: [result.kind === "defined" ? writeJson(result.value) : "undefined", ...lines].join("\n"),
        };
      }
      default:
        return undefined;
    }
  }

  #attempt(work: () => SessionAnswer | undefined): SessionAnswer {
    try {
      return work() ?? { kind: "nothing" };
    } catch (error) {
      if (!(error instanceof RegoCompileError)) throw error;
      return { kind: "error", code: error.problems[0]?.code ?? "", message: error.problems.map(told).join("\n") };
    }
  }

  #unset(name: string): SessionAnswer {
    if (name === "input") {
      this.#input = this.#parts.input;
      return { kind: "nothing" };
    }
    const own = this.#modules.get(this.#package);
    if (own === undefined || !own.rules.some(({ names }) => names.includes(name))) {
      return { kind: "error", code: "not_found", message: `this session has no rule ${name} in package ${this.#package}` };
    }
    return this.#attempt(() =>
      this.#change(
        (changed) =>
          void changed.rules.splice(0, Number.POSITIVE_INFINITY, ...changed.rules.filter(({ names }) => !names.includes(name))),
      ),
    );
  }

  /** What a text is: a rule of this session, another input, or a query; its problems where it is none of them. */
  #read(text: string): { readonly run: () => SessionAnswer } | { readonly problems: readonly Problem[] } {
    const { body, problems } = parseQuery(text);
    const [first] = body ?? [];
    const expr = body?.length === 1 && first?.negated === false && first.with.length === 0 ? first.expr : undefined;
    if (expr?.kind === "assign" && expr.left.kind === "var" && expr.left.name === "input") {
      const value = text.slice(text.indexOf(":=") + 2);
      return { run: () => this.#putInput(value) };
    }
    if (body !== undefined && expr?.kind !== "assign") return { run: () => this.#ask(text, expr?.kind === "term") };
    const { module, problems: others } = parseModule({ name: "repl", source: `package repl; ${text}` });
    if (module !== undefined && module.rules.length > 0 && module.imports.length === 0) {
      const names = [...new Set(module.rules.map(({ head }) => head.ref[0].name))];
      const whole = module.rules.flatMap(({ head: { ref, args, operator } }) =>
        ref.length === 1 && args === undefined && operator === ":=" ? [ref[0].name] : [],
      );
      return { run: () => this.#define(names, new Set(whole), text) };
    }
    // an assignment to a pattern is a query
    if (body !== undefined) return { run: () => this.#ask(text, false) };
    const [query] = problems;
    const [rule] = others;
    const rows = ({ row, col }: Problem): number => row * 1_000_000 + col;
    return { problems: query !== undefined && (rule === undefined || rows(query) >= rows(rule)) ? problems : others };
  }

  /** Rules that are given `whole`, as `limit := 3`, take the place of those of that name, as in OPA's REPL; others join them. */
  #define(names: readonly string[], whole: ReadonlySet<string>, text: string): SessionAnswer {
    let replaced = false;
    this.#change((own) => {
      const kept = own.rules.filter((rule) => !rule.names.some((name) => whole.has(name)));
      replaced = kept.length < own.rules.length;
      own.rules.splice(0, own.rules.length, ...kept, { names, text });
    });
    return { kind: "told", text: `rule ${names.join(", ")} ${replaced ? "re-defined" : "defined"} in package ${this.#package}` };
  }

  /** Changes what the session has in the current package, if everything still compiles. */
  #change(edit: (own: OwnModule) => void): undefined {
    const before = this.#modules.get(this.#package);
    const own: OwnModule = { imports: [...(before?.imports ?? [])], rules: [...(before?.rules ?? [])] };
    edit(own);
    const modules = new Map(this.#modules).set(this.#package, own);
    const sources = [...modules.keys()].map((name) => ({ name: `repl/${name}`, source: this.#textOf(name, modules) }));
    this.#policy = compile([...this.#parts.sources, ...sources], this.#parts.options);
    this.#modules.set(this.#package, own);
  }

  #textOf(name: string, modules: ReadonlyMap<string, OwnModule> = this.#modules): string {
    const own = modules.get(name);
    const imports = (own?.imports ?? []).map((path) => `import ${path}`);
    return [
      `package ${name}`,
      ...(imports.length === 0 ? [] : [imports.join("\n")]),
      ...(own?.rules ?? []).map(({ text }) => text),
    ].join("\n\n");
  }

  #putInput(term: string): SessionAnswer {
    const answer = this.#ask(term, true);
    if (answer.kind !== "value") return answer.kind === "error" ? answer : { kind: "undefined" };
    this.#input = answer.value;
    return { kind: "nothing" };
  }

  /** Where a query is read: by the names of the current package and its imports. */
  #place(): { readonly package: string; readonly imports: readonly string[] } {
    return { package: this.#package, imports: this.#modules.get(this.#package)?.imports ?? [] };
  }

  #ask(text: string, isTerm: boolean): SessionAnswer {
    const asked = isTerm ? `${VALUE} := ${text.trim()}` : text;
    const answer = this.#policy.query(asked, this.#input, { ...this.#parts.settings(), ...this.#place() });
    if (answer.kind === "error") return answer;
    const rows = answer.bindings.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name === VALUE ? "value" : name, value])),
    );
    const [first] = rows;
    if (first === undefined) return { kind: "undefined" };
    const names = Object.keys(first);
    if (names.length === 0) return { kind: "value", value: true };
    if (isTerm && names.length === 1 && rows.length === 1) return { kind: "value", value: first["value"] };
    return { kind: "rows", rows };
  }
}

function told({ row, col, code, message, file }: Problem): string {
  return `${file}:${row}:${col}: ${code}: ${message}`;
}
