import { BuiltinError } from "../errors.ts";
import { allocate, tick } from "../value/meter.ts";
import { equal, getKey, isArray, isObject, RegoObject, RegoSet, sortedKeys, typeName, type Value } from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";

type Path = readonly Value[];

/** A path as `a/b~1c` or as an array of its parts. */
function readPath(value: Value): Path {
  if (typeof value === "string") {
    if (value === "") return [];
    return value
      .replace(/^\/+/, "")
      .split("/")
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  if (isArray(value)) return value;
  throw new BuiltinError(
    `operand 2 must be one of {set, array} containing string paths or array of path segments but got ${typeName(value)}`,
    "eval_type_error",
  );
}

/** Paths as a tree; null marks the end of one, which hides longer ones. */
function pathTree(paths: Value): RegoObject {
  const root = new RegoObject();
  for (const item of isArray(paths) ? paths : (paths as RegoSet).sorted()) {
    const path = readPath(item);
    const last = path.at(-1);
    if (last === undefined) continue;
    let node = root;
    let covered = false;
    for (const part of path.slice(0, -1)) {
      const child = node.get(part);
      if (child === null) {
        covered = true;
        break;
      }
      if (child instanceof RegoObject) node = child;
      else {
        const made = new RegoObject();
        node.set(part, made);
        node = made;
      }
    }
    if (!covered) node.set(last, null);
  }
  return root;
}

function filter(value: Value, tree: Value): Value {
  tick();
  if (!(tree instanceof RegoObject)) return value;
  if (isArray(value)) {
    return value.flatMap((item, i) => {
      const below = tree.get(String(i));
      return below === undefined ? [] : [filter(item, below)];
    });
  }
  if (value instanceof RegoSet) {
    const out = new RegoSet();
    for (const item of value.sorted()) {
      const below = tree.get(item);
      if (below !== undefined) out.add(filter(item, below));
    }
    return out;
  }
  if (!isObject(value)) return value;
  const out = new RegoObject();
  for (const key of sortedKeys(value)) {
    const below = tree.get(key);
    if (below !== undefined) out.set(key, filter(getKey(value, key) as Value, below));
  }
  return out;
}

function remove(value: Value, tree: Value | undefined): Value | undefined {
  tick();
  if (tree === null) return undefined;
  if (!(tree instanceof RegoObject)) return value;
  if (isArray(value)) {
    return value.flatMap((item, i) => {
      const kept = remove(item, tree.get(String(i)));
      return kept === undefined ? [] : [kept];
    });
  }
  if (value instanceof RegoSet) {
    const out = new RegoSet();
    for (const item of value.sorted()) {
      const kept = remove(item, tree.get(item));
      if (kept !== undefined) out.add(kept);
    }
    return out;
  }
  if (!isObject(value)) return value;
  const out = new RegoObject();
  for (const key of sortedKeys(value)) {
    const kept = remove(getKey(value, key) as Value, tree.get(key));
    if (kept !== undefined) out.set(key, kept);
  }
  return out;
}

/** Signals a patch that cannot be applied: `json.patch` is undefined then. */
class Inapplicable extends Error {}

function index(part: Value, length: number): number {
  const i = typeof part === "number" ? part : typeof part === "string" && /^(0|[1-9]\d*)$/.test(part) ? Number(part) : -1;
  if (!Number.isInteger(i) || i < 0 || i > length) throw new Inapplicable();
  return i;
}

function child(value: Value, part: Value): Value {
  let found: Value | undefined;
  if (isArray(value)) found = value[index(part, value.length)];
  else if (value instanceof RegoSet) found = value.has(part) ? part : undefined;
  else if (isObject(value)) found = getKey(value, part);
  if (found === undefined) throw new Inapplicable();
  return found;
}

function at(value: Value, path: Path): Value {
  return path.reduce(child, value);
}

/** `value` with the member at `path` changed; `change` gets the parent and the last part. */
function edit(value: Value, path: Path, change: (parent: Value, part: Value) => Value): Value {
  tick();
  const [part, ...rest] = path as readonly [Value, ...Value[]];
  if (rest.length === 0) return change(value, part);
  const edited = edit(child(value, part), rest, change);
  return replaceMember(value, part, edited);
}

function replaceMember(value: Value, part: Value, by: Value): Value {
  if (isArray(value)) {
    allocate(value.length);
    return value.with(index(part, value.length - 1), by);
  }
  if (value instanceof RegoSet) return RegoSet.of([...value.sorted().filter((item) => !equal(item, part)), by]);
  return copyWithout(value, part, [[part, by]]);
}

function copyWithout(object: Value, part: Value, more: readonly (readonly [Value, Value])[]): RegoObject {
  if (!isObject(object)) throw new Inapplicable();
  const kept = sortedKeys(object).filter((key) => !equal(key, part));
  return RegoObject.of([...kept.map((key) => [key, getKey(object, key) as Value] as const), ...more]);
}

function insert(value: Value, path: Path, put: Value): Value {
  if (path.length === 0) return put;
  return edit(value, path, (parent, part) => {
    if (isArray(parent)) {
      allocate(parent.length + 1);
      return parent.toSpliced(part === "-" ? parent.length : index(part, parent.length), 0, put);
    }
    if (parent instanceof RegoSet) {
      if (!equal(part, put)) throw new Inapplicable();
      return RegoSet.of([...parent.sorted(), put]);
    }
    return copyWithout(parent, part, [[part, put]]);
  });
}

function drop(value: Value, path: Path): Value {
  if (path.length === 0) return null;
  return edit(value, path, (parent, part) => {
    child(parent, part);
    if (isArray(parent)) {
      allocate(parent.length);
      return parent.toSpliced(index(part, parent.length - 1), 1);
    }
    if (parent instanceof RegoSet) return RegoSet.of(parent.sorted().filter((item) => !equal(item, part)));
    return copyWithout(parent, part, []);
  });
}

function applyPatch(value: Value, patch: Value): Value {
  if (!isObject(patch)) throw new Inapplicable();
  const attribute = (name: string): Value => {
    const found = getKey(patch, name);
    if (found === undefined) throw new Inapplicable();
    return found;
  };
  const path = readPath(attribute("path"));
  switch (attribute("op")) {
    case "add":
      return insert(value, path, attribute("value"));
    case "remove":
      return drop(value, path);
    case "replace": {
      const put = attribute("value");
      return path.length === 0 ? put : insert(drop(value, path), path, put);
    }
    case "move": {
      const from = readPath(attribute("from"));
      const moved = at(value, from);
      return insert(drop(value, from), path, moved);
    }
    case "copy":
      return insert(value, path, at(value, readPath(attribute("from"))));
    case "test":
      if (!equal(at(value, path), attribute("value"))) throw new Inapplicable();
      return value;
    default:
      throw new Inapplicable();
  }
}

/** Paths into documents: filter, remove, patch. */
export const documentBuiltins: readonly Builtin[] = [
  define("json.filter", "{}, <any>|[any] -> any", ([o, paths]) => filter(o as Value, pathTree(paths as Value))),
  define("json.remove", "{}, <any>|[any] -> any", ([o, paths]) => remove(o as Value, pathTree(paths as Value))),
  define("json.patch", "any, [any] -> any", ([value, patches]) => {
    try {
      return (patches as readonly Value[]).reduce(applyPatch, value as Value);
    } catch (error) {
      if (error instanceof Inapplicable || error instanceof BuiltinError) return undefined;
      throw error;
    }
  }),
];
