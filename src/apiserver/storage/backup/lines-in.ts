/**
 * The lines of a text without their ends. Keeps one line at most, however much a compressed file expands to.
 * @throws RangeError for a line of more than so many characters
 */
export async function* linesIn(chunks: AsyncIterable<string>, maxLength: number): AsyncGenerator<string> {
  let parts: string[] = [];
  let length = 0;
  const add = (part: string): void => {
    length += part.length;
    if (length > maxLength) throw new RangeError(`a line in it has more than ${maxLength} characters`);
    parts.push(part);
  };
  for await (const chunk of chunks) {
    const [first = '', ...others] = chunk.split('\n');
    add(first);
    for (const other of others) {
      yield parts.join('');
      parts = [];
      length = 0;
      add(other);
    }
  }
  if (length > 0) yield parts.join('');
}
