import { checkArgument } from "@seneschal/kernel";

/** What a custom role allows beyond the matrix; `*` stands for every resource, or every verb. */
export interface Permission {
  readonly resource: string;
  readonly action: string;
}

/**
 * Whether one of the permissions names an action of the interface, such as `workspace:read`.
 *
 * @example
 * ```ts
 * import { opens } from "@seneschal/core/keys";
 * console.log(opens([{ resource: "*", action: "read" }], "workspace:read"), opens([], "workspace:read")); // true false
 * ```
 */
export function opens(permissions: readonly Permission[], action: string): boolean {
  checkArgument("permissions", permissions, "array");
  checkArgument("action", action, "string");
  const [resource, verb] = action.split(":");
  return permissions.some((one) => ["*", resource].includes(one.resource) && ["*", verb].includes(one.action));
}
