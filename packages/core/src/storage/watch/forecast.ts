import { checkArgument } from "@seneschal/kernel";

/** What a pool held and could hold at a time in milliseconds. */
export interface CapacityPoint {
  readonly at: number;
  readonly usedBytes: number;
  readonly capacityBytes: number;
  /** What its devices were given; absent: that is their capacity. It is more where their file systems hold less. */
  readonly configuredBytes?: number;
}

/** How a pool fills. */
export interface CapacityForecast {
  /** Negative while it empties. */
  readonly bytesPerDay: number;
  /** When it is full, in milliseconds since the epoch; `null` when it does not fill. */
  readonly fullAt: number | null;
}

const shortestMs = 3_600_000;
const dayMs = 86_400_000;
/** A year and more away is as good as never. */
const longestMs = 366 * dayMs;

const configured = ({ capacityBytes, configuredBytes = capacityBytes }: CapacityPoint): number => configuredBytes;
/** Whatever cannot be written to any more: by what the pool holds, or by what else is on its file systems. */
const taken = (point: CapacityPoint): number => configured(point) - (point.capacityBytes - point.usedBytes);

/**
 * When a pool is full at its present rate: the line of least squares through what was taken of it since its devices last changed, at least
 * an hour of it, up to `fullPercent` of the capacity. `undefined`: nothing can be said yet.
 *
 * @example
 * ```ts
 * import { forecastCapacity } from "@seneschal/core/storage";
 * const hour = 3_600_000;
 * const points = [0, 1, 2].map((n) => ({ at: n * hour, usedBytes: n * 10, capacityBytes: 100 }));
 * console.log(forecastCapacity(points, 100)?.fullAt === 10 * hour); // true
 * ```
 */
export function forecastCapacity(points: readonly CapacityPoint[], fullPercent: number): CapacityForecast | undefined {
  checkArgument("points", points, "array");
  checkArgument("fullPercent", fullPercent, "number");
  const last = points.at(-1);
  if (last === undefined) return undefined;
  const since = points.slice(points.findLastIndex((p) => configured(p) !== configured(last)) + 1);
  const first = since[0] as CapacityPoint;
  if (last.at - first.at < shortestMs) return undefined;
  const mean = (of: (p: CapacityPoint) => number) => since.reduce((sum, p) => sum + of(p), 0) / since.length;
  const [at, used] = [mean((p) => p.at - last.at), mean(taken)];
  const over = since.reduce((sum, p) => sum + (p.at - last.at - at) * (taken(p) - used), 0);
  const spread = since.reduce((sum, p) => sum + (p.at - last.at - at) ** 2, 0);
  const perMs = over / spread;
  const room = Math.max(0, (last.capacityBytes * fullPercent) / 100 - last.usedBytes);
  const left = perMs > 0 ? room / perMs : Number.POSITIVE_INFINITY;
  return { bytesPerDay: Math.round(perMs * dayMs), fullAt: left > longestMs ? null : Math.round(last.at + left) };
}
