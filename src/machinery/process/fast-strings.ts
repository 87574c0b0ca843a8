/** Reads before V8 looks at what a function is given; ten are enough today. */
const READS = 1000;

/**
 * Keeps the methods of strings fast. The first `class … extends String` of a process (ioredis brings one, its
 * `VerbatimString`) makes V8 turn `String.prototype` into a dictionary, and from then on every `text.charCodeAt(i)` of
 * optimised code is looked up by name: five times as slow in a loop over characters, and twice the CPU for encoding
 * spans. A prototype that has been read through an object that inherits from it is kept fast for good, before or after.
 */
export function keepStringsFast(): void {
  // A primitive would not count.
  const boxed = new String('');
  for (let reads = 0; reads < READS; reads++) methodOf(boxed);
}

function methodOf(text: Pick<string, 'charCodeAt'>): unknown {
  return text.charCodeAt;
}
