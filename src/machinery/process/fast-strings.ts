/** Enough reads for V8 to optimize the access; ten suffice today. */
const READS = 1000;

/**
 * Keeps string methods fast. The first `class … extends String` of a process (ioredis brings one, its `VerbatimString`)
 * makes V8 turn `String.prototype` into a dictionary. From then on, every `text.charCodeAt(i)` of optimised code is
 * looked up by name: five times slower in a loop over characters, and twice the CPU for encoding spans. A prototype
 * that has been read through an inheriting object stays fast permanently, before or after.
 */
export function keepStringsFast(): void {
  // Reading from a primitive would have no effect.
  const boxed = new String('');
  for (let reads = 0; reads < READS; reads++) methodOf(boxed);
}

function methodOf(text: Pick<string, 'charCodeAt'>): unknown {
  return text.charCodeAt;
}
