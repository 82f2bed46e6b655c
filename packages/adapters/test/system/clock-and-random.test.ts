import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { clockSuite, randomSuite } from "@seneschal/kernel/testing";
import { describe } from "vitest";
import { runner } from "../suite-runner.ts";

describe("system clock", () => clockSuite(runner, systemClock));
describe("system random", () => randomSuite(runner, systemRandom));
