/** What does some acts of an object and is then killed, as a process is: behind an act as well as before it. */
export interface Fuse {
  /** Acts that are still done. */
  left: number;
}

/** The same object, whose acts of these names reject once the fuse is burnt. */
export function dying<T extends object>(of: T, acts: readonly string[], fuse: Fuse): T {
  const burn = (): void => {
    if (fuse.left === 0) throw new Error("killed");
    fuse.left -= 1;
  };
  return new Proxy(of, {
    get: (on, name) => {
      const value: unknown = Reflect.get(on, name);
      if (typeof value !== "function" || !acts.includes(String(name))) return value;
      return async (...args: unknown[]) => {
        burn();
        const answer: unknown = await Reflect.apply(value, on, args);
        burn();
        return answer;
      };
    },
  });
}
