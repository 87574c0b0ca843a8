/**
 * The value of a number that `strtod` would read whole: decimal, hexadecimal, infinite or `nan`, in any case and with or
 * without a sign. Source: the C standard, 7.22.1.3.
 */
export function readDouble(text: string): number {
  const bare = (/^[-+]/.test(text) ? text.slice(1) : text).toLowerCase();
  const size = bare.startsWith('inf') ? Infinity : Number(bare);
  return text.startsWith('-') ? -size : size;
}
