import { openEtcdLog } from "@seneschal/adapters/etcd";
import { expect, it } from "vitest";

const endpoints = ["https://192.0.2.21:2379"];

it("a setting of etcd's TLS or log-in that there is not is refused by its name, never left out", async () => {
  const tls = { caFile: "ca.pem", cert: "client.pem" };
  await expect(openEtcdLog({ endpoints, prefix: "/log", tls })).rejects.toThrow("options.tls.cert: no such option");
  const auth = { username: "scheduler", password: "p", user: "root" };
  await expect(openEtcdLog({ endpoints, prefix: "/log", tls: { caFile: "ca.pem" }, auth })).rejects.toThrow(
    "options.auth.user: no such option",
  );
});
