/** The library `bit` on 32-bit integers with a sign. Source: bitop.luajit.org. */
export const BIT_FUNCTIONS: Readonly<Record<string, (...values: number[]) => number | string>> = {
  tobit: (value = 0) => value,
  bnot: (value = 0) => ~value,
  band: (...values) => values.reduce((left, right) => left & right),
  bor: (...values) => values.reduce((left, right) => left | right),
  bxor: (...values) => values.reduce((left, right) => left ^ right),
  lshift: (value = 0, count = 0) => value << (count & 31),
  rshift: (value = 0, count = 0) => (value >>> (count & 31)) | 0,
  arshift: (value = 0, count = 0) => value >> (count & 31),
  rol: (value = 0, count = 0) => rotate(value, count),
  ror: (value = 0, count = 0) => rotate(value, -count),
  bswap: (value = 0) => (value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24),
  tohex(value = 0, digits = 8) {
    const text = (value >>> 0)
      .toString(16)
      .padStart(8, '0')
      .slice(-Math.min(Math.abs(digits), 8));
    return digits < 0 ? text.toUpperCase() : text;
  },
};

/** A number of Lua as 32 bits with a sign: rounded to the nearest integer, of two the even one. */
export function toBits(value: number): number {
  if (!Number.isFinite(value)) return 0;
  const floor = Math.floor(value);
  const rest = value - floor;
  const isUp = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0);
  return Number(BigInt.asIntN(32, BigInt(isUp ? floor + 1 : floor)));
}

function rotate(value: number, count: number): number {
  const by = count & 31;
  return (value << by) | (by === 0 ? 0 : value >>> (32 - by));
}
