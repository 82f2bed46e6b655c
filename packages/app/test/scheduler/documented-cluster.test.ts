import { expect, test } from "vitest";
import { processSettings } from "../../src/compose/process-settings.ts";
import { documentedFile } from "./documented-cluster.ts";

test("the documented file of several processes is one that the process takes, with a name, a log and a peer's token of its own", () => {
  const { scheduler } = processSettings.parse(documentedFile());
  expect(scheduler).toMatchObject({
    server: { instance_id: "scheduler-1" },
    storage: { kind: "etcd", etcd_try_timeout: 500, etcd_total_timeout: 1500 },
    cluster: { address: "https://10.0.0.1:8445", token: expect.any(String) },
  });
});
