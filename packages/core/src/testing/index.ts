export { blobDeviceSuite, type DeviceUnderTest } from "./blob-device.ts";
export { clockSuite } from "./clock.ts";
export { cryptoProviderSuite } from "./crypto-provider.ts";
export { documentStoreSuite, suiteSchema } from "./document-store.ts";
export { randomSuite } from "./random.ts";
export { seededIntegers } from "./seeded-integers.ts";
export type { StorePlace, StoreUnderTest, SuiteSchema } from "./store-under-test.ts";
export { refuses, type SuiteRunner } from "./suite.ts";
