/** Takes a hundred of a rate of fifty and prints how many it got. */
import { openPostgresRates } from "@seneschal/adapters/postgres";
import { systemRandom } from "@seneschal/adapters/system";

const counter = await openPostgresRates({ url: process.argv[2] ?? "" }, systemRandom);
const takes = Array.from({ length: 100 }, () => counter.take("both", { limit: 50, window: 3_600_000 }, Date.now()));
console.log((await Promise.all(takes)).filter((take) => take.allowed).length);
await counter.close();
