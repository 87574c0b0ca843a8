const SHORT: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** Access modes as `kubectl get` shows them: `RWO,ROX`. */
export function accessModesText(modes: readonly string[] = []): string {
  return SHORT.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}
