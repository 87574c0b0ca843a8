import type { Deployment } from '../../../src/machinery/kubernetes/index.js';
import { aDeployment } from '../../e2e/support/a-deployment.js';

/**
 * Ways in which a Deployment that the API server has accepted can fail for ever:
 *
 * - `template`: each pod is refused as invalid, by a rule that holds for pods and not for templates
 * - `quota`: each pod is refused, as by a ResourceQuota
 * - `name`: so long that the name of its ReplicaSet is refused
 * - `collision`: another client takes each name of its ReplicaSet a moment before it does
 * - `rejected`: the node refuses each pod, which then has failed
 */
export const HOPELESS_KINDS = ['template', 'quota', 'name', 'collision', 'rejected'] as const;
export type HopelessKind = (typeof HOPELESS_KINDS)[number];

export interface Hopeless {
  readonly kind: HopelessKind;
  /** `hopeless-quota-7`: what the names of all its objects begin with. */
  readonly id: string;
  readonly deployment: Deployment;
}

const LONGEST_NAME = 253;

/** `count` of them, the kinds in turn; two with different serials have nothing in common. */
export function hopelessDeployments(count: number, firstSerial = 0): Hopeless[] {
  return Array.from({ length: count }, (_, index) => {
    const kind = HOPELESS_KINDS[index % HOPELESS_KINDS.length] ?? 'template';
    const id = `hopeless-${kind}-${firstSerial + index}`;
    return { kind, id, deployment: hopelessDeployment(kind, id) };
  });
}

/** The id of the object that a name, a path or a body is about. */
export function hopelessIdIn(text: string): string | undefined {
  return /hopeless-[a-z]+-\d+(?=-)/.exec(text)?.[0];
}

function hopelessDeployment(kind: HopelessKind, id: string): Deployment {
  const deployment = aDeployment({
    name: id,
    // Kubernetes, too, accepts this in a template and refuses it in a pod.
    ...(kind === 'template' ? { image: ' web:1' } : {}),
    ...(kind === 'rejected' ? { annotations: { 'node.rollkeeper.dev/behaviour': 'reject' } } : {}),
  });
  const name = kind === 'name' ? `${id}-`.padEnd(LONGEST_NAME, 'x') : `${id}-x`;
  return { ...deployment, metadata: { ...deployment.metadata, name } };
}
