import { bytesToText, textToBytes } from "../bytes.ts";
import { refuse, type Token } from "./lex.ts";

/** A number of the template's variables: Go has it as `json.Number`, a string of its digits. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A float64. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** A value as Go's templates see it: integers are bigint, nil and what is missing are undefined. */
export type GoValue =
  | undefined
  | boolean
  | string
  | bigint
  | Float
  | JsonNumber
  | readonly GoValue[]
  | ReadonlyMap<string, GoValue>;

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, "\\": 92, '"': 34, "'": 39 };

/** The text of a Go string literal. */
export function unquote({ text, line }: Token): string {
  if (text.startsWith("`")) return text.slice(1, -1).replaceAll("\r", "");
  return bytesToText(Uint8Array.from(bytesOf(text.slice(1, -1), "'", line)));
}

function bytesOf(body: string, forbidden: string, line: number): readonly number[] {
  const out: number[] = [];
  for (let i = 0; i < body.length; i++) {
    const c = body.codePointAt(i) as number;
    if (c !== 92) {
      out.push(...textToBytes(String.fromCodePoint(c)));
      if (c > 0xffff) i++;
      continue;
    }
    const letter = body[++i] as string;
    const simple = letter === forbidden ? undefined : ESCAPES[letter];
    const coded = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3}))/.exec(body.slice(i));
    if (simple !== undefined) out.push(simple);
    else if (coded === null) refuse(line, "invalid syntax");
    else {
      const [all, byte, short, long, octal] = coded;
      const code = Number.parseInt(byte ?? short ?? long ?? octal ?? "", octal === undefined ? 16 : 8);
      if (octal !== undefined && code > 255) refuse(line, "invalid syntax");
      if (code > 0x10ffff || (byte === undefined && octal === undefined && code >= 0xd800 && code <= 0xdfff)) {
        refuse(line, "invalid syntax");
      }
      if (byte !== undefined || octal !== undefined) out.push(code);
      else out.push(...textToBytes(String.fromCodePoint(code)));
      i += all.length - 1;
    }
  }
  return out;
}

/** The code point of a Go character literal. */
export function characterOf({ text, line }: Token): bigint {
  const decoded = bytesToText(Uint8Array.from(bytesOf(text.slice(1, -1), '"', line)));
  const [only, more] = decoded;
  if (only === undefined || more !== undefined) return refuse(line, `malformed character constant: ${text}`);
  return BigInt(only.codePointAt(0) as number);
}

/** The value of a Go number literal: int or float64 by its syntax. */
export function numberOf({ text, line }: Token): bigint | Float {
  const bad = (): never => refuse(line, `illegal number syntax: "${text}"`);
  if (text.endsWith("i")) return refuse(line, "complex numbers are not supported");
  const [, sign, digits] = /^([+-]?)(.*)$/.exec(text) as unknown as [string, string, string];
  const isHex = /^0[xX]/.test(digits);
  if (isHex ? /[.pP]/.test(digits) : /[.eE]/.test(digits)) {
    if (isHex || !/^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(digits)) return bad();
    const value = Number(sign + digits);
    return Number.isFinite(value) ? new Float(value) : bad();
  }
  if (!/^(?:0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0(?:_?[0-7])*|[1-9](?:_?\d)*)$/.test(digits)) return bad();
  const plain = digits.replaceAll("_", "");
  const value = BigInt(/^0\d/.test(plain) ? `0o${plain.slice(1)}` : plain) * (sign === "-" ? -1n : 1n);
  if (value < -(2n ** 63n) || value >= 2n ** 63n) refuse(line, `${text} overflows int`);
  return value;
}
