/** The body of an answer, read to its end. Throws what `tooLong` gives as soon as more than `most` bytes have come: whoever answers may never end. */
export async function boundedBody(response: Response, most: number, tooLong: () => Error): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > most) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
