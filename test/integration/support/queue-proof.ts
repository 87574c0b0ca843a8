/** The keys under which worker processes leave their traces for the test. */
export function proofKeys(keyPrefix: string): {
  readonly versions: string;
  readonly seen: string;
  readonly violations: string;
  inside(key: string): string;
  started(key: string): string;
  aborted(key: string): string;
} {
  const name = (part: string): string => `${keyPrefix}:proof:${part}`;
  return {
    versions: name('versions'),
    seen: name('seen'),
    violations: name('violations'),
    inside: (key) => name(`inside:${key}`),
    started: (key) => name(`started:${key}`),
    aborted: (key) => name(`aborted:${key}`),
  };
}
