import { decodeComponent } from "./target.ts";

/** Where a method and path lead. `other`: the path exists, but not with this method; `allow` are those that it has. */
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
 * Matches paths by segment: the static segment before the parameter at each position, whatever the order of registration and
 * whatever the method: `/things/latest` is never the `/things/:id` of another method.
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
    const found = walk(root, segments, 0, []);
    if (found === undefined) return { kind: "none" };
    const { ends } = found.node;
    const end = ends.get(method) ?? (method === "HEAD" ? ends.get("GET") : undefined);
    if (end === undefined) {
      return { kind: "other", allow: [...ends.keys(), ...(ends.has("GET") ? ["HEAD"] : []), "OPTIONS"].sort() };
    }
    const params = Object.fromEntries(end.names.map((name, i) => [name, decodeComponent(found.values[i] ?? "")]));
    return { kind: "found", value: end.value, params };
  };
}

function emptyNode<T>(): Node<T> {
  return { statics: new Map(), param: undefined, ends: new Map() };
}

/** The node that a path ends at, and what its parameters are as sent. */
function walk<T>(
  node: Node<T>,
  segments: readonly string[],
  at: number,
  values: readonly string[],
): { readonly node: Node<T>; readonly values: readonly string[] } | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.ends.size === 0 ? undefined : { node, values };
  const next = node.statics.get(segment);
  const found = next === undefined ? undefined : walk(next, segments, at + 1, values);
  if (found !== undefined || node.param === undefined || segment === "") return found;
  return walk(node.param, segments, at + 1, [...values, segment]);
}
