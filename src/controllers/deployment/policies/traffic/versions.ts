import { isPodServing } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf, isObserved, lastingAvailable } from '../../kubernetes/replica-set-draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import { hashOfSet, steadiest } from '../blue-green/blue-green-plan.js';
import { hashSelectedBy, lastSwitchOf, type SelectingService } from '../blue-green/selecting-services.js';
import type { Pass } from '../common/pass.js';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { isGood } from '../common/revisions.js';
import type { ReadyEndpoints } from './endpoints.js';
import type { Version, Which } from './traffic-plan.js';
import type { Steering } from './traffic-trouble.js';
import { weightNoteOf } from './weight-note.js';

/** A version and its ReplicaSet. */
export interface SetVersion extends Version {
  readonly set: ReplicaSetDraft;
}

/** The versions of a Deployment by their part in the traffic. */
export interface Versions {
  readonly stable?: SetVersion;
  readonly canary?: SetVersion;
  readonly wanted?: SetVersion;
  /** The version that the stable Service should select, while it selects none alone. */
  readonly claims?: SetVersion;
}

type VersionsPass = Pick<Pass, 'draft' | 'podsOf'>;

/** @param latest the ReplicaSet of the template that the syncs are played for */
export function versionsOf(pass: VersionsPass, { names, services }: Steering): Versions {
  const { draft } = pass;
  const { namespace = '' } = draft.observed.metadata;
  const versions = new Map(draft.living.map((set) => [set, versionOf(pass, set)] as const));
  const withPods = activeOf(draft.living).filter(({ observed }) => observed !== undefined);
  const selected = (name: string): SetVersion | undefined => {
    const service = services.find(namespace, name);
    const hash = service && hashSelectedBy(service);
    const set = hash === undefined ? undefined : withPods.find((each) => hashOfSet(each) === hash);
    return set && versions.get(set);
  };
  const latest = latestOf(draft, draft.living);
  const stable = selected(names.stable);
  const claimed = stable ? undefined : claimedBy(pass, services.find(namespace, names.stable), withPods);
  return {
    stable,
    canary: selected(names.canary),
    wanted: latest?.observed && versions.get(latest),
    claims: claimed && versions.get(claimed),
  };
}

function versionOf(pass: VersionsPass, set: ReplicaSetDraft): SetVersion {
  const note = weightNoteOf(set);
  return { set, serves: serves(pass, set), ...(note && { note }) };
}

/**
 * The pods decide, not the status of their ReplicaSet: that follows later when a pod is evicted or becomes unready, and it counts
 * none directly after a resize, although the pods serve.
 */
function serves({ podsOf }: VersionsPass, set: ReplicaSetDraft): boolean {
  return set.replicas > 0 && podsOf(set).some(isPodServing);
}

/** The version that a Service takes which selects all of them, or one that has no pods. */
function claimedBy(
  pass: VersionsPass,
  service: DeepReadonly<SelectingService> | undefined,
  withPods: readonly ReplicaSetDraft[],
): ReplicaSetDraft | undefined {
  const { draft } = pass;
  const serving = withPods.filter((set) => serves(pass, set));
  const selected = service && hashSelectedBy(service);
  // Another hand has let it go: the rollout continues where it was.
  const noted = service && serving.find((set) => hashOfSet(set) === lastSwitchOf(service)?.to);
  if (selected === undefined && noted) return noted;
  const best = steadiest(serving);
  if (!best) return undefined;
  const isWhole = lastingAvailable(best, OWN_RULES) >= draft.replicas;
  if (selected !== undefined || withPods.length === 1 || isWhole || isGood(best)) return best;
  // The steps wait for a share, and a share for a version: where nothing else is to come, the one that serves is enough.
  return withPods.every(hasAllItAsksFor) ? best : undefined;
}

function hasAllItAsksFor(set: ReplicaSetDraft): boolean {
  return isObserved(set) && lastingAvailable(set, OWN_RULES) >= set.replicas;
}

/** Whether a Service has endpoints, all of them pods of the version that it selects. */
export function endpointsOf(
  { podsOf }: VersionsPass,
  { names }: Steering,
  { endpoints, versions }: { readonly endpoints: ReadyEndpoints | undefined; readonly versions: Versions },
): (which: Which) => 'ready' | 'none' | 'unread' {
  return (which) => {
    const ready = endpoints?.get(names[which]);
    const version = versions[which];
    if (!ready || !version) return 'unread';
    const pods = new Set(podsOf(version.set).map(({ metadata }) => metadata.name));
    return ready.size > 0 && [...ready].every((name) => pods.has(name)) ? 'ready' : 'none';
  };
}

/** Whether a rollout may give the version this share now: it has the pods that its steps ask for. */
export function isWholeFor(draft: RolloutDraft, { set }: SetVersion, percent: number): boolean {
  const size = percent === 100 ? draft.replicas : draft.newSize;
  return set.replicas >= size && lastingAvailable(set, OWN_RULES) >= Math.max(1, size);
}
