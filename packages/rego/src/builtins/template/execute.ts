import { BuiltinError, EvaluationError } from "../../errors.ts";
import { allocateText, tick } from "../../value/meter.ts";
import { functions, goText, isList, type TemplateFunction, truth, typeOf } from "./functions.ts";
import { Float, type GoValue, JsonNumber } from "./literals.ts";
import type { Node, Operand, Pipeline, Templates } from "./parse.ts";

/** Go's bound is 100,000; this one keeps the stack. */
const MAX_DEPTH = 100;

/** What stands for a value that is missing or nil, as newer versions of OPA write it. */
const UNDEFINED = "<undefined>";

type Signal = "break" | "continue" | undefined;

function fail(message: string): never {
  throw new BuiltinError(`template: template: ${message}`);
}

/** The output of the template `template` for its variables. */
export function execute(templates: Templates, variables: GoValue): string {
  const out: string[] = [];
  new Execution(templates, out, variables, 0).walk(templates.get("template") ?? [], variables);
  return out.join("");
}

class Execution {
  readonly #templates: Templates;
  readonly #out: string[];
  readonly #depth: number;
  readonly #variables: { readonly name: string; value: GoValue }[];

  constructor(templates: Templates, out: string[], root: GoValue, depth: number) {
    this.#templates = templates;
    this.#out = out;
    this.#depth = depth;
    this.#variables = [{ name: "$", value: root }];
  }

  walk(nodes: readonly Node[], dot: GoValue): Signal {
    for (const node of nodes) {
      tick();
      switch (node.kind) {
        case "text":
          this.#write(node.text);
          break;
        case "action": {
          const value = this.#pipeline(dot, node.pipeline);
          if (node.pipeline.declares.length === 0) this.#write(value === undefined ? UNDEFINED : goText(value));
          break;
        }
        case "break":
        case "continue":
          return node.kind;
        case "template":
          this.#template(dot, node);
          break;
        default: {
          const known = this.#variables.length;
          const signal = node.kind === "range" ? this.#range(dot, node) : this.#branch(dot, node);
          this.#variables.length = known;
          if (signal !== undefined) return signal;
        }
      }
    }
    return undefined;
  }

  #write(text: string): void {
    allocateText(text.length);
    this.#out.push(text);
  }

  #branch(dot: GoValue, node: Node & { kind: "if" | "with" | "range" }): Signal {
    const value = this.#pipeline(dot, node.pipeline);
    if (truth(value)) return this.walk(node.body, node.kind === "with" ? value : dot);
    return node.otherwise === undefined ? undefined : this.walk(node.otherwise, dot);
  }

  #range(dot: GoValue, node: Node & { kind: "if" | "with" | "range" }): Signal {
    const { pipeline, body, otherwise } = node;
    const over = this.#pipeline(dot, pipeline);
    const mark = this.#variables.length;
    let ran = false;
    const [first, second] = pipeline.declares;
    for (const [key, item] of this.#elements(over, second !== undefined)) {
      tick();
      ran = true;
      if (first !== undefined) this.#put(first, second === undefined ? item : key, pipeline, mark);
      if (second !== undefined) this.#put(second, item, pipeline, mark);
      const signal = this.walk(body, item);
      this.#variables.length = mark;
      if (signal === "break") break;
    }
    return ran || otherwise === undefined ? undefined : this.walk(otherwise, dot);
  }

  /** Fills a variable of a range: one that the range declared, or with `=` one that exists. */
  #put(name: string, value: GoValue, pipeline: Pipeline, mark: number): void {
    if (pipeline.assigns) {
      this.#assign(name, value);
      return;
    }
    const from = mark - pipeline.declares.length;
    for (let i = from; i < mark; i++) {
      const variable = this.#variables[i];
      if (variable?.name === name) variable.value = value;
    }
  }

  *#elements(over: GoValue, pairs: boolean): Generator<readonly [GoValue, GoValue]> {
    if (over === undefined) return;
    if (typeof over === "bigint") {
      if (pairs) fail(`can't use ${over} to iterate over more than one variable`);
      for (let i = 0n; i < over; i++) yield [undefined, i];
    } else if (isList(over)) {
      for (const [i, item] of over.entries()) yield [BigInt(i), item];
    } else if (over instanceof Map) yield* over;
    else fail(`range can't iterate over ${goText(over)}`);
  }

  #template(dot: GoValue, node: Node & { kind: "template" }): void {
    const nodes = this.#templates.get(node.name);
    if (nodes === undefined) fail(`template "${node.name}" not defined`);
    if (this.#depth >= MAX_DEPTH) throw new EvaluationError("eval_limit_error", "templates call each other too deeply");
    const value = node.pipeline === undefined ? undefined : this.#pipeline(dot, node.pipeline);
    new Execution(this.#templates, this.#out, value, this.#depth + 1).walk(nodes, value);
  }

  #assign(name: string, value: GoValue): void {
    const variable = this.#variables.findLast((v) => v.name === name);
    if (variable === undefined) fail(`undefined variable: ${name}`);
    variable.value = value;
  }

  #pipeline(dot: GoValue, { commands, declares, assigns }: Pipeline): GoValue {
    let piped: readonly GoValue[] = [];
    for (const command of commands) piped = [this.#command(dot, command, piped)];
    const [value] = piped;
    for (const name of declares) {
      if (assigns) this.#assign(name, value);
      else this.#variables.push({ name, value });
    }
    return value;
  }

  /** One command; `piped` is the value of the one before, its last argument. */
  #command(dot: GoValue, [head, ...args]: readonly Operand[], piped: readonly GoValue[]): GoValue {
    tick();
    const first = head as Operand;
    if (first.kind === "call") return this.#call(dot, first.name, args, piped);
    if (args.length + piped.length > 0) fail("can't give argument to non-function");
    if (first.kind === "nil") fail("nil is not a command");
    return this.#value(dot, first);
  }

  #value(dot: GoValue, operand: Operand): GoValue {
    switch (operand.kind) {
      case "constant":
        return operand.value;
      case "nil":
        return undefined;
      case "dot":
        return dot;
      case "variable":
        return this.#variables.findLast((v) => v.name === operand.name)?.value;
      case "pipeline":
        return this.#pipeline(dot, operand.pipeline);
      case "call":
        return this.#call(dot, operand.name, [], []);
      case "fields": {
        if (operand.of.kind === "nil") fail("indirection through explicit nil");
        return operand.names.reduce((at, name) => field(at, name), this.#value(dot, operand.of));
      }
    }
  }

  #call(dot: GoValue, name: string, args: readonly Operand[], piped: readonly GoValue[]): GoValue {
    if (name === "and" || name === "or") {
      if (args.length + piped.length === 0) fail(`wrong number of args for ${name}: want at least 1 got 0`);
      let value: GoValue;
      for (const arg of args) {
        value = this.#value(dot, arg);
        if (truth(value) === (name === "or")) return value;
      }
      return piped.length > 0 ? piped[0] : value;
    }
    const called = functions.get(name) as TemplateFunction;
    const count = args.length + piped.length;
    if (count < called.least || count > (called.most ?? count)) fail(`wrong number of args for ${name}: got ${count}`);
    return called.run([...args.map((arg) => this.#value(dot, arg)), ...piped]);
  }
}

/** A member of an object, or one of the methods of json.Number. */
function field(value: GoValue, name: string): GoValue {
  if (value === undefined) return undefined;
  if (value instanceof Map) return value.get(name);
  if (value instanceof JsonNumber) {
    if (name === "String") return value.text;
    if (name === "Float64") return new Float(Number(value.text));
    if (name === "Int64") {
      if (!/^-?\d{1,19}$/.test(value.text) || BigInt.asIntN(64, BigInt(value.text)) !== BigInt(value.text)) {
        fail(`error calling Int64: strconv.ParseInt: parsing "${value.text}": invalid syntax`);
      }
      return BigInt(value.text);
    }
  }
  return fail(`can't evaluate field ${name} in type ${typeOf(value)}`);
}
