const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A `resource.Quantity` as a number, near enough for a scheduler: CPUs, bytes or pieces. Not a number: 0. */
export function parseQuantity(quantity: string | number | undefined): number {
  if (quantity === undefined) return 0;
  const [, number = '', suffix = ''] =
    /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)$/.exec(String(quantity)) ?? [];
  const value = Number(number) * (SUFFIXES[suffix] ?? Number.NaN);
  return Number.isFinite(value) ? value : 0;
}
