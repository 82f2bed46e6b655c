import { HttpFault, type Route } from "./route.ts";

/** The key-value engine, version 2, as far as writing and reading the newest version of a secret goes. */
export function kvRoutes({ mount, now }: { readonly mount: string; readonly now: () => number }): readonly Route[] {
  const secrets = new Map<string, { readonly version: number; readonly data: unknown; readonly at: string }>();
  // Routes match by segment: what is kept has one to three of them.
  return ["/:a", "/:a/:b", "/:a/:b/:c"].flatMap((tail): readonly Route[] => [
    {
      method: "POST",
      path: `${mount}/data${tail}`,
      run({ params, body }) {
        if (typeof body["data"] !== "object" || body["data"] === null) throw new HttpFault(400, ["no data provided"]);
        const key = Object.values(params).join("/");
        const version = (secrets.get(key)?.version ?? 0) + 1;
        const at = new Date(now()).toISOString();
        secrets.set(key, { version, data: body["data"], at });
        return { data: { version, created_time: at, deletion_time: "", destroyed: false } };
      },
    },
    {
      method: "GET",
      path: `${mount}/data${tail}`,
      run({ params }) {
        const secret = secrets.get(Object.values(params).join("/"));
        if (secret === undefined) throw new HttpFault(404, []);
        return { data: { data: secret.data, metadata: { version: secret.version, created_time: secret.at } } };
      },
    },
  ]);
}
