/**
 * Feature gates in the form of kube-apiserver's `--feature-gates`: `Name=true,Other=false`. Of a name that is given twice the
 * last value counts. Source: k8s.io/component-base/featuregate.
 */

/** Evictions by request (KEP-4563), of Kubernetes 1.37. */
export const EVICTION_REQUEST_GATE = 'EvictionRequestAPI';

/** The gates of the embedded server: APIs of a newer Kubernetes, all off by default. */
export const FEATURE_GATES: readonly string[] = [EVICTION_REQUEST_GATE];

/** The value of a gate, as Go reads a boolean. */
const VALUES: Readonly<Record<string, boolean>> = {
  ...{ '1': true, t: true, T: true, true: true, TRUE: true, True: true },
  ...{ '0': false, f: false, F: false, false: false, FALSE: false, False: false },
};

/** The gates that are on, or why the text cannot be read. */
export type ReadFeatureGates = { readonly enabled: ReadonlySet<string> } | { readonly problem: string };

/** @param known the names that may be given; all are off unless they are named */
export function readFeatureGates(text: string, known: readonly string[] = FEATURE_GATES): ReadFeatureGates {
  const enabled = new Set<string>();
  for (const part of text.split(',')) {
    const entry = part.trim();
    if (entry === '') continue;
    const at = entry.indexOf('=');
    const name = (at < 0 ? entry : entry.slice(0, at)).trim();
    if (at < 0) return { problem: `missing bool value for ${name}` };
    const value = entry.slice(at + 1).trim();
    const isOn = Object.hasOwn(VALUES, value) ? VALUES[value] : undefined;
    if (isOn === undefined)
      return { problem: `invalid value of ${name}: ${value} is neither true nor false` };
    if (!known.includes(name))
      return { problem: `unrecognized feature gate: ${name}; known: ${known.join(', ')}` };
    if (isOn) enabled.add(name);
    else enabled.delete(name);
  }
  return { enabled };
}
