const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const STABILITY = ['alpha', 'beta', undefined];

/** `v2`, `v1`, `v1beta1`, then all others. Source: CompareKubeAwareVersionStrings of apimachinery. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [VERSION.exec(a), VERSION.exec(b)];
  if (!one || !other) return one ? -1 : other ? 1 : a < b ? -1 : 1;
  return (
    STABILITY.indexOf(other[2]) - STABILITY.indexOf(one[2]) ||
    Number(other[1]) - Number(one[1]) ||
    Number(other[3] ?? 0) - Number(one[3] ?? 0)
  );
}
