import { checkArgument } from "@seneschal/kernel";

/** The one id of a data set or job that OpenLineage names by namespace and name, for example `postgres://db:5432/shop.public.orders`. */
export function resourceId(namespace: string, name: string): string {
  checkArgument("namespace", namespace, "string");
  checkArgument("name", name, "string");
  if (namespace === "" || namespace === "default") return name;
  return name.startsWith("/") ? `${namespace.replace(/\/+$/, "")}${name}` : `${namespace.replace(/\/+$/, "")}/${name}`;
}
