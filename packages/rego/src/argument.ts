/** Tells who calls without types which argument is wrong. This package knows no other, so it says it itself, in the kernel's words. */
export function checkArgument(
  name: string,
  value: unknown,
  kind: "array" | "boolean" | "function" | "number" | "object" | "string",
): void {
  const found = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  if (found === kind) return;
  throw new TypeError(`${name}: expected ${/^[ao]/.test(kind) ? "an" : "a"} ${kind}, not ${found}`);
}

/** `checkArgument` for each member of an options object; one that nobody knows is refused by name. */
export function checkOptions<T extends object>(name: string, value: T, kinds: Readonly<Record<keyof T, string>>): void {
  checkArgument(name, value, "object");
  for (const member of Object.keys(value))
    if (!Object.hasOwn(kinds, member))
      throw new TypeError(`${name}.${member}: no such option; there are ${Object.keys(kinds).sort().join(", ")}`);
  for (const [member, kind] of Object.entries<string>(kinds)) {
    const found = (value as Readonly<Record<string, unknown>>)[member];
    if (kind === "any" || (found === undefined && kind.endsWith("?"))) continue;
    checkArgument(`${name}.${member}`, found, kind.replace("?", "") as "object");
  }
}
