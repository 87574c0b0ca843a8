import type { DeepReadonly, Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import {
  compilePolicy,
  equalIgnoringHash,
  isRollingUpdate,
  readPosition,
  renderStep,
} from '@rollkeeper/controllers/deployment';

/** A step of a rollout, and whether it is behind it. */
export interface TrackedStep {
  /** As in the annotation: `20%`, `wait 5m`, `approve`. */
  readonly step: string;
  readonly kind: string;
  readonly state: 'done' | 'current' | 'ahead';
  /** Of an approval that was given. */
  readonly approvedBy?: string;
  /** RFC 3339. */
  readonly approvedAt?: string;
}

/** The steps of a rollout, and where in them it is. */
export interface RolloutTrack {
  readonly steps: readonly TrackedStep[];
  /** When the step before the current one was over, RFC 3339. */
  readonly since?: string;
}

/** `undefined` where no steps are asked for, or nothing of this rollout has been noted: it goes without steps. */
export function rolloutTrack(
  deployment: DeepReadonly<Deployment>,
  replicaSets: readonly DeepReadonly<ReplicaSet>[],
  namespaceAnnotations?: Readonly<Record<string, string>>,
): RolloutTrack | undefined {
  const shape = { isRollingUpdate: isRollingUpdate(deployment.spec) };
  const compiled = compilePolicy(deployment.metadata.annotations, namespaceAnnotations, shape);
  if (compiled.kind !== 'policy' || compiled.policy.steps.length === 0) return undefined;
  const latest = replicaSets.find(({ spec }) =>
    equalIgnoringHash(spec.template ?? {}, deployment.spec.template),
  );
  const position = readPosition(latest?.metadata.annotations ?? {});
  if (!position) return undefined;
  const steps = compiled.policy.steps.map((step, index): TrackedStep => {
    const approval = position.approvals.find((each) => each.step === index + 1);
    return {
      step: renderStep(step),
      kind: step.kind,
      state: index < position.done ? 'done' : index === position.done ? 'current' : 'ahead',
      ...(approval && { approvedBy: approval.by, approvedAt: approval.at }),
    };
  });
  return { steps, since: position.since };
}
