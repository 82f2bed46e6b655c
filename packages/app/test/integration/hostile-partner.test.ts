/** The hostile partner of `npm test`, with more to say. */
process.env["FC_RUNS"] ??= "1500";
await import("../gateway/hostile-partner.test.ts");
