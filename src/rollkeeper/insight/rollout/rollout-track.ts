import type { DeepReadonly, Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { NameTrust } from '@rollkeeper/controllers/deployment';
import {
  compilePolicy,
  equalIgnoringHash,
  isRollingUpdate,
  readPosition,
  renderStep,
  shownName,
} from '@rollkeeper/controllers/deployment';

/** A step of a rollout, and whether it is behind it. */
export interface TrackedStep {
  /** As in the annotation: `20%`, `wait 5m`, `approve`. */
  readonly step: string;
  readonly kind: string;
  readonly state: 'done' | 'current' | 'ahead';
  /** The name in an approval that was given: `claimed by NAME`, unless the API server vouches for the name. */
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
  options: {
    readonly names: NameTrust;
    readonly namespaceAnnotations?: Readonly<Record<string, string>> | undefined;
  },
): RolloutTrack | undefined {
  const { names, namespaceAnnotations } = options;
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
      ...(approval && { approvedBy: shownName(approval.by, names), approvedAt: approval.at }),
    };
  });
  return { steps, since: position.since };
}
