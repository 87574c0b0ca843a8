/** Redis' flat list of a hash: field, value, field, value. */
export function pairsOf(flat: readonly string[]): (readonly [field: string, value: string])[] {
  return flat.flatMap((field, index) => (index % 2 === 0 ? [[field, flat[index + 1] ?? ''] as const] : []));
}
