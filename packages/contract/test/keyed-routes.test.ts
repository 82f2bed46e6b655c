import { expect, test } from "vitest";
import { isKeyed } from "../src/failures.ts";
import { gatewayContract, gatewayInfo } from "../src/gateway/index.ts";
import { governanceContract, governanceInfo } from "../src/governance/index.ts";
import { keepsAnswers } from "../src/idempotency.ts";
import type { Contract, OpenApiInfo } from "../src/index.ts";
import { schedulerContract, schedulerInfo } from "../src/scheduler/index.ts";
import { storageContract, storageInfo } from "../src/storage/index.ts";

const services: readonly (readonly [Contract, Omit<OpenApiInfo, "version">])[] = [
  [gatewayContract, gatewayInfo],
  [governanceContract, governanceInfo],
  [schedulerContract, schedulerInfo],
  [storageContract, storageInfo],
];

/** Every POST that could be done twice: it changes something, and it is known who asks. */
const posts = services.flatMap(([contract, { keepsAnswers: keeps = false }]) =>
  Object.entries(contract).flatMap(([id, route]) => (keepsAnswers(route) ? [{ id, keyed: isKeyed(route, keeps) }] : [])),
);

test("every POST that could be done twice is carried out once by its Idempotency-Key", () => {
  expect(posts.filter(({ keyed }) => keyed).length).toBeGreaterThan(120);
  expect(posts.flatMap(({ id, keyed }) => (keyed ? [] : [id]))).toEqual([]);
});
