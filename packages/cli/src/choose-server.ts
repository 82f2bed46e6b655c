import type { Serve } from "@seneschal/contract";

/** The binding of the named framework; only the chosen one is loaded. */
export async function chooseServer(http: "fastify" | "express"): Promise<Serve> {
  const { serve } = http === "fastify" ? await import("@seneschal/server-fastify") : await import("@seneschal/server-express");
  return serve;
}
