import type { Decoded, DecodedObject, Pod, PodSpec } from '@rollkeeper/machinery/kubernetes';

type Toleration = Decoded<NonNullable<PodSpec['tolerations']>[number]>;

/** How long pods stay on a silent node, seconds: kube-apiserver's default. */
const SECONDS = 300;
const KEYS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** Lets a pod without such a toleration tolerate a silent node for a while. Source: DefaultTolerationSeconds. */
export function addDefaultTolerations(pod: DecodedObject<Pod>): void {
  const own = pod.spec?.tolerations ?? [];
  const missing = KEYS.filter((key) => !own.some((toleration) => tolerates(toleration, key)));
  if (missing.length === 0) return;
  const added = missing.map((key) => ({
    key,
    operator: 'Exists' as const,
    effect: 'NoExecute' as const,
    tolerationSeconds: SECONDS,
  }));
  pod.spec = { ...pod.spec, tolerations: [...own, ...added] };
}

function tolerates({ key, effect }: Toleration, wanted: string): boolean {
  return (!key || key === wanted) && (!effect || effect === 'NoExecute');
}
