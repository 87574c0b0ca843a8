/**
 * Whether two values are the same JSON: the order of fields and fields without a value mean nothing. Asked for every change
 * that is seen, hence without anything made on the way.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  return sameFields(a as Fields, b as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function sameFields(a: Fields, b: Fields): boolean {
  for (const name in a) if (!sameJson(a[name], b[name])) return false;
  for (const name in b) if (b[name] !== undefined && !Object.hasOwn(a, name)) return false;
  return true;
}
