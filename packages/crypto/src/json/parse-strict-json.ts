import type { Json } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import { cryptoError } from "../errors.ts";
import { LONE_SURROGATE } from "./lone-surrogate.ts";

const MAX_DEPTH = 64;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;

/**
 * Parses JSON that will be signed or compared (I-JSON, RFC 7493). `JSON.parse` keeps the last of two equal keys and rounds
 * big integers, so that two readers of one text see two values; this one refuses both, as it does lone surrogates and
 * nesting beyond 64. `__proto__` becomes an ordinary key. Throws `not_canonical` with the position.
 */
export function parseStrictJson(source: string): Json {
  checkArgument("source", source, "string");
  const reader = new Reader(source);
  const value = reader.value(0);
  reader.end();
  return value;
}

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  value(depth: number): Json {
    if (depth > MAX_DEPTH) throw this.#refuse("nested too deeply");
    this.#space();
    const lead = this.#source[this.#at];
    if (lead === "{") return this.#object(depth);
    if (lead === "[") return this.#array(depth);
    if (lead === '"') return this.#string();
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const) {
      if (this.#source.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#number();
  }

  end(): void {
    this.#space();
    if (this.#at < this.#source.length) throw this.#refuse("text after the value");
  }

  #object(depth: number): Json {
    const members = new Map<string, Json>();
    this.#at++;
    this.#space();
    if (this.#take("}")) return {};
    do {
      this.#space();
      const key = this.#string();
      if (members.has(key)) throw this.#refuse(`duplicate key ${JSON.stringify(key)}`);
      this.#space();
      if (!this.#take(":")) throw this.#refuse("colon expected");
      members.set(key, this.value(depth + 1));
      this.#space();
    } while (this.#take(","));
    if (!this.#take("}")) throw this.#refuse("comma or closing brace expected");
    return Object.fromEntries(members);
  }

  #array(depth: number): Json {
    const items: Json[] = [];
    this.#at++;
    this.#space();
    if (this.#take("]")) return items;
    do {
      items.push(this.value(depth + 1));
      this.#space();
    } while (this.#take(","));
    if (!this.#take("]")) throw this.#refuse("comma or closing bracket expected");
    return items;
  }

  #string(): string {
    const start = this.#at;
    if (!this.#take('"')) throw this.#refuse("string expected");
    for (; this.#source[this.#at] !== '"'; this.#at++) {
      if (this.#at >= this.#source.length) throw this.#refuse("string without an end");
      if (this.#source[this.#at] === "\\") this.#at++;
    }
    this.#at++;
    let value: string;
    try {
      value = JSON.parse(this.#source.slice(start, this.#at)) as string;
    } catch {
      throw this.#refuse("bad escape or control character");
    }
    if (LONE_SURROGATE.test(value)) throw this.#refuse("lone surrogate");
    return value;
  }

  #number(): number {
    const raw = this.#match(NUMBER);
    if (raw === undefined) throw this.#refuse("value expected");
    const value = Number(raw);
    if (!Number.isFinite(value)) throw this.#refuse("number too large");
    if (/^-?\d+$/.test(raw) && !Number.isSafeInteger(value)) throw this.#refuse("integer beyond 2^53: send it as a string");
    return value;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #take(character: string): boolean {
    if (this.#source[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    this.#match(SPACE);
  }

  #refuse(reason: string) {
    return cryptoError("not_canonical", `position ${this.#at}: ${reason}`, { position: this.#at, reason });
  }
}
