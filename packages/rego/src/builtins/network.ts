import { BuiltinError } from "../errors.ts";
import { allocate, tick } from "../value/meter.ts";
import { getKey, isArray, isObject, RegoSet, sortedKeys, type Value } from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";

/** An address; IPv4-mapped IPv6 counts as IPv4, as in Go. */
interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

interface Network {
  readonly first: Address;
  readonly prefix: number;
  /** How it prints: the address that was given, where no mask was. */
  readonly text: string;
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseV6(text: string): bigint | undefined {
  let body = text;
  let tail: bigint[] = [];
  const dot = body.lastIndexOf(":");
  if (body.includes(".")) {
    const v4 = parseV4(body.slice(dot + 1));
    if (v4 === undefined || dot < 0) return undefined;
    tail = [v4 >> 16n, v4 & 0xffffn];
    body = body.slice(0, dot + 1);
    if (!body.endsWith("::")) body = body.slice(0, -1);
  }
  const halves = body.split("::");
  if (halves.length > 2) return undefined;
  const groups = (half: string): bigint[] | undefined => {
    if (half === "") return [];
    const out: bigint[] = [];
    for (const group of half.split(":")) {
      if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
      out.push(BigInt(`0x${group}`));
    }
    return out;
  };
  const left = groups(halves[0] ?? "");
  const right = groups(halves[1] ?? "");
  if (left === undefined || right === undefined) return undefined;
  const have = left.length + right.length + tail.length;
  if (halves.length === 1 ? have !== 8 : have > 7) return undefined;
  const all = [...left, ...new Array<bigint>(8 - have).fill(0n), ...right, ...tail];
  return all.reduce((value, group) => (value << 16n) | group, 0n);
}

function settle(value: bigint): Address {
  return value >> 32n === 0xffffn ? { bits: 32, value: value & 0xffffffffn } : { bits: 128, value };
}

/** An address without port, zone or prefix; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  if (!text.includes(":")) {
    const value = parseV4(text);
    return value === undefined ? undefined : { bits: 32, value };
  }
  const value = parseV6(text);
  return value === undefined ? undefined : settle(value);
}

function masked(value: bigint, bits: number, prefix: number): bigint {
  const host = BigInt(bits - prefix);
  return (value >> host) << host;
}

/** Go's `ParseCIDR`: the network, and the address as given. */
function parseNetwork(text: string): { readonly network: Network; readonly address: bigint } | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const digits = text.slice(slash + 1);
  const address = text.slice(0, slash);
  const v6 = address.includes(":");
  const value = v6 ? parseV6(address) : parseV4(address);
  const width = v6 ? 128 : 32;
  if (value === undefined || !/^\d{1,3}$/.test(digits) || Number(digits) > width) return undefined;
  const prefix = Number(digits);
  const base = masked(value, width, prefix);
  if (!v6) {
    const first: Address = { bits: 32, value: base };
    return { network: { first, prefix, text: `${addressText(first)}/${prefix}` }, address: value };
  }
  const first = settle(base);
  const own = first.bits === 32 ? Math.max(0, prefix - 96) : prefix;
  return { network: { first, prefix: own, text: `${addressText(first)}/${own}` }, address: value };
}

function networkOf(value: Value): Network {
  if (typeof value !== "string") throw new BuiltinError("element must be string");
  const parsed = parseNetwork(value);
  if (parsed === undefined) throw new BuiltinError(`invalid CIDR address: ${value}`);
  return parsed.network;
}

function last(network: Network): Address {
  const { bits, value } = network.first;
  return { bits, value: value | ((1n << BigInt(bits - network.prefix)) - 1n) };
}

function holds(network: Network, address: Address): boolean {
  if (network.first.bits !== address.bits) return false;
  return masked(address.value, address.bits, network.prefix) === network.first.value;
}

/** Go's `IP.String`: the longest run of zero groups, of two at least, is `::`. */
function addressText({ bits, value }: Address): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => ((value >> shift) & 255n).toString()).join(".");
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  let best = -1;
  let length = 1;
  for (let i = 0; i < 8; i++) {
    let n = 0;
    while (i + n < 8 && groups[i + n] === "0") n++;
    if (n > length) {
      best = i;
      length = n;
    }
  }
  if (best < 0) return groups.join(":");
  return `${groups.slice(0, best).join(":")}::${groups.slice(best + length).join(":")}`;
}

function contains(cidr: Value, other: Value): boolean {
  const network = networkOf(cidr);
  if (typeof other !== "string") throw new BuiltinError("operand 1 must be string", "eval_type_error");
  const address = parseAddress(other);
  if (address !== undefined) return holds(network, address);
  const inner = parseNetwork(other)?.network;
  if (inner === undefined) {
    throw new BuiltinError(`not a valid textual representation of an IP address or CIDR: ${other}`);
  }
  return holds(network, inner.first) && holds(network, last(inner));
}

/** The members of a `cidr_contains_matches` operand, each with its key in the result. */
function members(operand: Value, position: number): (readonly [Value, Value])[] {
  const cidr = (item: Value): Value => {
    if (typeof item === "string") return item;
    if (isArray(item) && item.length > 0) return item[0] as Value;
    throw new BuiltinError(`operand ${position}: element must be string or non-empty array`);
  };
  if (typeof operand === "string") return [[operand, operand]];
  if (isArray(operand)) return operand.map((item, i) => [cidr(item), i] as const);
  if (operand instanceof RegoSet) return operand.sorted().map((item) => [cidr(item), item] as const);
  if (isObject(operand)) return sortedKeys(operand).map((key) => [cidr(getKey(operand, key) as Value), key] as const);
  return [];
}

interface Range {
  readonly bits: 32 | 128;
  first: bigint;
  readonly last: bigint;
  text: string | undefined;
}

/** Networks that together hold exactly the addresses of a range. */
function rangeNetworks({ bits, first, last: end }: Range): string[] {
  const out: string[] = [];
  let at = first;
  while (at <= end) {
    tick();
    let size = 0;
    while (size < bits && (at & ((1n << BigInt(size + 1)) - 1n)) === 0n && at + (1n << BigInt(size + 1)) - 1n <= end) size++;
    out.push(`${addressText({ bits, value: at })}/${bits - size}`);
    at += 1n << BigInt(size);
  }
  return out;
}

function mergeNetworks(items: readonly Value[]): RegoSet {
  const ranges = items.map((item): Range => {
    if (typeof item !== "string") throw new BuiltinError("element must be string");
    const address = parseAddress(item);
    if (address === undefined) {
      const network = networkOf(item);
      return { bits: network.first.bits, first: network.first.value, last: last(network).value, text: network.text };
    }
    if (address.bits !== 32) throw new BuiltinError("IPv6 invalid: needs prefix length");
    const top = address.value >> 24n;
    const prefix = top < 128n ? 8 : top < 192n ? 16 : 24;
    const first: Address = { bits: 32, value: masked(address.value, 32, prefix) };
    const network: Network = { first, prefix, text: `${addressText(address)}/${prefix}` };
    return { bits: 32, first: first.value, last: last(network).value, text: network.text };
  });
  ranges.sort(
    (a, b) =>
      a.bits - b.bits || (a.last < b.last ? -1 : a.last > b.last ? 1 : a.first < b.first ? -1 : a.first > b.first ? 1 : 0),
  );
  for (let i = ranges.length - 1; i > 0; i--) {
    const [previous, current] = [ranges[i - 1] as Range, ranges[i] as Range];
    if (previous.bits !== current.bits || current.first - 1n > previous.last) continue;
    const first = previous.first < current.first ? previous.first : current.first;
    ranges.splice(i - 1, 2, { bits: current.bits, first, last: current.last, text: undefined });
  }
  return RegoSet.of(ranges.flatMap((range) => (range.text === undefined ? rangeNetworks(range) : [range.text])));
}

/** IP addresses and networks. */
export const networkBuiltins: readonly Builtin[] = [
  define("net.cidr_is_valid", "any -> boolean", ([c]) => typeof c === "string" && parseNetwork(c) !== undefined),
  define("net.cidr_contains", "string, string -> boolean", ([c, other]) => contains(c as Value, other as Value)),
  define("net.cidr_intersects", "string, string -> boolean", ([a, b]) => {
    const [x, y] = [networkOf(a as Value), networkOf(b as Value)];
    return holds(x, y.first) || holds(y, x.first);
  }),
  define("net.cidr_contains_matches", "any, any -> <any>", ([a, b]) => {
    const out = new RegoSet();
    for (const [cidr, i] of members(a as Value, 1)) {
      for (const [other, j] of members(b as Value, 2)) {
        tick();
        if (contains(cidr, other)) out.add([i, j]);
      }
    }
    return out;
  }),
  define("net.cidr_expand", "string -> <string>", ([c]) => {
    const network = networkOf(c as Value);
    const { bits, value } = network.first;
    const host = bits - network.prefix;
    allocate(host > 30 ? Number.POSITIVE_INFINITY : 2 ** host);
    const out = new RegoSet();
    for (let at = value; at <= last(network).value; at++) out.add(addressText({ bits, value: at }));
    return out;
  }),
  define("net.cidr_merge", "[any]|<string> -> <string>", ([list]) =>
    mergeNetworks(isArray(list) ? list : (list as unknown as RegoSet).sorted()),
  ),
];
