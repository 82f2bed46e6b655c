import { isCoded } from "@seneschal/kernel";

/** What a read gives, or that what is stored there cannot be read. Other failures are thrown on: they say nothing of the log. */
export async function readable<T>(read: () => Promise<T>): Promise<T | "damaged"> {
  try {
    return await read();
  } catch (error) {
    if (isCoded(error, "store_damaged")) return "damaged";
    throw error;
  }
}
