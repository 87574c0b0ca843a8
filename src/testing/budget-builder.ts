import type { PodDisruptionBudget } from '@rollkeeper/runtime';

/** A PodDisruptionBudget `default/web` for the pods with `app=web`, which no controller has counted yet. */
export function aBudget(
  spec: Omit<NonNullable<PodDisruptionBudget['spec']>, 'selector'>,
  { name = 'web', labels = { app: 'web' } }: { name?: string; labels?: Record<string, string> } = {},
): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default', uid: `uid-of-budget-${name}`, generation: 1 },
    spec: { selector: { matchLabels: labels }, ...spec },
  };
}
