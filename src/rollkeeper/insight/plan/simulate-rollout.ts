import { toRfc3339 } from '@rollkeeper/machinery/clock';
import {
  APPROVE,
  OWN_RULES,
  RolloutDraft,
  compilePolicy,
  decideRollout,
  equalIgnoringHash,
  isRollingUpdate,
  maxTotalReplicas,
  minAvailable,
  planPass,
  replicasOf,
  validateDeployment,
} from '@rollkeeper/controllers/deployment';
import type { LivePods, PolicyOutcome, ReplicaSetWrite } from '@rollkeeper/controllers/deployment';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { writableCopy } from '@rollkeeper/machinery/kubernetes';
import { PlannedPods, renderVictims } from './planned-pods.js';
import { PlannedServices } from './planned-services.js';

/** The input of a simulated rollout: the initial state, and the wanted one. */
export interface RolloutQuestion {
  /** As it would be applied. */
  readonly wanted: DeepReadonly<Deployment>;
  /** The ReplicaSets that it controls now; none: it would be created. */
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
  /** The pods that run now, by which the plan names those that would go. @default none are named */
  readonly livePods?: readonly DeepReadonly<Pod>[];
  /** The annotations of the Namespace, which are defaults for the rollout. @default none */
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  /** Whether all pods that start become ready together, or one by one. @default 'batch' */
  readonly pods?: 'batch' | 'one-by-one';
  readonly nowMs: number;
}

/** One step: the controller's decision, and the pods right after it. */
export interface PlannedStep {
  readonly step: number;
  /** One sentence per write. */
  readonly actions: readonly string[];
  /** Names of the pods that go, in order, where they are known. */
  readonly removes: readonly string[];
  readonly newSize: number;
  readonly oldSize: number;
  readonly total: number;
  /** Pods beyond `replicas`. */
  readonly over: number;
  readonly available: number;
  /** Pods short of `replicas`. */
  readonly under: number;
}

export interface RolloutPlan {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  readonly strategy: string;
  readonly floor: number;
  readonly ceiling: number;
  readonly steps: readonly PlannedStep[];
  readonly mostPods: number;
  readonly fewestAvailable: number;
  /** False: it would stop before completion, for example because it is paused. */
  readonly completes: boolean;
}

/** The live Deployment waits for these, and the plan cannot know of them. */
const TAKEN_FOR_GIVEN: ReadonlySet<string> = new Set([
  'waits-for-budget',
  'waits-for-turn',
  'waits-for-order',
]);

/** More steps than any rollout needs: each moves at least one pod. */
const MAX_STEPS = 20_000;

/**
 * Simulates a rollout with the controller's own decisions in a world where every starting pod becomes available, and
 * nothing fails. Changes nothing.
 * @throws UnsupportedError for a Deployment that the controller would refuse
 */
export function simulateRollout(question: RolloutQuestion): RolloutPlan {
  const { wanted } = question;
  const validation = validateDeployment(wanted);
  if (!validation.valid)
    throw new UnsupportedError(`the Deployment cannot be acted on: ${validation.problem}`);
  const world = new PlannedWorld(question);
  const steps: PlannedStep[] = [];
  for (let turn = 0; turn < MAX_STEPS; turn++) {
    const decided = world.decide();
    const { removes } = decided;
    const given = turn === 0 && decided.actions.length > 0 ? takenForGiven(question) : [];
    const actions = [...given, ...decided.actions];
    if (actions.length > 0) steps.push({ step: steps.length + 1, actions, removes, ...world.counts() });
    if (world.letPodsMove() || actions.length > 0) continue;
    const waited = world.waitOut();
    if (waited === undefined) break;
    steps.push({ step: steps.length + 1, actions: [waited], removes: [], ...world.counts() });
  }
  const { name, namespace = 'default' } = wanted.metadata;
  const replicas = replicasOf(wanted.spec);
  return {
    namespace,
    name,
    replicas,
    strategy: wanted.spec.strategy?.type ?? 'RollingUpdate',
    floor: wanted.spec.strategy?.type === 'Recreate' ? 0 : minAvailable(wanted.spec),
    ceiling: maxTotalReplicas(wanted.spec),
    steps,
    mostPods: Math.max(0, ...steps.map(({ total }) => total)),
    fewestAvailable: Math.min(...steps.map(({ available }) => available), replicas),
    completes: world.isComplete(),
  };
}

/** The values that it is measured by all the way through are not known beforehand. */
function takenForGiven({ namespaceAnnotations, wanted }: RolloutQuestion): readonly string[] {
  const { metadata, spec } = wanted;
  const compiled = compilePolicy(metadata.annotations, namespaceAnnotations, {
    isRollingUpdate: isRollingUpdate(spec),
  });
  const checks = compiled.kind === 'policy' ? compiled.policy.checks : [];
  return checks.map((check) => `check ${check}: taken for passed, all the way through`);
}

/** The objects as the API would have them, moved manually. */
class PlannedWorld {
  private deployment: DeepReadonly<Deployment>;
  private replicaSets: ReplicaSet[];

  private readonly services: PlannedServices;
  private nowMs: number;
  private outcome: PolicyOutcome | undefined;
  /** The checks that have been taken for passed. */
  private readonly given = new Set<string>();
  private readonly pods: PlannedPods;
  private removes: string[] = [];
  /** The ReplicaSet whose pods are resized in place, and whether their nodes have done so. */
  private resizes: string | undefined;
  private isResized = false;

  constructor(private readonly question: RolloutQuestion) {
    this.nowMs = question.nowMs;
    const wanted = structuredClone(question.wanted);
    const { uid = 'uid-of-plan' } = wanted.metadata;
    this.deployment = { ...wanted, metadata: { ...wanted.metadata, uid, generation: 1 } };
    this.replicaSets = question.replicaSets.map((set) => writableCopy<ReplicaSet>(set));
    const since = toRfc3339(question.nowMs);
    this.services = new PlannedServices(wanted, question.replicaSets, since);
    this.pods = new PlannedPods(question.livePods ?? []);
  }

  /** One pass of the controller: its writes in words, and the pods that go by them. */
  decide(): Pick<PlannedStep, 'actions' | 'removes'> {
    this.removes = [];
    const { deployment, nowMs } = this;
    const now = toRfc3339(nowMs);
    const draft = new RolloutDraft({ deployment, owned: this.replicaSets, adopted: [], now, nowMs });
    const { namespaceAnnotations } = this.question;
    const { services } = this;
    const checks = { kind: 'given', passed: this.given } as const;
    const livePods = this.resizedPods();
    const { outcome, writes } = decideRollout(draft, {
      podsOf: () => [],
      livePods,
      rules: OWN_RULES,
      namespaceAnnotations,
      surroundings: { services },
      checks,
    });
    this.outcome = outcome;
    const { readsPodsOf } = outcome ?? {};
    if (readsPodsOf !== undefined && this.resizes === undefined) {
      this.resizes = readsPodsOf;
      return this.decide();
    }
    const plan = planPass(draft, [], writes);
    const actions = [
      ...plan.replicaSetWrites.flatMap(({ object, verb }) =>
        this.write(verb, writableCopy<ReplicaSet>(object)),
      ),
      ...plan.serviceWrites.map((write) => services.write(write)),
    ];
    const written = plan.status ?? plan.deployment;
    if (written) this.deployment = { ...deployment, ...written, spec: deployment.spec };
    return { actions, removes: this.removes };
  }

  /** Passes by what the policies wait for: the time, an approval, or a check. Undefined where they wait for neither. */
  waitOut(): string | undefined {
    const { givenCheck, isWaiting, recheckAfterMs, standing } = this.outcome ?? {};
    if (givenCheck !== undefined && standing && !this.given.has(givenCheck)) {
      this.given.add(givenCheck);
      return standing.sentence;
    }
    if (!isWaiting || !standing) return undefined;
    if (standing.code === 'waits-for-approval') {
      const annotations = { ...this.deployment.metadata.annotations, [APPROVE]: 'the plan' };
      this.deployment = { ...this.deployment, metadata: { ...this.deployment.metadata, annotations } };
    } else if (TAKEN_FOR_GIVEN.has(standing.code)) {
      // Taken for given: the live Deployment said so, and the plan has neither budgets nor other rollouts.
      const conditions = this.deployment.status?.conditions?.filter(({ type }) => type !== 'Progressing');
      this.deployment = { ...this.deployment, status: { ...this.deployment.status, conditions } };
    } else if (standing.code === 'resizes-pods') {
      this.isResized = true;
    } else if (recheckAfterMs !== undefined) {
      this.nowMs += recheckAfterMs;
    } else {
      return undefined;
    }
    return standing.sentence;
  }

  /** The ReplicaSet controller and the kubelets catch up, all at once or one pod each time. */
  letPodsMove(): boolean {
    let moved = false;
    for (const set of this.replicaSets) {
      const size = set.spec.replicas ?? 1;
      const before = Math.min(set.status?.availableReplicas ?? 0, size);
      const starts = Math.min(size - before, this.question.pods === 'one-by-one' ? 1 : size);
      const available = moved && this.question.pods === 'one-by-one' ? before : before + starts;
      if (available === set.status?.availableReplicas && set.status.replicas === size) continue;
      moved = true;
      this.pods.grow(set, available, this.nowMs);
      set.status = statusOf(set, size, available);
    }
    return moved;
  }

  counts(): Omit<PlannedStep, 'step' | 'actions' | 'removes'> {
    const replicas = replicasOf(this.deployment.spec);
    const sizes = this.replicaSets.map((set) => set.spec.replicas ?? 1);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const available = this.replicaSets.reduce(
      (sum, { spec, status }) => sum + Math.min(spec.replicas ?? 1, status?.availableReplicas ?? 0),
      0,
    );
    const newSize = this.latest()?.spec.replicas ?? 0;
    return {
      newSize,
      oldSize: total - newSize,
      total,
      over: Math.max(0, total - replicas),
      available,
      under: Math.max(0, replicas - available),
    };
  }

  isComplete(): boolean {
    const replicas = replicasOf(this.deployment.spec);
    const { available, newSize, oldSize } = this.counts();
    return oldSize === 0 && newSize === replicas && available === replicas;
  }

  /** As they are before a resize, and after it. */
  private resizedPods(): LivePods | undefined {
    const set = this.replicaSets.find(({ metadata }) => metadata.name === this.resizes);
    if (!set) return undefined;
    const { template } = this.isResized ? this.deployment.spec : set.spec;
    const status = { phase: 'Running' as const, conditions: [{ type: 'Ready', status: 'True' }] };
    const metadata = { name: 'resized', namespace: set.metadata.namespace };
    const pod: DeepReadonly<Pod> = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { containers: [], ...template?.spec },
      status,
    };
    return { of: set.metadata.name, pods: Array.from({ length: set.spec.replicas ?? 1 }, () => pod) };
  }

  private latest(): ReplicaSet | undefined {
    const { template } = this.deployment.spec;
    return this.replicaSets.find((set) => equalIgnoringHash(set.spec.template ?? {}, template));
  }

  private write(verb: ReplicaSetWrite['verb'], object: ReplicaSet): string[] {
    const { name } = object.metadata;
    const size = object.spec.replicas ?? 1;
    const index = this.replicaSets.findIndex(({ metadata }) => metadata.name === name);
    if (verb === 'delete') {
      this.replicaSets.splice(index, 1);
      return [`delete ${name}, beyond revisionHistoryLimit`];
    }
    if (verb === 'create') {
      const metadata = { ...object.metadata, uid: `uid-of-${name}`, generation: 1 };
      const created = {
        ...object,
        metadata: { ...metadata, creationTimestamp: toRfc3339(this.question.nowMs) },
      };
      this.replicaSets.push({ ...created, status: statusOf(created, 0, 0) });
      return [`create ${name} with ${size}`];
    }
    const before = this.replicaSets[index];
    if (!before) return [];
    // Its controller has seen every size by the next pass.
    const status = statusOf(
      object,
      before.status?.replicas ?? 0,
      Math.min(size, before.status?.availableReplicas ?? 0),
    );
    const { replicas } = object.spec;
    const written = verb === 'resize' ? { ...before, spec: { ...before.spec, replicas } } : object;
    this.replicaSets[index] = { ...written, status };
    const sizeBefore = before.spec.replicas ?? 1;
    if (sizeBefore === size) return [];
    const victims = this.pods.shrink(object, size, this.nowMs);
    this.removes.push(...victims);
    return [`scale ${name} from ${sizeBefore} to ${size}${renderVictims(victims)}`];
  }
}

function statusOf({ metadata }: ReplicaSet, replicas: number, available: number): ReplicaSet['status'] {
  return {
    replicas,
    readyReplicas: available,
    availableReplicas: available,
    fullyLabeledReplicas: replicas,
    observedGeneration: metadata.generation ?? 0,
  };
}
