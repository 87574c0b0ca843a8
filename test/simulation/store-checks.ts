import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import type { StoredChange } from '../../src/testing/simulation/index.js';
import type { HistoryEvent, RecordedKind } from '../chaos/history.js';
import { AdmissionChecker } from '../chaos/checkers/admission.js';
import { DecisionJudge } from '../chaos/checkers/decided-sizes.js';
import type { DrainingKnowledge } from '../chaos/checkers/draining.js';
import { DrainingChecker } from '../chaos/checkers/draining.js';
import { ExperimentsChecker } from '../chaos/checkers/experiments.js';
import { leftInRoute, servicesLedBy } from '../chaos/checkers/led-route.js';
import { PodNamesChecker } from '../chaos/checkers/pod-names.js';
import { PodsOfReplicaSetChecker } from '../chaos/checkers/pods-of-replicaset.js';
import { PoliciesChecker } from '../chaos/checkers/policies.js';
import { unrestOf } from '../chaos/checkers/rest.js';
import { StoreReplay } from '../chaos/checkers/store-replay.js';
import { TrafficChecker } from '../chaos/checkers/traffic.js';
import type { Violation } from '../chaos/checkers/violation.js';
import { meshIn } from '../chaos/mesh.js';

const KINDS: Readonly<Record<string, RecordedKind>> = {
  'deployments.apps': 'Deployment',
  'replicasets.apps': 'ReplicaSet',
  pods: 'Pod',
  services: 'Service',
  'endpointslices.discovery.k8s.io': 'EndpointSlice',
  'httproutes.gateway.networking.k8s.io': 'HTTPRoute',
};
const MESHES = 'mutatingwebhookconfigurations.admissionregistration.k8s.io';
/** A watch may be held for so long, and a replica paused. */
const KNOWLEDGE_MS = 120_000;
/** Wall clocks are wrong by up to five seconds, milliseconds. */
const CLOCKS_DIFFER_MS = 11_000;

/** A drain may begin and end by different clocks, which also run at different speeds through all the time of a run. */
const CLOCKS_OF_PODS_DIFFER_MS = 25_000;

/** Judges every change of the store, at its revision, by the rules that the chaos run has as well. */
export class StoreChecks {
  readonly replay = new StoreReplay();
  checks = 0;
  private readonly pods = new PodsOfReplicaSetChecker(this.replay);
  private readonly names = new PodNamesChecker();
  private readonly policies = new PoliciesChecker(this.replay);
  private readonly experiments = new ExperimentsChecker(this.replay);
  private readonly traffic = new TrafficChecker(this.replay, {
    ...{ lagMs: KNOWLEDGE_MS, clocksDifferMs: CLOCKS_DIFFER_MS },
  });
  private readonly draining: DrainingChecker;
  private readonly admission = new AdmissionChecker(this.replay);
  private readonly judges = new Map<string, DecisionJudge>();

  /** @param pods the truth about pods. @default none drains */
  constructor(
    private readonly found: (violation: Violation) => void,
    pods: DrainingKnowledge = { isEmpty: () => false },
  ) {
    this.draining = new DrainingChecker(this.replay, { clocksDifferMs: CLOCKS_OF_PODS_DIFFER_MS, ...pods });
  }

  /** Whether pods drain. */
  get keepsPods(): boolean {
    return this.draining.size > 0;
  }

  see({ deleted, object, resource, revision }: StoredChange, nowMs: number): void {
    const mesh = resource === MESHES && !deleted ? meshIn(object) : undefined;
    if (mesh) this.admission.know(mesh, nowMs);
    const kind = KINDS[resource];
    if (!kind) return;
    const event: HistoryEvent = { kind, deleted, resourceVersion: String(revision), seenAtMs: nowMs, object };
    const found = [
      ...this.policies.check(event),
      ...this.experiments.check(event),
      ...this.draining.check(event),
      ...this.admission.check(event),
    ];
    this.replay.apply(event);
    found.push(...this.traffic.check(event));
    found.push(...this.pods.check(event), ...this.names.check(event), ...this.sizes(event));
    this.checks += 4;
    for (const each of found) this.found(each);
  }

  /** The signs in the store of work that is still to be done. */
  unrest(): string[] {
    const { deployments, pods, replicaSets } = this.replay;
    const left = [...this.traffic.routes].flatMap(
      ([name, route]) => leftInRoute(route, servicesLedBy(name)) ?? [],
    );
    const unrest = unrestOf({
      deployments: [...deployments.values()],
      replicaSets: [...replicaSets.values()],
      // One that has failed stays until it is collected.
      pods: [...pods.values()].filter(({ status }) => status?.phase !== 'Failed'),
    });
    return [...unrest, ...left, ...this.draining.unrest(), ...this.admission.unrest()];
  }

  /** Whether the key of a controller comes back late enough: of a deleted object, or one whose next restart is not due for a day. */
  readonly mayWait = (controller: string, key: string): boolean =>
    this.isOfDeleted(controller, key) || (controller === 'deployment' && this.admission.isBarred(key));

  /** Whether the key of a controller names an object that no longer exists. */
  readonly isOfDeleted = (controller: string, key: string): boolean => {
    const { deployments, pods, replicaSets } = this.replay;
    // The garbage collector's keys have a resource in front.
    const [name = '', kind = controller] = key.split('|').toReversed();
    const objects = new Map<string, ReadonlyMap<string, KubernetesObject>>([
      ['deployment', deployments],
      ['deployments.apps', deployments],
      ['replicaset', replicaSets],
      ['replicasets.apps', replicaSets],
      ['pods', pods],
      ['session-drain', pods],
      ['admission-drift', deployments],
    ]).get(kind);
    if (!objects) return false;
    return ![...objects.values()].some(({ metadata }) => `${metadata.namespace}/${metadata.name}` === name);
  };

  private sizes(event: HistoryEvent): Violation[] {
    const deployment = this.replay.deploymentOf(event);
    const uid = deployment?.metadata.uid ?? '';
    if (!deployment || deployment.metadata.deletionTimestamp) {
      if (event.kind === 'Deployment') this.judges.delete(event.object.metadata.uid ?? '');
      return [];
    }
    const judge = this.judges.get(uid) ?? new DecisionJudge(this.replay, KNOWLEDGE_MS);
    this.judges.set(uid, judge);
    const at = `(revision ${event.resourceVersion})`;
    return judge.problemsOf(event, deployment).map((problem) => ({
      ...{ check: 'limits', subject: deployment.metadata.name, problem: `${problem} ${at}` },
    }));
  }
}
