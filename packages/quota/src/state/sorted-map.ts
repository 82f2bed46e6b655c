import { checkArgument } from "@seneschal/kernel";

/**
 * An immutable map from string to V in key order (UTF-16 code units, as `<`): a B+ tree whose `set` and `delete` copy one
 * path. Old versions stay valid, so speculation is undone by dropping the new version and a snapshot is a reference.
 * Equal contents iterate equally, whatever the history: nothing depends on hash or insertion order.
 *
 * @example
 * ```ts
 * import { SortedMap } from "@seneschal/quota";
 * const a = SortedMap.empty<number>().set("b", 2).set("a", 1);
 * const b = a.delete("a");
 * console.log([...a.keys()], [...b.keys()]); // [ 'a', 'b' ] [ 'b' ]
 * ```
 */
export class SortedMap<V> {
  readonly size: number;
  readonly #root: Tree<V>;

  private constructor(root: Tree<V>, size: number) {
    this.#root = root;
    this.size = size;
  }

  static empty<V>(): SortedMap<V> {
    return new SortedMap<V>(leafOf([], []), 0);
  }

  /** From entries in any order; a later entry wins over an earlier one with its key. */
  static from<V>(entries: Iterable<readonly [string, V]>): SortedMap<V> {
    return SortedMap.empty<V>().setAll(entries);
  }

  get(key: string): V | undefined {
    const leaf = leafFor(this.#root, key);
    const at = search(leaf.keys, key);
    return leaf.keys[at] === key ? leaf.values[at] : undefined;
  }

  /** A `get` for many keys: one that follows the key before it is found at once. */
  finder(): (key: string) => V | undefined {
    let leaf: Leaf<V> | undefined;
    let at = 0;
    return (key) => {
      if (leaf !== undefined && leaf.keys[at + 1] === key) at++;
      else {
        leaf = leafFor(this.#root, key);
        at = search(leaf.keys, key);
      }
      return leaf.keys[at] === key ? leaf.values[at] : undefined;
    };
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: V): SortedMap<V> {
    const edit: Edit = { grown: 0 };
    return new SortedMap(rooted(insert(this.#root, key, value, edit), edit), this.size + edit.grown);
  }

  /** Sets all entries at once, copying every touched path once. */
  setAll(entries: Iterable<readonly [string, V]>): SortedMap<V> {
    checkArgument("entries", entries, "iterable");
    const edit: Edit = { grown: 0 };
    let root = this.#root;
    for (const [key, value] of entries) root = rooted(insert(root, key, value, edit), edit);
    return new SortedMap(root, this.size + edit.grown);
  }

  delete(key: string): SortedMap<V> {
    const root = remove(this.#root, key);
    if (root === this.#root) return this;
    let top: Tree<V> = root ?? leafOf<V>([], []);
    while (!top.leaf && top.children.length === 1) top = top.children[0] as Tree<V>;
    return new SortedMap(top, this.size - 1);
  }

  /** Entries with `from <= key < to`, ascending. */
  entries(from = "", to?: string): IterableIterator<[string, V]> {
    return walk(this.#root, from, to);
  }

  *keys(from = "", to?: string): IterableIterator<string> {
    for (const [key] of walk(this.#root, from, to)) yield key;
  }

  *values(from = "", to?: string): IterableIterator<V> {
    for (const [, value] of walk(this.#root, from, to)) yield value;
  }

  /** All entries, descending. */
  reversed(): IterableIterator<[string, V]> {
    return walkBack(this.#root);
  }
}

const WIDTH = 32;

type Tree<V> = Leaf<V> | Inner<V>;
interface Leaf<V> {
  readonly leaf: true;
  keys: string[];
  readonly values: V[];
  readonly edit: Edit | undefined;
  /** The edit that made `keys`; two nodes may share the array. */
  keysBy: Edit | undefined;
}
/** `keys[i]` is not above any key of `children[i]` and above every key of `children[i - 1]`. */
interface Inner<V> {
  readonly leaf: false;
  keys: string[];
  readonly children: Tree<V>[];
  readonly edit: Edit | undefined;
  keysBy: Edit | undefined;
}
/** One call of `setAll`: the nodes and key arrays that it made, it may change in place. */
interface Edit {
  grown: number;
}

/** The first position whose key is not below `key`. */
function search(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function childAt(keys: readonly string[], key: string): number {
  const at = search(keys, key);
  return keys[at] === key ? at : Math.max(0, at - 1);
}

function leafFor<V>(root: Tree<V>, key: string): Leaf<V> {
  let tree = root;
  while (!tree.leaf) tree = tree.children[childAt(tree.keys, key)] as Tree<V>;
  return tree;
}

function least<V>(tree: Tree<V>): string {
  return tree.keys[0] as string;
}

function leafOf<V>(keys: string[], values: V[], edit?: Edit): Leaf<V> {
  return { leaf: true, keys, values, edit, keysBy: edit };
}

function innerOf<V>(keys: string[], children: Tree<V>[], edit?: Edit): Inner<V> {
  return { leaf: false, keys, children, edit, keysBy: edit };
}

/** The keys, ready to be changed. */
function ownKeys<V>(tree: Tree<V>, edit: Edit): string[] {
  if (tree.keysBy !== edit) {
    tree.keys = tree.keys.slice();
    tree.keysBy = edit;
  }
  return tree.keys;
}

/** The tree with the entry, in two parts when it grew too wide. */
function insert<V>(tree: Tree<V>, key: string, value: V, edit: Edit): Tree<V> | readonly [Tree<V>, Tree<V>] {
  if (tree.leaf) {
    const at = search(tree.keys, key);
    const mine =
      tree.edit === edit
        ? tree
        : { leaf: true as const, keys: tree.keys, values: tree.values.slice(), edit, keysBy: undefined as Edit | undefined };
    if (tree.keys[at] === key) {
      mine.values[at] = value;
      return mine;
    }
    edit.grown++;
    const keys = ownKeys(mine, edit);
    keys.splice(at, 0, key);
    mine.values.splice(at, 0, value);
    if (keys.length <= WIDTH) return mine;
    const cut = at === WIDTH ? WIDTH : WIDTH >> 1; // ascending inserts leave full leaves behind
    return [mine, leafOf(keys.splice(cut), mine.values.splice(cut), edit)];
  }
  const at = childAt(tree.keys, key);
  const grown = insert(tree.children[at] as Tree<V>, key, value, edit);
  const [left, right] = isPair(grown) ? grown : [grown, undefined];
  const mine =
    tree.edit === edit
      ? tree
      : { leaf: false as const, keys: tree.keys, children: tree.children.slice(), edit, keysBy: undefined as Edit | undefined };
  mine.children[at] = left;
  if (mine.keys[at] !== least(left)) ownKeys(mine, edit)[at] = least(left);
  if (right === undefined) return mine;
  const keys = ownKeys(mine, edit);
  mine.children.splice(at + 1, 0, right);
  keys.splice(at + 1, 0, least(right));
  if (keys.length <= WIDTH) return mine;
  const cut = at + 1 === WIDTH ? WIDTH : WIDTH >> 1;
  return [mine, innerOf(keys.splice(cut), mine.children.splice(cut), edit)];
}

function isPair<V>(grown: Tree<V> | readonly [Tree<V>, Tree<V>]): grown is readonly [Tree<V>, Tree<V>] {
  return Array.isArray(grown);
}

function rooted<V>(grown: Tree<V> | readonly [Tree<V>, Tree<V>], edit: Edit): Tree<V> {
  return isPair(grown) ? innerOf([least(grown[0]), least(grown[1])], [...grown], edit) : grown;
}

/** The tree without `key`: itself when absent, `undefined` when nothing is left. */
function remove<V>(tree: Tree<V>, key: string): Tree<V> | undefined {
  if (tree.leaf) {
    const at = search(tree.keys, key);
    if (tree.keys[at] !== key) return tree;
    if (tree.keys.length === 1) return undefined;
    return leafOf(tree.keys.toSpliced(at, 1), tree.values.toSpliced(at, 1));
  }
  const at = childAt(tree.keys, key);
  const child = tree.children[at] as Tree<V>;
  const left = remove(child, key);
  if (left === child) return tree;
  if (left === undefined)
    return tree.children.length === 1 ? undefined : innerOf(tree.keys.toSpliced(at, 1), tree.children.toSpliced(at, 1));
  const first = at > 0 && small(left, tree.children[at - 1]) ? at - 1 : at;
  const pair = first === at ? [left, tree.children[at + 1]] : [tree.children[at - 1], left];
  if (small(pair[0], pair[1])) {
    const merged = merge(pair[0] as Tree<V>, pair[1] as Tree<V>);
    return innerOf(tree.keys.toSpliced(first, 2, least(merged)), tree.children.toSpliced(first, 2, merged));
  }
  const keys = tree.keys[at] === least(left) ? tree.keys : tree.keys.with(at, least(left));
  return innerOf(keys, tree.children.with(at, left));
}

function small<V>(a: Tree<V> | undefined, b: Tree<V> | undefined): boolean {
  return a !== undefined && b !== undefined && a.keys.length + b.keys.length <= WIDTH >> 1;
}

function merge<V>(a: Tree<V>, b: Tree<V>): Tree<V> {
  if (a.leaf && b.leaf) return leafOf([...a.keys, ...b.keys], [...a.values, ...b.values]);
  const [x, y] = [a as Inner<V>, b as Inner<V>];
  return innerOf([...x.keys, ...y.keys], [...x.children, ...y.children]);
}

function* walk<V>(tree: Tree<V>, from: string, to: string | undefined): IterableIterator<[string, V]> {
  const stack: { tree: Tree<V>; at: number }[] = [];
  let current = tree;
  while (!current.leaf) {
    const at = childAt(current.keys, from);
    stack.push({ tree: current, at: at + 1 });
    current = current.children[at] as Tree<V>;
  }
  let at = search(current.keys, from);
  for (;;) {
    for (; at < current.keys.length; at++) {
      const key = current.keys[at] as string;
      if (to !== undefined && key >= to) return;
      yield [key, current.values[at] as V];
    }
    let above = stack.at(-1);
    while (above !== undefined && above.at >= above.tree.keys.length) {
      stack.pop();
      above = stack.at(-1);
    }
    if (above === undefined) return;
    let next = (above.tree as Inner<V>).children[above.at++] as Tree<V>;
    while (!next.leaf) {
      stack.push({ tree: next, at: 1 });
      next = next.children[0] as Tree<V>;
    }
    current = next;
    at = 0;
  }
}

function* walkBack<V>(tree: Tree<V>): IterableIterator<[string, V]> {
  if (tree.leaf) {
    for (let at = tree.keys.length - 1; at >= 0; at--) yield [tree.keys[at] as string, tree.values[at] as V];
  } else {
    for (let at = tree.children.length - 1; at >= 0; at--) yield* walkBack(tree.children[at] as Tree<V>);
  }
}
