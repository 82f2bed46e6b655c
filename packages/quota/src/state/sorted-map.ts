/**
 * An immutable map from string to V in key order (UTF-16 code units, as `<`): a B+ tree whose `set` and `delete` copy one
 * path. Old versions stay valid, so speculation is undone by dropping the new version and a snapshot is a reference.
 * Equal contents iterate equally, whatever the history: nothing depends on hash or insertion order.
 *
 * @example
 * ```ts
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
    return new SortedMap<V>({ leaf: true, keys: [], values: [] }, 0);
  }

  /** From entries in any order; a later entry wins over an earlier one with its key. */
  static from<V>(entries: Iterable<readonly [string, V]>): SortedMap<V> {
    return SortedMap.empty<V>().setAll(entries);
  }

  get(key: string): V | undefined {
    let tree = this.#root;
    while (!tree.leaf) tree = tree.children[childAt(tree.keys, key)] as Tree<V>;
    const at = search(tree.keys, key);
    return tree.keys[at] === key ? tree.values[at] : undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: V): SortedMap<V> {
    return this.setAll([[key, value]]);
  }

  /** Sets all entries at once, copying every touched path once. */
  setAll(entries: Iterable<readonly [string, V]>): SortedMap<V> {
    const edit: Edit = { own: new Set(), grown: 0 };
    let root = this.#root;
    for (const [key, value] of entries) {
      const [left, right] = insert(root, key, value, edit);
      root = right === undefined ? left : own(edit, { leaf: false, keys: [least(left), least(right)], children: [left, right] });
    }
    return new SortedMap(root, this.size + edit.grown);
  }

  delete(key: string): SortedMap<V> {
    const root = remove(this.#root, key);
    if (root === this.#root) return this;
    let top = root ?? { leaf: true as const, keys: [], values: [] };
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
  readonly keys: string[];
  readonly values: V[];
}
/** `keys[i]` is not above any key of `children[i]` and above every key of `children[i - 1]`. */
interface Inner<V> {
  readonly leaf: false;
  readonly keys: string[];
  readonly children: Tree<V>[];
}
/** The nodes that this edit made and may therefore change in place. */
interface Edit {
  readonly own: Set<object>;
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

function least<V>(tree: Tree<V>): string {
  return tree.keys[0] as string;
}

function own<T extends object>(edit: Edit, node: T): T {
  edit.own.add(node);
  return node;
}

function insert<V>(tree: Tree<V>, key: string, value: V, edit: Edit): [Tree<V>, Tree<V>?] {
  if (tree.leaf) {
    const at = search(tree.keys, key);
    const mine = edit.own.has(tree) ? tree : own(edit, { leaf: true as const, keys: [...tree.keys], values: [...tree.values] });
    if (mine.keys[at] === key) {
      mine.values[at] = value;
      return [mine];
    }
    edit.grown++;
    mine.keys.splice(at, 0, key);
    mine.values.splice(at, 0, value);
    if (mine.keys.length <= WIDTH) return [mine];
    const cut = at === WIDTH ? WIDTH : WIDTH >> 1; // ascending inserts leave full leaves behind
    const right = own(edit, { leaf: true as const, keys: mine.keys.splice(cut), values: mine.values.splice(cut) });
    return [mine, right];
  }
  const at = childAt(tree.keys, key);
  const [left, right] = insert(tree.children[at] as Tree<V>, key, value, edit);
  const mine = edit.own.has(tree)
    ? tree
    : own(edit, { leaf: false as const, keys: [...tree.keys], children: [...tree.children] });
  mine.children[at] = left;
  mine.keys[at] = least(left);
  if (right === undefined) return [mine];
  mine.children.splice(at + 1, 0, right);
  mine.keys.splice(at + 1, 0, least(right));
  if (mine.keys.length <= WIDTH) return [mine];
  const cut = at + 1 === WIDTH ? WIDTH : WIDTH >> 1;
  return [mine, own(edit, { leaf: false as const, keys: mine.keys.splice(cut), children: mine.children.splice(cut) })];
}

/** The tree without `key`: itself when absent, `undefined` when nothing is left. */
function remove<V>(tree: Tree<V>, key: string): Tree<V> | undefined {
  if (tree.leaf) {
    const at = search(tree.keys, key);
    if (tree.keys[at] !== key) return tree;
    if (tree.keys.length === 1) return undefined;
    return { leaf: true, keys: tree.keys.toSpliced(at, 1), values: tree.values.toSpliced(at, 1) };
  }
  const at = childAt(tree.keys, key);
  const child = tree.children[at] as Tree<V>;
  const left = remove(child, key);
  if (left === child) return tree;
  if (left === undefined) {
    if (tree.children.length === 1) return undefined;
    return { leaf: false, keys: tree.keys.toSpliced(at, 1), children: tree.children.toSpliced(at, 1) };
  }
  const first = at > 0 && small(left, tree.children[at - 1]) ? at - 1 : at;
  const pair = first === at ? [left, tree.children[at + 1]] : [tree.children[at - 1], left];
  if (small(pair[0], pair[1])) {
    const merged = merge(pair[0] as Tree<V>, pair[1] as Tree<V>);
    return {
      leaf: false,
      keys: tree.keys.toSpliced(first, 2, least(merged)),
      children: tree.children.toSpliced(first, 2, merged),
    };
  }
  return { leaf: false, keys: tree.keys.with(at, least(left)), children: tree.children.with(at, left) };
}

function small<V>(a: Tree<V> | undefined, b: Tree<V> | undefined): boolean {
  return a !== undefined && b !== undefined && a.keys.length + b.keys.length <= WIDTH >> 1;
}

function merge<V>(a: Tree<V>, b: Tree<V>): Tree<V> {
  if (a.leaf && b.leaf) return { leaf: true, keys: [...a.keys, ...b.keys], values: [...a.values, ...b.values] };
  const [x, y] = [a as Inner<V>, b as Inner<V>];
  return { leaf: false, keys: [...x.keys, ...y.keys], children: [...x.children, ...y.children] };
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
