import { BuiltinError } from "../errors.ts";
import { charge } from "../value/meter.ts";
import { isArray, typeName, type Value } from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";
import { elementError } from "./collections.ts";

/** A state of a glob's automaton: characters that lead on, and states reached without one. */
interface State {
  readonly accepts: ((c: string) => boolean) | undefined;
  readonly to: number;
  readonly free: readonly number[];
}

const MAX_CACHED = 256;
const cache = new Map<string, readonly State[]>();

/** Compiles a glob in gobwas's syntax to a nondeterministic automaton; state 0 is the end. */
class GlobCompiler {
  readonly #states: State[] = [{ accepts: undefined, to: 0, free: [] }];
  readonly #points: readonly string[];
  readonly #separators: ReadonlySet<string>;
  #at = 0;

  constructor(pattern: string, separators: ReadonlySet<string>) {
    this.#points = [...pattern];
    this.#separators = separators;
  }

  compile(): readonly State[] {
    const build = this.#sequence(0);
    if (this.#at < this.#points.length) throw new BuiltinError(`unexpected ${JSON.stringify(this.#points[this.#at])}`);
    this.#states.push({ accepts: undefined, to: 0, free: [build(0)] });
    return this.#states;
  }

  #add(state: State): number {
    this.#states.push(state);
    return this.#states.length - 1;
  }

  /** Reads a sequence up to `,` or `}` (inside of braces) or the end; what it returns adds its states before `next`. */
  #sequence(depth: number): (next: number) => number {
    const parts: ((next: number) => number)[] = [];
    while (this.#at < this.#points.length) {
      const c = this.#points[this.#at] as string;
      if (depth > 0 && (c === "," || c === "}")) break;
      this.#at++;
      parts.push(this.#part(c, depth));
    }
    return (next) => parts.reduceRight((after, part) => part(after), next);
  }

  #part(c: string, depth: number): (next: number) => number {
    const one = (accepts: (c: string) => boolean) => (next: number) => this.#add({ accepts, to: next, free: [] });
    const separators = this.#separators;
    switch (c) {
      case "*": {
        const many = this.#points[this.#at] === "*";
        while (this.#points[this.#at] === "*") this.#at++;
        const accepts = many ? () => true : (d: string) => !separators.has(d);
        return (next) => {
          const loop = this.#states.length;
          this.#states.push({ accepts, to: loop, free: [next] });
          return loop;
        };
      }
      case "?":
        return one((d) => !separators.has(d));
      case "[":
        return one(this.#range());
      case "{": {
        if (depth > 100) throw new BuiltinError("glob: nested too deeply");
        const choices: ((next: number) => number)[] = [];
        for (;;) {
          choices.push(this.#sequence(depth + 1));
          const c = this.#points[this.#at];
          if (c === undefined) break;
          this.#at++;
          if (c === "}") break;
        }
        return (next) => this.#add({ accepts: undefined, to: 0, free: choices.map((choice) => choice(next)) });
      }
      case "\\": {
        const d = this.#points[this.#at++];
        if (d === undefined) return one((x) => x === "\\");
        return one((x) => x === d);
      }
      default:
        return one((x) => x === c);
    }
  }

  #range(): (c: string) => boolean {
    const unexpected = (): never => {
      throw new BuiltinError("glob: unexpected end of input");
    };
    let negated = false;
    if (this.#points[this.#at] === "!") {
      negated = true;
      this.#at++;
    }
    const first = this.#points[this.#at] ?? unexpected();
    if (this.#points[this.#at + 1] === "-") {
      const high = this.#points[this.#at + 2] ?? unexpected();
      if (this.#points[this.#at + 3] !== "]") throw new BuiltinError("glob: expected close range character");
      this.#at += 4;
      const [low, top] = [first.codePointAt(0) as number, high.codePointAt(0) as number];
      if (top < low)
        throw new BuiltinError(`glob: hi character ${JSON.stringify(high)} should be greater than lo ${JSON.stringify(first)}`);
      return (c) => {
        const p = c.codePointAt(0) as number;
        return (p >= low && p <= top) !== negated;
      };
    }
    const set = new Set<string>();
    for (;;) {
      let c = this.#points[this.#at++] ?? unexpected();
      if (c === "]") break;
      if (c === "\\") c = this.#points[this.#at++] ?? unexpected();
      set.add(c);
    }
    if (set.size === 0) throw new BuiltinError("glob: empty range");
    return (c) => set.has(c) !== negated;
  }
}

function automaton(pattern: string, separators: ReadonlySet<string>): readonly State[] {
  const key = `${[...separators].join("")}\u0000${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  charge(pattern.length * 20 + 100);
  if (pattern.length > 10_000) throw new BuiltinError("glob: pattern is too long");
  const states = new GlobCompiler(pattern, separators).compile();
  charge(states.length);
  if (cache.size >= MAX_CACHED) {
    for (const oldest of cache.keys()) {
      cache.delete(oldest);
      break;
    }
  }
  cache.set(key, states);
  return states;
}

function matches(states: readonly State[], text: string): boolean {
  let current = new Set<number>();
  const enter = (set: Set<number>, start: number): void => {
    const stack = [start];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (set.has(at)) continue;
      set.add(at);
      stack.push(...(states[at] as State).free);
    }
  };
  enter(current, states.length - 1);
  for (const c of text) {
    charge(current.size + 1);
    const next = new Set<number>();
    for (const at of current) {
      const state = states[at] as State;
      if (state.accepts?.(c) === true) enter(next, state.to);
    }
    if (next.size === 0) return false;
    current = next;
  }
  return current.has(0);
}

/** Globs: linear in pattern times text. */
export const globBuiltins: readonly Builtin[] = [
  define("glob.match", "string, [string]|null, string -> boolean", ([pattern, delimiters, text]) => {
    let separators = new Set<string>();
    if (delimiters !== null) {
      const list = delimiters as Value;
      if (!isArray(list))
        throw new BuiltinError(`operand 2 must be one of {array, null} but got ${typeName(list)}`, "eval_type_error");
      for (const item of list) {
        if (typeof item !== "string") throw elementError(2, list, item, "string");
        if ([...item].length !== 1) throw elementError(2, list, item, "rune");
        separators.add(item);
      }
      if (list.length === 0) separators = new Set(["."]);
    }
    return matches(automaton(pattern as string, separators), text as string);
  }),
  define("glob.quote_meta", "string -> string", ([s]) => (s as string).replace(/[*?\\[\]{}]/g, "\\$&")),
];
