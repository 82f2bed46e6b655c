import { decodeComponent } from "./target.ts";

/** Where a method and path lead. `other`: the path exists, but not with this method. */
export type Match<T> =
  | { readonly kind: "found"; readonly value: T; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: "other"; readonly allow: readonly string[] }
  | { readonly kind: "none" };

interface Node<T> {
  readonly statics: Map<string, Node<T>>;
  param: Node<T> | undefined;
  /** Value and parameter names by method. */
  readonly ends: Map<string, { readonly value: T; readonly names: readonly string[] }>;
}

/**
 * Matches paths by segment: the static segment before the parameter at each position, whatever the order of registration.
 * Case and trailing slashes count, a static segment is compared as sent (an escaped one does not match), an empty segment is no
 * parameter. `HEAD` falls back to `GET`. Both servers use this one router, so that a path means the same on both.
 */
export function router<T>(
  routes: Iterable<{ readonly method: string; readonly path: string; readonly value: T }>,
): (method: string, path: string) => Match<T> {
  const root = emptyNode<T>();
  for (const { method, path, value } of routes) {
    const names: string[] = [];
    let node = root;
    for (const segment of path.split("/").slice(1)) {
      if (segment.startsWith(":")) {
        names.push(segment.slice(1));
        node.param ??= emptyNode();
        node = node.param;
      } else {
        const next: Node<T> = node.statics.get(segment) ?? emptyNode<T>();
        node.statics.set(segment, next);
        node = next;
      }
    }
    node.ends.set(method, { value, names });
  }

  return (method, path) => {
    if (!path.startsWith("/")) return { kind: "none" };
    const segments = path.split("/").slice(1);
    const allow = new Set<string>();
    const found = walk(root, segments, 0, [], (node, values) => {
      const end = node.ends.get(method) ?? (method === "HEAD" ? node.ends.get("GET") : undefined);
      for (const known of node.ends.keys()) allow.add(known);
      if (end === undefined) return undefined;
      const params = Object.fromEntries(end.names.map((name, i) => [name, decodeComponent(values[i] ?? "")]));
      return { kind: "found", value: end.value, params } as const;
    });
    if (found !== undefined) return found;
    if (allow.size === 0) return { kind: "none" };
    if (allow.has("GET")) allow.add("HEAD");
    return { kind: "other", allow: [...allow, "OPTIONS"].sort() };
  };
}

function emptyNode<T>(): Node<T> {
  return { statics: new Map(), param: undefined, ends: new Map() };
}

function walk<T, R>(
  node: Node<T>,
  segments: readonly string[],
  at: number,
  values: readonly string[],
  end: (node: Node<T>, values: readonly string[]) => R | undefined,
): R | undefined {
  const segment = segments[at];
  if (segment === undefined) return end(node, values);
  const next = node.statics.get(segment);
  const found = next === undefined ? undefined : walk(next, segments, at + 1, values, end);
  if (found !== undefined || node.param === undefined || segment === "") return found;
  return walk(node.param, segments, at + 1, [...values, segment], end);
}
